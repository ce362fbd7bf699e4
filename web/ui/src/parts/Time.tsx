// Times are shown in the zone of the browser; the exact moment in UTC is there on hover.
import { pageNow, useNow } from "../clock";

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const both = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** local writes a moment as the browser's people do; today without the day. */
export function local(at: string | number | Date): string {
  const d = new Date(at);
  if (Number.isNaN(d.getTime())) return "";
  return day.format(d) === day.format(pageNow()) ? clock.format(d) : both.format(d);
}

const moment = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** localTimes writes the moments in a sentence of the service in the zone of the browser. */
export const localTimes = (text: string) => text.replaceAll(moment, (t) => local(t));

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** ago says how long something has been so, in its largest unit. */
export function ago(at: string | number | Date, now = pageNow()): string {
  const s = Math.max(0, Math.round((now - new Date(at).getTime()) / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function Time({ at, empty = "–" }: { at?: string; empty?: string }) {
  if (!at) return <>{empty}</>;
  return (
    <time dateTime={at} title={`${at} (UTC)`} className="number">
      {local(at)}
    </time>
  );
}

/** Age shows for how long, and grows as long as someone knows that it is still so. */
export function Age({ at }: { at?: string }) {
  const text = useNow((now) => (at ? ago(at, now) : ""));
  if (!at) return <>–</>;
  return (
    <time dateTime={at} title={`since ${local(at)}; ${at} (UTC)`} className="number">
      {text}
    </time>
  );
}
