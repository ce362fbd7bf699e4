// Where the words of levels are in a chart. Each belongs beside its line, but no two may be on each other.
import { statusRank } from "../StatusIcon";
import type { Level } from "./line";

/** What a line of words takes, in pixels. */
export const wordHeight = 16;

export interface Mark extends Level {
  /** The middle of its words. */
  top: number;
}

/** marksOf gives the words their places: as near to their lines as there is room, in the order of the lines. `lineOf` is where a
 * value is. When there are more than there is room for, the mildest have none: their lines are drawn all the same. */
export function marksOf(levels: Level[], lineOf: (value: number) => number, top: number, height: number): Mark[] {
  const seen = new Set<string>();
  const inside = levels
    .map((l) => ({ ...l, top: lineOf(l.value) }))
    .filter((m) => m.top >= top && m.top <= top + height)
    .filter((m) => !seen.has(m.label) && seen.add(m.label))
    .sort((a, b) => statusRank(b.status) - statusRank(a.status))
    .slice(0, Math.max(0, Math.floor(height / wordHeight)))
    .sort((a, b) => a.top - b.top);
  const first = top + wordHeight / 2;
  const last = top + height - wordHeight / 2;
  // Down from the top as far as needed, then up again from the bottom.
  let free = first;
  for (const m of inside) {
    m.top = Math.max(m.top, free);
    free = m.top + wordHeight;
  }
  free = last;
  for (const m of inside.toReversed()) {
    m.top = Math.min(m.top, free);
    free = m.top - wordHeight;
  }
  return inside.map((m) => ({ ...m, top: Math.round(m.top) }));
}
