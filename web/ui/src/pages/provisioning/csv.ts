// Reading and writing CSV as the service does it, so that a row counted here is the row the service speaks of: RFC 4180,
// with blank lines skipped, and a stray quote costing the line on which its field begins (docs/decisions/010 and 011).
//
// A file of 50 MB must not stop the page, so it is first cut into rows, a slice at a time, and only the rows that are looked
// at are cut into cells.

/** Where rows are: offsets into the text, and the physical line of each, counted from 1. */
export class Places {
  from = new Uint32Array(1024);
  to = new Uint32Array(1024);
  line = new Uint32Array(1024);
  count = 0;
  /** Rows that cannot be cut into cells. */
  readonly broken = new Set<number>();

  add(from: number, to: number, line: number, broken: boolean) {
    if (this.count === this.from.length) this.grow();
    this.from[this.count] = from;
    this.to[this.count] = to;
    this.line[this.count] = line;
    if (broken) this.broken.add(this.count);
    this.count++;
  }

  private grow() {
    for (const field of ["from", "to", "line"] as const) {
      const more = new Uint32Array(this[field].length * 2);
      more.set(this[field]);
      this[field] = more;
    }
  }
}

const bom = "\ufeff";
/** A quoted field that runs on longer than a row may be is taken for one that was never closed. */
const longest = 1 << 20;

/** Cutter cuts a text into rows, as many at a time as requested. */
export class Cutter {
  readonly places = new Places();
  private at: number;
  private line = 1;
  private quote = -2; // the next quote at or behind `at`; -1: none, -2: not looked for

  constructor(private readonly text: string) {
    this.at = text.startsWith(bom) ? 1 : 0;
  }

  /** The part that has been read, from 0 to 1. */
  get done(): number {
    return this.text.length ? this.at / this.text.length : 1;
  }

  /** cut reads on to at least `until`, and reports whether there is more. */
  cut(until: number): boolean {
    const { text, places } = this;
    while (this.at < text.length && this.at < until) {
      const start = this.at;
      const first = this.lineEnd(start);
      if (this.quote !== -1 && this.quote < start) this.quote = text.indexOf('"', start);
      if (this.quote === -1 || this.quote >= first.end) {
        if (!isBlank(text, start, first.end)) places.add(start, first.end, this.line, false);
        this.at = first.next;
        this.line++;
        continue;
      }
      const row = this.quoted(start, first);
      places.add(start, row.end, this.line, row.broken);
      this.at = row.next;
      this.line += row.lines;
    }
    return this.at < text.length;
  }

  /** lineEnd finds where the line ends and where the next one begins. */
  private lineEnd(at: number): { end: number; next: number } {
    const i = this.text.indexOf("\n", at);
    const end = i < 0 ? this.text.length : i;
    const next = i < 0 ? end : i + 1;
    return { end: end > at && this.text.charCodeAt(end - 1) === 13 ? end - 1 : end, next };
  }

  private quoted(start: number, first: { end: number; next: number }) {
    const { text } = this;
    let { end, next } = first;
    let lines = 1;
    for (let pos = start; ; pos++) {
      if (pos < end && text[pos] === '"') {
        const closing = closingQuote(text, pos + 1, start + longest);
        if (closing < 0) return { end, next, lines, broken: true };
        const inside = lineFeeds(text, pos, closing);
        const last = inside ? this.lineEnd(closing + 1) : { end, next };
        if (closing + 1 < last.end && text[closing + 1] !== ",") return { end, next, lines, broken: true };
        ({ end, next } = last);
        lines += inside;
        pos = closing + 1;
      } else {
        const comma = text.indexOf(",", pos);
        const stop = comma < 0 || comma > end ? end : comma;
        if (text.slice(pos, stop).includes('"')) return { end, next, lines, broken: true };
        pos = stop;
      }
      if (pos >= end) return { end, next, lines, broken: false };
    }
  }
}

function closingQuote(text: string, from: number, limit: number): number {
  for (let at = from; ; ) {
    const i = text.indexOf('"', at);
    if (i < 0 || i >= limit) return -1;
    if (text[i + 1] !== '"') return i;
    at = i + 2;
  }
}

function lineFeeds(text: string, from: number, to: number): number {
  let n = 0;
  for (let i = text.indexOf("\n", from); i >= 0 && i < to; i = text.indexOf("\n", i + 1)) n++;
  return n;
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (text[i] !== " " && text[i] !== "\t") return false;
  return true;
}

/** cells cuts the text of one row. A broken row is one cell, unchanged. */
export function cells(row: string): string[] {
  if (!row.includes('"')) return row.split(",");
  const out: string[] = [];
  for (let pos = 0; ; pos++) {
    if (row[pos] === '"') {
      const closing = closingQuote(row, pos + 1, row.length);
      if (closing < 0 || (closing + 1 < row.length && row[closing + 1] !== ",")) return [row];
      out.push(row.slice(pos + 1, closing).replaceAll('""', '"'));
      pos = closing + 1;
    } else {
      const comma = row.indexOf(",", pos);
      const stop = comma < 0 ? row.length : comma;
      const cell = row.slice(pos, stop);
      if (cell.includes('"')) return [row];
      out.push(cell);
      pos = stop;
    }
    if (pos >= row.length) return out;
  }
}

const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** row writes cells as one row, without a line end. It is never blank: a blank line would not count as a row. */
export function row(list: string[]): string {
  const text = list.map(cell).join(",");
  return /^[ \t]*$/.test(text) ? `"${text}"` : text;
}

/** pause lets the page do what it has to do. */
export const pause = () => new Promise<void>((go) => setTimeout(go));

/** cutAll cuts a whole text without ever holding the page up for long. */
export async function cutAll(text: string, onProgress?: (done: number) => void, signal?: AbortSignal): Promise<Places> {
  const c = new Cutter(text);
  const slice = 1 << 20;
  for (let until = slice; c.cut(until); until += slice) {
    onProgress?.(c.done);
    await pause();
    signal?.throwIfAborted();
  }
  return c.places;
}
