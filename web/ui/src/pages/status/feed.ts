// The rows of the list, as many as are in sight. The service filters, sorts and pages; here is what it answered for the
// places that someone looks at, kept up to date by the stream.
//
//	scrolling ─ look ─► which rows are missing ─► one question at a time ─► pages
//	stream ─── apply ─► rows that are here change in place ─► the order may be another: ask again, but not too often
import { type Answer, type Kind, type Status, type StatusRow, sql } from "../../api";
import { noteOld } from "../../client";
import type { StatusChange } from "../../live";
import { itemKey } from "../../parts/actions/operations";
import { changed } from "../../parts/change";
import { noteSummary } from "../../parts/summary";
import { type Filter, order, plain, where } from "./filter";

export type Row = Pick<
  StatusRow,
  | "id"
  | "name"
  | "kind"
  | "resource"
  | "view"
  | "parentview"
  | "class"
  | "status"
  | "info"
  | "since"
  | "lastdata"
  | "acknowledged"
  | "ack"
  | "ackby"
  | "isunmanaged"
  | "unmanageifred"
  | "unmanagefrom"
  | "unmanageto"
  | "unmanagenote"
  | "note"
>;

const fields =
  "id, name, kind, resource, view, parentview, class, status, info, since, lastdata, acknowledged, ack, ackby, isunmanaged, unmanageifred, unmanagefrom, unmanageto, unmanagenote, note";
const itemFields = "name, kind, resource, status, acknowledged, isunmanaged, unmanageifred, unmanagefrom, note";

const pageSize = 100;
const keptPages = 60; // some 6,000 rows; further ones are asked for again
const settle = 60; // ms that scrolling has to pause before rows are asked for
const calm = 2000; // ms between two questions about the same rows
export const mostRows = 300_000; // beyond, a browser cannot scroll exactly any more

const aborted = (e: unknown) => e instanceof DOMException && e.name === "AbortError";

export class Feed {
  total?: number;
  /** By status, whatever statuses are asked for: objects, or if those are not asked for, what is. */
  counts = new Map<Status, number>();
  /** How many of each kind are shown. */
  kinds = new Map<Kind, number>();
  error?: unknown;
  version = 0;

  private pages = new Map<number, Row[]>();
  private places = new Map<string, number>();
  private sight: [number, number] = [0, pageSize - 1];
  private asking?: { first: number; last: number; stop: AbortController };
  private since: StatusChange[] = []; // changes since the request was sent; the answer may not have them yet
  private timer?: ReturnType<typeof setTimeout>;
  private stale?: ReturnType<typeof setTimeout>;
  private asked = 0;
  private read = 0;
  private ended = false;
  private watchers = new Set<() => void>();

  constructor(readonly filter: Filter) {}

  readonly subscribe = (w: () => void) => {
    this.watchers.add(w);
    return () => this.watchers.delete(w);
  };
  readonly snapshot = () => this.version;

  private changed() {
    this.version++;
    for (const w of [...this.watchers]) w();
  }

  row(at: number): Row | undefined {
    return this.pages.get(Math.floor(at / pageSize))?.[at % pageSize];
  }

  /** placeOf finds the position of an item, if it is loaded. */
  placeOf(key: string): number | undefined {
    return this.places.get(key);
  }

  /** start asks for the first rows and counts all of them. */
  async start(): Promise<void> {
    await Promise.all([this.count(), this.load(0, 0)]);
  }

  end() {
    this.ended = true;
    clearTimeout(this.timer);
    clearTimeout(this.stale);
    this.asking?.stop.abort();
    noteOld("status");
  }

