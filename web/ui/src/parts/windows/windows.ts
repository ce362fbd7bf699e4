// Maintenance windows: the order in which they are listed, and what is said of them.
import type { ExplainedWindow, Kind, ListedWindow } from "../../api";

/** OneWindow is what lists say of a window, of whichever answer it is. */
export interface OneWindow {
  /** Empty for the one without a name. */
  name: string;
  mode: string;
  open: boolean;
  from: string;
  to?: string;
  rule?: string;
  zone?: string;
  by?: string;
}

/** Whose says to which item a window belongs. */
export interface Whose {
  kind: Kind;
  name: string;
  resource?: string;
}

export const ofItem = (w: ExplainedWindow): OneWindow => ({
  name: w.name ?? "",
  mode: w.mode,
  open: w.open,
  from: w.from,
  to: w.to,
  rule: w.rrule,
  zone: w.timezone,
  by: w.by,
});

export const ofList = (w: ListedWindow): OneWindow => ({
  name: w.window ?? "",
  mode: w.mode,
  open: w.open,
  from: w.from,
  to: w.to,
  rule: w.rrule,
  zone: w.timezone,
  by: w.user,
});

/** byTime puts those that are open first, and then those that open next. */
export function byTime(a: OneWindow, b: OneWindow): number {
  if (a.open !== b.open) return a.open ? -1 : 1;
  return a.from < b.from ? -1 : a.from > b.from ? 1 : 0;
}

export const repeats = [
  { value: "", label: "Once" },
  { value: "FREQ=DAILY", label: "Every day" },
  { value: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", label: "From Monday to Friday" },
  { value: "FREQ=WEEKLY", label: "Every week on that day" },
  { value: "FREQ=MONTHLY", label: "Every month on that date" },
];

const days: Record<string, string> = {
  MO: "Monday",
  TU: "Tuesday",
  WE: "Wednesday",
  TH: "Thursday",
  FR: "Friday",
  SA: "Saturday",
  SU: "Sunday",
};

/** format writes a moment as people in a zone do; in that of the browser where there is none, or it does not know it. */
function format(at: string, timeZone: string | undefined, how: Intl.DateTimeFormatOptions, language?: string): string {
  try {
    return new Intl.DateTimeFormat(language, { ...how, timeZone }).format(new Date(at));
  } catch {
    return new Intl.DateTimeFormat(language, how).format(new Date(at));
  }
}

/** repeatOf says how a window recurs: in words where it is one of the usual ways, else by its rule. */
export function repeatOf({ rule = "", from, zone }: Pick<OneWindow, "rule" | "from" | "zone">): string {
  if (rule === "FREQ=WEEKLY") return `Every week on ${format(from, zone, { weekday: "long" }, "en")}`;
  if (rule === "FREQ=MONTHLY") return `Every month on day ${format(from, zone, { day: "numeric" }, "en")}`;
  const usual = repeats.find((r) => r.value === rule);
  if (usual) return usual.label;
  const named = /^FREQ=WEEKLY;BYDAY=([A-Z,]+)$/
    .exec(rule)?.[1]
    ?.split(",")
    .map((d) => days[d]);
  if (!named?.every(Boolean)) return rule;
  return `Every week on ${[named.slice(0, -1).join(", "), named.at(-1)].filter(Boolean).join(" and ")}`;
}

/** inItsZone is when a window is open by the clock of the zone in which it was planned, if that is not the browser's. */
export function inItsZone({ from, to, zone }: Pick<OneWindow, "from" | "to" | "zone">): string | undefined {
  const span = (zone?: string) =>
    [from, to ?? ""].map((at) => at && format(at, zone, { dateStyle: "medium", timeStyle: "short" })).join(" – ");
  return zone && span(zone) !== span() ? `${span(zone).trim()} in ${zone}` : undefined;
}

/**
 * noteOf is why an item is unmanaged, where it belongs to the window: an item has one note, whatever windows it has. It is that of the
 * windows that are open, and of one to come if there is no other.
 */
export function noteOf(w: ListedWindow, all: ListedWindow[]): string | undefined {
  if (!w.isunmanaged) return undefined;
  const others = all.some((o) => o !== w && o.isunmanaged && o.id.split(":")[0] === w.id.split(":")[0]);
  return w.open || !others ? w.unmanagenote : undefined;
}
