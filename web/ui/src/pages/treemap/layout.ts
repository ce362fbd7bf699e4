// From a group to rectangles: its content, what is in that and so on, and at the bottom a field for every status.
import type { Status } from "../../api";
import { statuses } from "../../parts/StatusIcon";
import { type Counts, type Group, shares } from "./places";
import { type Rect, squarify } from "./squarify";

/** Field is the area of the objects of one status, in a group that is not divided further. */
export interface Field extends Rect {
  status: Status;
  n: number;
  /** Where it is seen: titles and frames cover the rest. It may have to be drawn larger than it is. */
  room: Rect;
}

/** Box is a group of the first two levels. */
export interface Box extends Rect {
  group: Group;
  depth: number;
  /** There is room for its name above what is in it. */
  titled: boolean;
}

export interface Layout {
  /** Outer ones before those in them. */
  boxes: Box[];
  fields: Field[];
}

export const titleHeight = 20;

const named = 2; // levels whose names are shown
const deepest = 20;
const divided = 12; // pixels: what is smaller is not divided further
const most = 20_000; // parts of a group; the smallest are put together

const inner = (r: Rect, top: number, gap: number): Rect => ({
  x: r.x + gap,
  y: r.y + top,
  width: Math.max(0, r.width - 2 * gap),
  height: Math.max(0, r.height - top - gap),
});

/** fields divide a box by status, the worst first. */
export function fields(counts: Counts, into: Rect, room: Rect): Field[] {
  const there = statuses.filter((s) => counts[s]);
  const rects = squarify(
    there.map((s) => counts[s] ?? 0),
    into,
  );
  return there.map((status, i) => ({ status, n: counts[status] ?? 0, ...(rects[i] as Rect), room }));
}

/** layout divides a rectangle among all that a group has. Nothing is left out, however small it becomes. */
export function layout(g: Group, into: Rect): Layout {
  const out: Layout = { boxes: [], fields: [] };
  const lay = (parts: Group[], space: Rect, depth: number) => {
    const rects = squarify(
      parts.map((p) => p.total),
      space,
    );
    parts.forEach((part, i) => {
      const r = rects[i] as Rect;
      const titled = depth <= named && r.width >= 50 && r.height >= titleHeight + 14;
      const roomy = r.width >= divided && r.height >= divided;
      if (depth <= named) out.boxes.push({ ...r, group: part, depth, titled });
      const within = roomy ? inner(r, titled ? 1 + titleHeight : 1, 1) : r; // the frame, and the title inside it
      const below = roomy && depth < deepest ? shares(part, most) : [];
      if (below.length) lay(below, within, depth + 1);
      else for (const f of fields(part.counts, within, roomy ? within : space)) out.fields.push(f);
    });
  };
  const parts = shares(g, most);
  lay(parts.length ? parts : [g], into, 1);
  return out;
}
