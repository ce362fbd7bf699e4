// Sending a sheet: first to try, then in earnest, in pieces. Each piece has its own key, so a piece that is sent again
// because its answer got lost is applied once.
import { ApiError, type BulkOptions, provisioning, type Report, unreached } from "../../api";
import type { Sheet } from "./sheet";

export type Task = "send" | "remove";

export interface Options {
  task: Task;
  pkg: string;
  atomic: boolean;
  recursive: boolean;
}

/** A wrong row; `at` is its place in the sheet. */
export interface Fault {
  at: number;
  column?: string;
  code: string;
  message: string;
}

export interface Result extends Omit<Report, "errors" | "errors_truncated"> {
  faults: Fault[];
  /** Rejected rows of which the service did not say which they are. */
  unnamed: number;
  /** It was tried in pieces. */
  inPieces?: boolean;
}

export const nothing: Result = {
  rows: 0,
  accepted: 0,
  rejected: 0,
  discarded: 0,
  created: { resources: 0, views: 0, objects: 0, elements: 0 },
  updated: 0,
  unchanged: 0,
  removed: 0,
  faults: [],
  unnamed: 0,
};

/** plus adds the report of a piece; `place` finds the row of the sheet for a row of the piece. */
export function plus(sum: Result, r: Report, place: (row: number) => number): Result {
  const faults = r.errors.map((e) => ({ at: place(e.row), column: e.column, code: e.code, message: e.message }));
  const named = new Set(faults.map((f) => f.at)).size;
  return {
    ...sum,
    rows: sum.rows + r.rows,
    accepted: sum.accepted + r.accepted,
    rejected: sum.rejected + r.rejected,
    discarded: sum.discarded + r.discarded,
    created: {
      resources: sum.created.resources + r.created.resources,
      views: sum.created.views + r.created.views,
      objects: sum.created.objects + r.created.objects,
      elements: sum.created.elements + r.created.elements,
    },
    updated: sum.updated + r.updated,
    unchanged: sum.unchanged + r.unchanged,
    removed: sum.removed + r.removed,
    faults: [...sum.faults, ...faults],
    unnamed: sum.unnamed + (r.errors_truncated ? Math.max(0, r.rejected - named) : 0),
  };
}

function post(o: Options, csv: string | Blob, more: BulkOptions): Promise<Report> {
  const options = { ...more, recursive: (o.task === "remove" && o.recursive) || undefined };
  return o.task === "send" ? provisioning.post(o.pkg, csv, options) : provisioning.remove(o.pkg, csv, options);
}

/** insist sends again when the service was busy or away for a moment. `waits` is called with the reason; a pause waits until it is through. */
async function insist(
  send: () => Promise<Report>,
  waits: (why: string) => void,
  ended: () => boolean,
): Promise<Report> {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (e) {
      const passing = e instanceof ApiError && (e.status === 0 || e.status === 429 || e.status >= 500);
      if (!passing || tries === 6 || ended()) throw e;
      const wait = e.retryAfter ?? Math.min(2 ** tries / 2, 8);
      waits(`${e.status === 0 ? unreached : e.message} Trying again in ${wait} s.`);
      await new Promise((go) => setTimeout(go, wait * 1000));
    }
  }
}

/** Rows of a piece. */
export const pieceSize = 5000;

/** dryRun asks what would happen. It goes in one body, since a row may need what an earlier one makes; in pieces if that is too large. */
export async function dryRun(
  sheet: Sheet,
  o: Options,
  signal: AbortSignal,
  onProgress: (done: number, waiting?: string) => void,
): Promise<Result> {
  const body = await sheet.body(signal);
  // Atomic would count every row as rejected for one that is wrong; what is asked here is which are.
  const options = { dryrun: true, signal };
  try {
    return plus(nothing, await post(o, body.csv, options), body.rows);
  } catch (e) {
    if (!(e instanceof ApiError && e.code === "body_too_large") || sheet.sent <= pieceSize) throw e;
  }
  let result: Result = { ...nothing, inPieces: true };
  for (let from = 0; from < sheet.count; from += pieceSize) {
    onProgress(from);
    const piece = sheet.piece(from, Math.min(from + pieceSize, sheet.count));
    if (!piece.rows.length) continue;
    const report = await insist(
      () => post(o, piece.csv, options),
      (why) => onProgress(from, why),
      () => signal.aborted,
    );
    result = plus(result, report, (k) => piece.rows[k - 1] ?? from);
  }
  return result;
}