  /** look says which rows are in sight. */
  look(first: number, last: number) {
    this.sight = [first, last];
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fill(), settle);
  }

  private fill() {
    if (this.ended) return;
    const [a, b] = this.sight.map((n) => Math.floor(n / pageSize)) as [number, number];
    let first = a;
    let last = Math.min(b, Math.floor(Math.max(0, (this.total ?? 1) - 1) / pageSize));
    while (first <= last && this.pages.has(first)) first++;
    while (last >= first && this.pages.has(last)) last--;
    if (first > last) return;
    if (this.asking) {
      if (this.asking.last >= first && this.asking.first <= last) return; // some of it is on its way; the rest follows
      this.asking.stop.abort();
    }
    void this.load(first, last);
  }

  private async load(first: number, last: number, replace = false): Promise<void> {
    const asking = { first, last, stop: new AbortController() };
    this.asking = asking;
    this.since = [];
    this.asked = Date.now();
    try {
      const n = (last - first + 1) * pageSize;
      const q = `SELECT ${fields} FROM objectstatus${where(this.filter)}${order(this.filter)} LIMIT ${n} OFFSET ${first * pageSize}`;
      const got = await sql<Row>(q, { rows: n, signal: asking.stop.signal });
      if (this.ended || this.asking !== asking) return;
      this.take(first, last, got, replace);
    } catch (e) {
      if (aborted(e) || this.ended || this.asking !== asking) return;
      if (this.pages.size) {
        this.soon(); // what is shown is old, which is better than nothing
        noteOld("status", { since: this.read, error: e });
        return;
      }
      this.error = e;
      this.changed();
    } finally {
      if (this.asking === asking) this.asking = undefined;
    }
    if (!this.error) this.fill(); // the user may have scrolled on
  }

  private take(first: number, last: number, got: Answer<Row>, replace: boolean) {
    if (replace) this.pages.clear(); // what was elsewhere may be anywhere now
    for (let p = first; p <= last; p++)
      this.pages.set(p, got.rows.slice((p - first) * pageSize, (p - first + 1) * pageSize));
    for (const p of this.pages.keys()) {
      if (this.pages.size <= keptPages) break;
      if (p < first || p > last) this.pages.delete(p);
    }
    this.places.clear();
    for (const [p, rows] of this.pages)
      for (const [i, r] of rows.entries()) this.places.set(itemKey(r), p * pageSize + i);
    this.patch(this.since);
    if (this.since.length) this.soon(); // whether it is in the counts, no one knows
    this.error = undefined;
    this.read = Date.now();
    noteOld("status");
    this.changed();
  }

  private async count(): Promise<void> {
    const { status, kind } = this.filter;
    const q = `SELECT kind, status, COUNT(*) AS n FROM objectstatus${where(this.filter, false)} GROUP BY kind, status`;
    try {
      const { rows } = await sql<{ kind: Kind; status: Status; n: number }>(q, { rows: 20 });
      const counted = kind.includes("object") ? rows.filter((r) => r.kind === "object") : rows;
      this.counts = sums(counted, (r) => r.status);
      this.kinds = sums(
        rows.filter((r) => !status.length || status.includes(r.status)),
        (r) => r.kind,
      );
      this.total = [...this.kinds.values()].reduce((sum, n) => sum + n, 0);
      if (plain(this.filter)) noteSummary(this.counts);
    } catch (e) {
      if (this.total !== undefined) return; // the rows ask again
      this.error = e;
    }
    this.changed();
  }

  /** refresh asks again for what is in sight, and shows the old rows until then. */
  async refresh(): Promise<void> {
    clearTimeout(this.stale);
    this.stale = undefined;
    if (this.ended) return;
    if (this.asking) {
      this.soon();
      return;
    }
    const [a, b] = this.sight.map((n) => Math.floor(n / pageSize)) as [number, number];
    await Promise.all([this.count(), this.load(a, b, true)]);
  }

  /** soon asks again when it has been calm for long enough. */
  soon() {
    this.stale ??= setTimeout(() => void this.refresh(), Math.max(0, this.asked + calm - Date.now()));
  }

  /** apply applies the changes from the stream. */
  apply(changes: StatusChange[]) {
    if (this.asking) for (const c of changes) this.since.push(c);
    if (this.patch(changes)) this.changed();
    // Rows and counts are two answers: whether a change is in both, no one knows.
    if (changes.length) this.soon();
  }

  /** patch changes the rows that are here, and says whether there was one. */
  private patch(changes: StatusChange[]): boolean {
    let found = false;
    for (const c of changes) {
      const at = this.places.get(itemKey(c));
      const page = at === undefined ? undefined : this.pages.get(Math.floor(at / pageSize));
      const row = page?.[(at ?? 0) % pageSize];
      if (!page || !row || at === undefined) continue;
      page[at % pageSize] = changed(row, c);
      this.recount(row, c.status);
      found = true;
    }
    return found;
  }

  /** recount counts a row that has another status now. */
  private recount(was: Row, status: Status) {
    if (this.filter.kind.includes("object") && was.kind !== "object") return;
    const counts = new Map(this.counts); // others have been given the one before
    const add = (s: Status, n: number) => counts.set(s, Math.max(0, (counts.get(s) ?? 0) + n));
    add(was.status, -1);
    add(status, 1);
    this.counts = counts;
  }

  /** top loads the first rows. */
  async top(n: number): Promise<void> {
    const last = Math.floor((Math.min(this.total ?? 0, n) - 1) / pageSize);
    if (last > 0) await this.load(0, last);
  }

  /** items gives what is needed to act on a stretch of rows, also of those that are not here. */
  async items(first = 0, last = Number.POSITIVE_INFINITY): Promise<Row[]> {
    const step = 50_000;
    const all: Row[] = [];
    for (let at = first; at <= last; at += step) {
      const n = Math.min(step, last - at + 1);
      const q = `SELECT ${itemFields} FROM objectstatus${where(this.filter)}${order(this.filter)} LIMIT ${n} OFFSET ${at}`;
      const got = await sql<Row>(q, { rows: n });
      for (const r of got.rows) all.push(r);
      if (!got.more) break;
    }
    return all;
  }
}

function sums<K, R extends { n: number }>(rows: R[], by: (r: R) => K): Map<K, number> {
  const all = new Map<K, number>();
  for (const r of rows) all.set(by(r), (all.get(by(r)) ?? 0) + r.n);
  return all;
}
