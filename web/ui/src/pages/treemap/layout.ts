// From a group to rectangles: what stands in it, what stands in that, and within each a field for every status.
import type { Status } from "../../api";
import { statuses } from "../../parts/StatusIcon";
import { type Counts, type Group, shares } from "./estate";
import { type Rect, squarify } from "./squarify";

export interface Field extends Rect {
  status: Status;
  n: number;
}

export interface Box extends Rect {
  group: Group;
  depth: number;
  /** There is room for its name above what is in it. */
  titled: boolean;
  /** Empty when boxes are drawn in it. */
  fields: Field[];
}

export const titleHeight = 20;

const inner = (r: Rect, top: number, gap: number): Rect => ({
  x: r.x + gap,
  y: r.y + top,
  width: Math.max(0, r.width - 2 * gap),
  height: Math.max(0, r.height - top - gap),
});

/** fields divide a box by status, the worst first. */
export function fields(counts: Counts, into: Rect): Field[] {
  const there = statuses.filter((s) => counts[s]);
  const rects = squarify(
    there.map((s) => counts[s] ?? 0),
    into,
  );
  return there.map((status, i) => ({ status, n: counts[status] ?? 0, ...(rects[i] as Rect) }));
}

/** layout gives the boxes of a group, outer ones before those in them. */
export function layout(g: Group, into: Rect, levels = 2): Box[] {
  const out: Box[] = [];
  const lay = (parts: Group[], space: Rect, depth: number) => {
    const rects = squarify(
      parts.map((p) => p.total),
      space,
    );
    parts.forEach((part, i) => {
      const r = rects[i] as Rect;
      if (r.width < 1 || r.height < 1) return;
      const titled = r.width >= 50 && r.height >= titleHeight + 14;
      const space = inner(r, titled ? titleHeight : 1, 1);
      const below = depth < levels && r.width > 40 && r.height > 40 ? shares(part) : [];
      const box: Box = { ...r, group: part, depth, titled, fields: below.length ? [] : fields(part.counts, space) };
      out.push(box);
      if (below.length) lay(below, space, depth + 1);
    });
  };
  const parts = shares(g);
  lay(parts.length ? parts : [g], into, 1);
  return out;
}
