// Lines with different times become columns over one time, as uPlot wants them. There, null is a gap, and undefined is
// a time at which another line has a value.
import type { Line } from "./line";

export type Column = (number | null | undefined)[];

export interface Aligned {
  times: number[];
  /** Of each line its values and, where it has a band, the lowest and the highest. */
  columns: Column[];
}

/** usual is the distance between two points that most have. */
export function usual(points: [number, number | null][]): number {
  const steps: number[] = [];
  for (let i = 1; i < points.length; i++) {
    const step = (points[i]?.[0] ?? 0) - (points[i - 1]?.[0] ?? 0);
    if (step > 0) steps.push(step);
  }
  steps.sort((a, b) => a - b);
  return steps[steps.length >> 1] ?? 0;
}

/**
 * withGaps puts a gap where nothing came for three times as long as usual: a straight line over a night without data would be
 * a lie.
 */
export function withGaps(points: [number, number | null][]): [number, number | null][] {
  const most = usual(points) * 3;
  if (!most) return points;
  const out: [number, number | null][] = [];
  for (const p of points) {
    const last = out[out.length - 1];
    if (last && p[0] - last[0] > most) out.push([last[0] + most / 3, null]);
    out.push(p);
  }
  return out;
}

export function align(lines: Line[]): Aligned {
  const gapped = lines.map((l) => withGaps(l.points));
  const times = [...new Set(gapped.flatMap((points) => points.map((p) => p[0])))].sort((a, b) => a - b);
  const at = new Map(times.map((t, i) => [t, i]));
  const empty = (): Column => new Array(times.length).fill(undefined);
  const columns: Column[] = [];
  for (const [i, line] of lines.entries()) {
    const values = empty();
    for (const [t, v] of gapped[i] ?? []) values[at.get(t) ?? 0] = v;
    columns.push(values);
    if (!line.band) continue;
    const [low, high] = [empty(), empty()];
    for (const [t, v] of gapped[i] ?? []) if (v === null) low[at.get(t) ?? 0] = high[at.get(t) ?? 0] = null;
    for (const [t, a, b] of line.band) {
      const k = at.get(t);
      if (k === undefined) continue;
      low[k] = a;
      high[k] = b;
    }
    columns.push(low, high);
  }
  return { times, columns };
}

/** lonely finds values with a gap on either side: without a point they would not be seen. */
export function lonely(column: Column): number[] {
  const out: number[] = [];
  let before: number | null = null; // the last thing that was there
  let at = -1;
  let alone = false;
  for (let i = 0; i < column.length; i++) {
    const v = column[i];
    if (v === undefined) continue;
    if (v === null) {
      if (alone) out.push(at);
      alone = false;
    } else {
      alone = before === null;
      at = i;
    }
    before = v;
  }
  if (alone) out.push(at);
  return out;
}
