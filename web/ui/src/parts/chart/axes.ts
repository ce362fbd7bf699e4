// What is at the axes. Times are those of the browser's zone, written as its people do.

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const precise = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const month = new Intl.DateTimeFormat(undefined, { month: "short" });
const year = new Intl.DateTimeFormat(undefined, { year: "numeric" });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** timeTicks writes the times of an axis; the day, or the year, is below where it begins. */
export function timeTicks(times: (number | null)[], step: number): string[] {
  const fine = step < 60 ? precise : step < 86400 ? clock : step < 28 * 86400 ? day : month;
  const coarse = step < 86400 ? day : year;
  let last = "";
  return times.map((t) => {
    if (t === null) return "";
    const d = new Date(t * 1000);
    const below = coarse.format(d);
    const text = below === last ? fine.format(d) : `${fine.format(d)}\n${below}`;
    last = below;
    return text;
  });
}

const longest = new Date(2026, 10, 28, 22, 58, 58);

/** labelWidth is how many pixels the labels of timeTicks need at most, in the font of charts. */
export const labelWidth = (step: number): number => {
  const formats = step < 60 ? [precise, day] : step < 86400 ? [clock, day] : [day, year];
  return Math.ceil(6.5 * Math.max(...formats.map((f) => f.format(longest).length)));
};

export const when = (seconds: number) => moment.format(seconds * 1000);

/**
 * reach is the range of values that is shown: a little more than there is, from zero where zero is not far, and with the levels
 * that are near. A percentage is always seen against its levels.
 */
export function reach(low: number | null, high: number | null, levels: number[], unit?: string): [number, number] {
  if (low === null || high === null)
    return levels.length ? around(Math.min(0, ...levels), Math.max(...levels)) : [0, 1];
  let [a, b] = [low, high];
  const size = Math.max(Math.abs(a), Math.abs(b));
  for (const v of levels) {
    if (unit !== "%" && Math.abs(v) > size * 3 + 1e-9) continue;
    a = Math.min(a, v);
    b = Math.max(b, v);
  }
  if (a > 0 && (a < b * 0.9 || a === b)) a = 0;
  return around(a, b);
}

function around(a: number, b: number): [number, number] {
  const room = (b - a) * 0.06 || Math.abs(b) * 0.1 || 1;
  return [a >= 0 && a - room < 0 ? Math.min(a, 0) : a - room, b + room];
}
