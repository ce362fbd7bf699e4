// Values over time, asked for in the query language: rows as they came over short spans, and in parts over long ones. Over
// more than two days the parts are whole hours or days, which the service answers from its summaries.
import { type ExplainedValue, type Explanation, quote, type StatusRow, sql } from "../../api";
import type { Level, Line } from "../../parts/chart/line";
import { condition, endsOf, type Range } from "../../parts/Range";

const minute = 60;
const hour = 3600;
const day = 86400;
const steps = [1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute];
const long = [hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 30 * day];

/** stepOf is the length of the parts of a span: not more than about 400 of them. */
export function stepOf(span: number): number {
  const fit = span > 2 * day ? long : [...steps, ...long];
  return fit.find((s) => span / s <= 400.5) ?? 30 * day;
}

/** bucket writes a length as TIMEBUCKET takes it. */
export function bucket(s: number): string {
  if (s % day === 0) return `${s / day}d`;
  if (s % hour === 0) return `${s / hour}h`;
  return s % minute === 0 ? `${s / minute}m` : `${s}s`;
}

export const whose = (row: StatusRow) => `resource = ${quote(row.resource ?? "")} AND object = ${quote(row.name)}`;

/** rawQuery asks for rows as they came. */
export function rawQuery(row: StatusRow, ns: number[], range: Range): string {
  return `SELECT timestamp, ${ns.map((n) => `i${n}`).join(", ")}\nFROM objectdata\nWHERE ${whose(row)} AND ${condition(range)}\nORDER BY timestamp DESC`;
}

/** partsQuery asks for the mean, the lowest and the highest value of each part. */
export function partsQuery(row: StatusRow, ns: number[], range: Range, step: number): string {
  const asked = ns.map((n) => `MEAN(i${n}) AS m${n}, MIN(i${n}) AS a${n}, MAX(i${n}) AS b${n}`).join(",\n       ");
  return `SELECT TIMEBUCKET(timestamp, '${bucket(step)}') AS t,\n       ${asked}\nFROM objectdata\nWHERE ${whose(row)} AND ${condition(range)}\nGROUP BY t`;
}

export interface Course {
  from: number;
  to: number;
  q: string;
  lines: Map<number, Line>;
}

/** Rows up to this many are drawn as they are. */
const mostRaw = 1500;
const rawSpan = 6 * hour;

const secondsOf = (t: unknown) => Date.parse(String(t)) / 1000;

type Cells = Record<string, unknown>;

const number = (v: unknown) => (typeof v === "number" ? v : null);

export async function course(
  row: StatusRow,
  values: ExplainedValue[],
  range: Range,
  signal: AbortSignal,
): Promise<Course> {
  const [from, to] = endsOf(range);
  const ns = values.map((v) => v.n);
  if (to - from <= rawSpan) {
    const q = rawQuery(row, ns, range);
    const answer = await sql<Cells>(q, { rows: mostRaw, signal });
    if (!answer.more) return { from, to, q, lines: linesOf(values, answer.rows.reverse(), "timestamp") };
  }
  const q = partsQuery(row, ns, range, stepOf(to - from));
  const answer = await sql<Cells>(q, { rows: 5000, signal });
  return { from, to, q, lines: linesOf(values, answer.rows, "t") };
}

/** linesOf makes a line of each indicator; of parts it has a band, too. */
function linesOf(values: ExplainedValue[], rows: Cells[], time: string): Map<number, Line> {
  const times = rows.map((r) => secondsOf(r[time]));
  const parts = time === "t";
  return new Map(
    values.map((v) => {
      const line: Line = { label: v.name, unit: v.unit, points: [] };
      if (parts) line.band = [];
      for (const [i, r] of rows.entries()) {
        const t = times[i] as number;
        const value = number(r[parts ? `m${v.n}` : `i${v.n}`]);
        if (value === null) continue;
        line.points.push([t, value]);
        const [a, b] = [number(r[`a${v.n}`]), number(r[`b${v.n}`])];
        if (a !== null && b !== null) line.band?.push([t, a, b]);
      }
      return [v.n, line];
    }),
  );
}

/** levelsOf are the thresholds of an indicator that compare with a number. */
export function levelsOf(v: ExplainedValue): Level[] {
  return v.thresholds.flatMap((t) => {
    const value = Number(t.when.replace(/^[<>=!\s]+/, ""));
    return Number.isFinite(value) ? [{ value, status: t.status, label: `${t.statusname} ${t.when}` }] : [];
  });
}

/** numbersOf and textsOf part the indicators by what they hold. */
export const isText = (v: ExplainedValue, types: Map<number, string | undefined>) =>
  typeof v.value === "string" || (v.value === undefined && types.get(v.n) === "string");

export const indicatorsOf = (why?: Explanation) => why?.indicators ?? [];

/** pace is how often a range that ends now is read again: often when little of it is shown. */
export const pace = (range: Range) =>
  range.span === undefined ? (false as const) : Math.min(15_000, Math.max(4_000, (range.span / 400) * 500));
