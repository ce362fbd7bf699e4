// What exists of a package, to show row by row what would change. The service counts; this only says what the counts are made
// of, as far as it can be told from the export.
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
    if (!sheet) return null;
    const places = new Map(sheet.given.map((g, i) => [clean(g), i]));
    const at = new Map<string, number>();
    for (let i = 0; i < sheet.count; i++) {
      const cells = sheet.cells(i);
      at.set(key(pkg, cells[places.get("name") ?? 0], cells[places.get("resname") ?? -1]), i);
    }
    return new Existing(pkg, sheet, at, places);
  }

  effect(of: Sheet, i: number): Effect {
    const found = this.at.get(key(this.pkg, of.value(i, "name"), of.value(i, "resname")));
    if (found === undefined) return { kind: "new", was: [] };
    const now = this.sheet.cells(found);
    const given = of.cells(i);
    const was = of.columns.map((c, k) => (c === null ? undefined : this.changed(clean(c), given[k] ?? "", now)));
    return { kind: was.some((w) => w !== undefined) ? "changes" : "same", was };
  }

  /** changed is what a column is now, if a cell would change it. */
  private changed(column: string, given: string, now: string[]): string | undefined {
    const place = this.places.get(column);
    if (place === undefined || column === "name") return undefined;
    const is = now[place] ?? "";
    const q = this.pkg.columns.find((c) => c.name === column);
    if (given === "" && (keeps.has(column) || q?.default === undefined)) return undefined;
    const wanted = given === "" ? (q?.default ?? "") : given;
    if (wanted === is || (q?.secret && given === "***")) return undefined;
    return q?.secret ? "" : is;
  }
}

/** key tells items apart: those inside a resource by its name, too. */
export function key(pkg: Package, name = "", resource = ""): string {
  return pkg.kind === "object" || pkg.kind === "view" ? `${resource}\n${name}` : name;
}