/** checkHeader has the service look at the header alone. */
export async function checkHeader(sheet: Sheet, o: Options, signal: AbortSignal): Promise<string | null> {
  try {
    await post(o, `${sheet.header()}\n`, { dryrun: true, signal });
    return null;
  } catch (e) {
    if (e instanceof ApiError && (e.code === "bad_header" || e.code === "bad_csv")) return e.message;
    throw e;
  }
}

const unique = () =>
  [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");

/** sizeOf is how many rows go in a piece when they are applied: few where many are wrong, since a report names a hundred wrong rows at most. */
export function sizeOf(sheet: Sheet, o: Options, tried: Result): number {
  if (o.atomic) return Math.max(1, sheet.count);
  return tried.unnamed > 0 ? 100 : pieceSize;
}

export type State = "running" | "paused" | "failed" | "cancelled" | "done";

export interface Progress {
  state: State;
  /** Rows of the sheet that have been processed. */
  done: number;
  total: number;
  /** Milliseconds at work, pauses not counted. */
  spent: number;
  result: Result;
  failure?: unknown;
  /** What it waits for, when the service asked to wait. */
  waiting?: string;
}

/** Run applies a sheet, piece by piece. */
export class Run {
  private progress: Progress;
  private wanted: "go" | "pause" | "stop" = "go";
  private key = "";
  private readonly name = unique();
  private working = false;

  constructor(
    readonly sheet: Sheet,
    readonly options: Options,
    private readonly size: number,
    private readonly report: (p: Progress) => void,
  ) {
    this.progress = { state: "running", done: 0, total: sheet.count, spent: 0, result: nothing };
  }

  private set(p: Partial<Progress>) {
    this.progress = { ...this.progress, ...p };
    this.report(this.progress);
  }

  /** go starts, and continues after a pause or a failure; the piece that failed goes out under the key it had. */
  async go() {
    this.wanted = "go";
    if (this.working) return;
    this.working = true;
    this.set({ state: "running", failure: undefined });
    try {
      while (this.wanted === "go" && this.progress.done < this.sheet.count) await this.next();
      const finished = this.progress.done >= this.sheet.count;
      this.set({ state: finished ? "done" : this.stopping() ? "cancelled" : "paused", waiting: undefined });
    } catch (failure) {
      this.set({ state: this.stopping() ? "cancelled" : "failed", failure, waiting: undefined });
    } finally {
      this.working = false;
    }
  }

  private stopping() {
    return this.wanted === "stop";
  }

  pause() {
    this.wanted = "pause";
  }

  /** cancel stops after the piece that is under way: what was sent cannot be called back. */
  cancel() {
    this.wanted = "stop";
    if (!this.working) this.set({ state: "cancelled" });
  }

  private async next() {
    const from = this.progress.done;
    const to = Math.min(from + this.size, this.sheet.count);
    const piece = this.sheet.piece(from, to);
    const began = performance.now();
    let { result } = this.progress;
    if (piece.rows.length) {
      this.key = `interface-${this.name}-${from}`;
      const send = () => post(this.options, piece.csv, { atomic: this.options.atomic || undefined, key: this.key });
      const report = await insist(
        send,
        (waiting) => this.set({ waiting }),
        () => this.stopping(),
      );
      result = plus(result, report, (k) => piece.rows[k - 1] ?? from);
    }
    this.set({ done: to, result, spent: this.progress.spent + performance.now() - began, waiting: undefined });
  }
}

/** rejectedFile is the wrong rows as a file to correct, in their order. */
export function rejectedFile(sheet: Sheet, r: Result): string {
  return sheet.take([...new Set(r.faults.map((f) => f.at))].sort((a, b) => a - b));
}
