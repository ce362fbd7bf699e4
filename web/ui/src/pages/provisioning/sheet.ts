// A sheet is the rows someone wants to send: a text that is left as it was, and what has been changed in it since. Changing
// gives another sheet, and both share the text.
import { cells, cutAll, type Places, pause, row } from "./csv";

/** A piece of a sheet as it is sent. */
export interface Piece {
  csv: string;
  /** The rows of the sheet in it; those left out are missing. */
  rows: number[];
}

/** clean makes of a name in a header what the service makes of it. */
export const clean = (name: string) => name.trim().toLowerCase();

export class Sheet {
  private constructor(
    readonly source: string,
    private readonly text: string,
    private readonly places: Places | null,
    /** As they are in the file. */
    readonly given: readonly string[],
    /** As they are sent; null: left out. */
    readonly columns: readonly (string | null)[],
    /** Changed and added rows. */
    private readonly changes: ReadonlyMap<number, string>,
    /** Rows that are left out. */
    private readonly out: ReadonlySet<number>,
    /** Rows, also those left out. */
    readonly count: number,
  ) {}

  /** read makes a sheet of a text. Without a header it is null. */
  static async read(source: string, text: string, onProgress?: (done: number) => void, signal?: AbortSignal) {
    const places = await cutAll(text, onProgress, signal);
    if (places.count === 0) return null;
    const header = cells(text.slice(places.from[0], places.to[0]));
    return new Sheet(source, text, places, header, header, new Map(), new Set(), places.count - 1);
  }

  /** of makes a sheet of rows that are at hand. */
  static of(source: string, columns: string[], rows: string[][] = []): Sheet {
    const changes = new Map(rows.map((r, i) => [i, row(r)]));
    return new Sheet(source, "", null, columns, columns, changes, new Set(), rows.length);
  }

  /** Rows that will be sent. */
  get sent(): number {
    return this.count - this.out.size;
  }

  leftOut(i: number): boolean {
    return this.out.has(i);
  }

  changed(i: number): boolean {
    return this.places !== null && this.changes.has(i);
  }

  /** raw is a row as it is sent. */
  raw(i: number): string {
    return this.changes.get(i) ?? this.original(i);
  }

  private original(i: number): string {
    const { places } = this;
    return places && i + 1 < places.count ? this.text.slice(places.from[i + 1], places.to[i + 1]) : "";
  }

  /** line is the line of the file on which a row starts; for a row that was added, the one it will have. */
  line(i: number): number {
    return this.places && i + 1 < this.places.count ? (this.places.line[i + 1] ?? 0) : i + 2;
  }

  /** broken reports whether a row has too many or too few quotes. */
  broken(i: number): boolean {
    return !this.changes.has(i) && (this.places?.broken.has(i + 1) ?? false);
  }

  cells(i: number): string[] {
    return this.broken(i) ? [this.raw(i)] : cells(this.raw(i));
  }

  /** value is what a row says in a column. */
  value(i: number, column: string): string {
    const at = this.columns.findIndex((c) => c !== null && clean(c) === column);
    return at < 0 ? "" : (this.cells(i)[at] ?? "");
  }

  private with(n: {
    changes?: ReadonlyMap<number, string>;
    out?: ReadonlySet<number>;
    count?: number;
    given?: readonly string[];
    columns?: readonly (string | null)[];
  }): Sheet {
    const { source, text, places, given, columns, changes, out, count } = { ...this.fields(), ...n };
    return new Sheet(source, text, places, given, columns, changes, out, count);
  }

  private fields() {
    const { source, text, places, given, columns, changes, out, count } = this;
    return { source, text, places, given, columns, changes, out, count };
  }

  set(i: number, list: string[]): Sheet {
    return this.setRaw(i, row(list));
  }

  setRaw(i: number, text: string): Sheet {
    return this.with({ changes: new Map(this.changes).set(i, text) });
  }

  leaveOut(i: number): Sheet {
    return this.with({ out: new Set(this.out).add(i) });
  }

  leaveOutAll(rows: number[]): Sheet {
    return this.with({ out: new Set([...this.out, ...rows]) });
  }

  restore(i: number): Sheet {
    const out = new Set(this.out);
    out.delete(i);
    return this.with({ out });
  }

  /** add puts a row at the end, and new columns behind the others: rows may be shorter than the header. */
  add(values: Record<string, string>): Sheet {
    const has = (name: string) => this.columns.some((c) => c !== null && clean(c) === name);
    const more = Object.keys(values).filter((name) => values[name] !== "" && !has(name));
    const columns = [...this.columns, ...more];
    const list = columns.map((c) => (c === null ? "" : (values[clean(c)] ?? "")));
    return this.with({
      changes: new Map(this.changes).set(this.count, row(list)),
      count: this.count + 1,
      given: [...this.given, ...more],
      columns,
    });
  }

  /** rename gives a column another name, or leaves it out. */
  rename(at: number, name: string | null): Sheet {
    return this.with({ columns: this.columns.map((c, i) => (i === at ? name : c)) });
  }

  header(): string {
    return row(this.columns.filter((c) => c !== null));
  }

  /** piece makes a body of the rows from `from` up to `to`. */
  piece(from: number, to: number): Piece {
    const rows: number[] = [];
    const lines = [this.header()];
    const all = this.columns.every((c) => c !== null);
    for (let i = from; i < to; i++) {
      if (this.leftOut(i)) continue;
      rows.push(i);
      lines.push(all || this.broken(i) ? this.raw(i) : row(this.kept(this.cells(i))));
    }
    return { csv: `${lines.join("\n")}\n`, rows };
  }

  /** kept leaves out the cells of columns that are left out; those behind the header stay, to be refused by the service. */
  private kept(list: string[]): string[] {
    return list.filter((_, i) => this.columns[i] !== null);
  }

  /** body is the whole sheet, made without holding the page up. */
  async body(signal?: AbortSignal): Promise<{ csv: Blob; rows: (k: number) => number }> {
    const parts: string[] = [];
    let places: number[] | null = this.sent === this.count ? null : [];
    const step = 20_000;
    for (let from = 0; from < this.count || from === 0; from += step) {
      const p = this.piece(from, Math.min(from + step, this.count));
      parts.push(from === 0 ? p.csv : p.csv.slice(this.header().length + 1));
      if (places) places = places.concat(p.rows);
      await pause();
      signal?.throwIfAborted();
    }
    return { csv: new Blob(parts), rows: (k) => (places ? (places[k - 1] ?? 0) : k - 1) };
  }

  /** take is the rows named as their own file. */
  take(rows: Iterable<number>): string {
    const lines = [this.header()];
    for (const i of rows) {
      const p = this.piece(i, i + 1);
      lines.push(p.csv.slice(this.header().length + 1, -1));
    }
    return `${lines.join("\n")}\n`;
  }
}
