// Does one thing with many items, in one call: each of them says its kind and its resource. The result for each item is shown
// for each.
import { type ActAnswer, type ActWish, ApiError, act } from "../../api";
import type { ActionItem } from "./item";
import { itemKey } from "./operations";

export interface Outcome {
  item: ActionItem;
  /** What the service says was done. */
  done?: ActAnswer["items"][number];
  /** Why it was not. */
  error?: string;
  /** It does not fit the item, so nothing was sent. */
  skipped?: string;
  /** A note that another user wrote at the same time. */
  collision?: string;
}

export interface Progress {
  done: number;
  of: number;
}

// As many as the service takes in a call.
const mostItems = 200_000;
const mostBytes = 30 << 20;
const tries = 4;

const named = (i: ActionItem) => ({
  name: i.name,
  kind: i.kind,
  ...(i.kind !== "resource" && i.resource && { resname: i.resource }),
});

/** calls parts the items into what one call can name, which is nearly always all of them. */
export function calls(items: ActionItem[]): ActionItem[][] {
  const all: ActionItem[][] = [];
  const bytes = new TextEncoder();
  let room = 0;
  for (const i of items) {
    const size = bytes.encode(JSON.stringify(named(i))).length + 1;
    const last = all.at(-1);
    if (last && last.length < mostItems && size <= room) last.push(i);
    else {
      all.push([i]);
      room = mostBytes;
    }
    room -= size;
  }
  return all;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** ask makes a call, and makes it again when the service has too much to do at the moment. */
async function ask(items: ActionItem[], body: ActWish, signal: AbortSignal): Promise<ActAnswer> {
  for (let n = 1; ; n++) {
    try {
      return await act({ ...body, items: items.map(named) });
    } catch (e) {
      const busy = e instanceof ApiError && (e.status === 429 || e.status === 503);
      if (!busy || n === tries || signal.aborted) throw e;
      await pause(1000 * (e.retryAfter ?? n));
    }
  }
}

/** outcomes reads an answer, or the report in the body of an error. */
function outcomes(items: ActionItem[], answer: ActAnswer): Outcome[] {
  const done = new Map(answer.items.map((i) => [itemKey(i), i]));
  const errors = new Map(answer.errors.map((e) => [itemKey({ kind: "object", ...e }), e.message]));
  return items.map((item) => {
    const key = itemKey(item);
    return {
      item,
      done: done.get(key),
      error: errors.get(key) ?? (done.has(key) ? undefined : "The service said nothing about it."),
    };
  });
}

function failed(items: ActionItem[], e: unknown): Outcome[] {
  const report = e instanceof ApiError ? (e.body as Partial<ActAnswer> | null) : null;
  if (report && typeof report === "object" && Array.isArray(report.errors) && Array.isArray(report.items))
    return outcomes(items, report as ActAnswer);
  const error = e instanceof Error ? e.message : String(e);
  return items.map((item) => ({ item, error }));
}

/** perform does it. Where one call is not enough, a stop leaves out the others, which is reported. */
export async function perform(
  items: ActionItem[],
  body: ActWish,
  signal: AbortSignal,
  onProgress: (p: Progress) => void,
): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for (const part of calls(items)) {
    const got = signal.aborted
      ? part.map((item) => ({ item, skipped: "Stopped before it." }))
      : await ask(part, body, signal).then(
          (a) => outcomes(part, a),
          (e) => failed(part, e),
        );
    for (const o of got) all.push(o);
    onProgress({ done: all.length, of: items.length });
  }
  return all;
}
