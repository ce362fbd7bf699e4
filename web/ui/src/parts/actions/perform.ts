// Does one thing with many items. A call names items of one kind in one resource, so there may be many calls; what became
// of each item is told for each.
import { type ActAnswer, type ActWish, ApiError, act, type Kind } from "../../api";
import type { ActionItem } from "./item";
import { itemKey } from "./operations";

export interface Outcome {
  item: ActionItem;
  /** What the service says was done. */
  done?: ActAnswer["items"][number];
  /** Why it was not. */
  error?: string;
  /** It does not fit the item, so nobody was asked. */
  skipped?: string;
}

export interface Progress {
  done: number;
  of: number;
}

interface Call {
  kind: Kind;
  resource?: string;
  items: ActionItem[];
}

// The service takes 200,000 names in a call; smaller ones show progress and leave room for others.
const perCall = 5000;
const atOnce = 4;
const tries = 4;

/** calls puts items together that one call can name. */
export function calls(items: ActionItem[]): Call[] {
  const by = new Map<string, Call>();
  const full: Call[] = [];
  for (const i of items) {
    const resource = i.kind === "resource" ? undefined : i.resource;
    const key = `${i.kind}\n${resource ?? ""}`;
    let c = by.get(key);
    if (!c) {
      c = { kind: i.kind, resource, items: [] };
      by.set(key, c);
    }
    c.items.push(i);
    if (c.items.length === perCall) {
      full.push(c);
      by.delete(key);
    }
  }
  return [...full, ...by.values()];
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** ask makes a call, and makes it again when the service has too much to do at the moment. */
async function ask(c: Call, body: ActWish, signal: AbortSignal): Promise<ActAnswer> {
  for (let n = 1; ; n++) {
    try {
      return await act(c.kind, { ...body, items: c.items.map((i) => i.name), resname: c.resource });
    } catch (e) {
      const busy = e instanceof ApiError && (e.status === 429 || e.status === 503);
      if (!busy || n === tries || signal.aborted) throw e;
      await pause(1000 * (e.retryAfter ?? n));
    }
  }
}

/** outcomes reads an answer, or the report that stands beside an error. */
function outcomes(c: Call, answer: ActAnswer): Outcome[] {
  const done = new Map(answer.items.map((i) => [i.name, i]));
  const errors = new Map(answer.errors.map((e) => [e.name, e.message]));
  return c.items.map((item) => ({
    item,
    done: done.get(item.name),
    error: errors.get(item.name) ?? (done.has(item.name) ? undefined : "The service said nothing about it."),
  }));
}

function failed(c: Call, e: unknown): Outcome[] {
  const report = e instanceof ApiError ? (e.body as Partial<ActAnswer> | null) : null;
  if (report && typeof report === "object" && Array.isArray(report.errors) && Array.isArray(report.items))
    return outcomes(c, report as ActAnswer);
  const error = e instanceof Error ? e.message : String(e);
  return c.items.map((item) => ({ item, error }));
}

/** perform does it, a few calls at a time. What a stop leaves out is told as such. */
export async function perform(
  items: ActionItem[],
  body: ActWish,
  signal: AbortSignal,
  onProgress: (p: Progress) => void,
): Promise<Outcome[]> {
  const waiting = calls(items);
  const all: Outcome[] = [];
  const work = async () => {
    for (let c = waiting.shift(); c; c = waiting.shift()) {
      if (signal.aborted) {
        all.push(...c.items.map((item) => ({ item, skipped: "Stopped before it." })));
        continue;
      }
      const call = c;
      const got = await ask(call, body, signal).then(
        (a) => outcomes(call, a),
        (e) => failed(call, e),
      );
      for (const o of got) all.push(o);
      onProgress({ done: all.length, of: items.length });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, work));
  const place = new Map(items.map((i, n) => [itemKey(i), n]));
  return all.sort((a, b) => (place.get(itemKey(a.item)) ?? 0) - (place.get(itemKey(b.item)) ?? 0));
}
