// Rows that name what an earlier row names. The service applies rows in their order, so the last one counts; no one means that
// when a name was pasted twice, and no count of the report shows it.
import type { Package } from "../../api";
import { pause } from "./csv";
import { key } from "./existing";
import type { Sheet } from "./sheet";

export interface Duplicate {
  at: number;
  /** The first row that names it. */
  of: number;
  name: string;
  /** They say the same in every column that is sent. */
  same: boolean;
}

/** Longer sheets are not looked through: all names would have to be kept. */
export const mostCompared = 1_000_000;

/** duplicatesOf finds them, without holding the page up. Rows that are left out do not count. */
export async function duplicatesOf(sheet: Sheet, pkg: Package, signal?: AbortSignal): Promise<Duplicate[]> {
  const first = new Map<string, number>();
  const found: Duplicate[] = [];
  for (let i = 0; i < Math.min(sheet.count, mostCompared); i++) {
    if (i % 20_000 === 19_999) {
      await pause();
      signal?.throwIfAborted();
    }
    if (sheet.leftOut(i) || sheet.broken(i)) continue;
    const name = sheet.value(i, "name").trim();
    if (!name || name === "*") continue;
    const k = key(pkg, name, sheet.value(i, "resname").trim());
    const of = first.get(k);
    if (of === undefined) first.set(k, i);
    else found.push({ at: i, of, name, same: sentCells(sheet, i) === sentCells(sheet, of) });
  }
  return found;
}

function sentCells(sheet: Sheet, i: number): string {
  const cells = sheet.cells(i);
  return JSON.stringify(sheet.columns.map((c, k) => (c === null ? "" : (cells[k] ?? "").trim())));
}

/** repeats says of a row what it repeats. */
export const repeats = (sheet: Sheet, d: Duplicate) =>
  `Line ${sheet.line(d.at).toLocaleString()} names the same as line ${sheet.line(d.of).toLocaleString()}`;

/** More than this many before a row do not matter to what it does. */
const mostEarlier = 100;

/** earlierRows lists the rows before a row that name the same item. */
export function earlierRows(all: Duplicate[]): (at: number) => number[] {
  const first = new Map(all.map((d) => [d.at, d.of]));
  const groups = new Map<number, number[]>();
  for (const { at, of } of all) {
    const group = groups.get(of);
    if (group) group.push(at);
    else groups.set(of, [of, at]);
  }
  return (at) => (groups.get(first.get(at) ?? -1) ?? []).filter((row) => row < at).slice(-mostEarlier);
}
