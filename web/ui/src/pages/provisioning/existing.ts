// What exists of a package, to show row by row what would change. The service counts; this only says what the counts are made
// of, if the export shows it.
import { type Package, provisioning } from "../../api";
import { clean, Sheet } from "./sheet";

export interface Effect {
  kind: "new" | "changes" | "same";
  /** For each column that would change, what it is now. */
  was: (string | undefined)[];
}

/** More rows than this are counted, but not compared. */
export const comparable = 100_000;

/** Empty cells in these leave things where they are. */
const keeps = new Set(["view", "posx", "posy"]);

export class Existing {
  private constructor(
    private readonly pkg: Package,
    private readonly sheet: Sheet,
    private readonly at: ReadonlyMap<string, number>,
    private readonly places: ReadonlyMap<string, number>,
  ) {}

  static async read(pkg: Package, signal: AbortSignal): Promise<Existing | null> {
    const sheet = await Sheet.read(pkg.name, await provisioning.export(pkg.name, signal), undefined, signal);
    return sheet && Existing.of(pkg, sheet);
  }

  /** of takes the rows of an export. */
  static of(pkg: Package, sheet: Sheet): Existing {
    const places = new Map(sheet.given.map((g, i) => [clean(g), i]));
    const at = new Map<string, number>();
    for (let i = 0; i < sheet.count; i++) {
      const cells = sheet.cells(i);
      at.set(key(pkg, cells[places.get("name") ?? 0], cells[places.get("resname") ?? -1]), i);
    }
    return new Existing(pkg, sheet, at, places);
  }

  /** effect is what a row would do after the earlier rows that name the same. */
  effect(of: Sheet, i: number, earlier: number[] = []): Effect {
    const found = this.at.get(key(this.pkg, of.value(i, "name").trim(), of.value(i, "resname").trim()));
    let now = found === undefined ? undefined : this.sheet.cells(found);
    for (const row of earlier) now = this.after(of, row, now);
    if (now === undefined) return { kind: "new", was: [] };
    const is = now;
    const given = of.cells(i);
    const was = of.columns.map((c, k) => (c === null ? undefined : this.changed(clean(c), given[k] ?? "", is)));
    return { kind: was.some((w) => w !== undefined) ? "changes" : "same", was };
  }

  /** after is what an item has after a row; without one before, the row makes it. */
  private after(of: Sheet, row: number, before?: string[]): string[] {
    const now = [...(before ?? [])];
    const given = of.cells(row);
    for (const [k, c] of of.columns.entries()) {
      const place = c === null ? undefined : this.places.get(clean(c));
      if (c === null || place === undefined) continue;
      const wanted = this.wanted(clean(c), (given[k] ?? "").trim());
      if (wanted !== undefined) now[place] = wanted;
    }
    const view = this.places.get("view");
    if (!before && view !== undefined && !of.value(row, "resname").trim()) now[view] ||= "MAIN";
    return now;
  }

  /** wanted is what a cell asks for; an empty one may ask for nothing. */
  private wanted(column: string, given: string): string | undefined {
    const q = this.question(column);
    if (given !== "") return q?.secret && given === "***" ? undefined : given;
    return keeps.has(column) ? undefined : q?.default;
  }

  private question = (column: string) => this.pkg.columns.find((c) => c.name === column);

  /** changed is what a column is now, if a cell would change it. */
  private changed(column: string, given: string, now: string[]): string | undefined {
    const place = this.places.get(column);
    if (place === undefined || column === "name") return undefined;
    const is = now[place] ?? "";
    const wanted = this.wanted(column, given.trim());
    if (wanted === undefined || wanted === is) return undefined;
    return this.question(column)?.secret ? "" : is;
  }
}

/** key identifies an item: those inside a resource by its name, too. */
export function key(pkg: Package, name = "", resource = ""): string {
  return pkg.kind === "object" || pkg.kind === "view" ? `${resource}\n${name}` : name;
}
