// The rows that the reader of CSV finds in a text.
import { Cutter } from "../src/pages/provisioning/csv";

export interface Cut {
  line: number;
  text: string;
  broken: boolean;
}

/** cut reads a text in steps of a few characters, to meet every boundary. */
export function cut(text: string, step = 3): Cut[] {
  const c = new Cutter(text);
  for (let until = step; c.cut(until); until += step);
  const p = c.places;
  return Array.from({ length: p.count }, (_, i) => ({
    line: p.line[i] ?? 0,
    text: text.slice(p.from[i], p.to[i]),
    broken: p.broken.has(i),
  }));
}
