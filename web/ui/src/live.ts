// One connection for all that a tab wants to hear. It is opened when someone listens and closed when no one does. A tab that is
// not seen gives it back: over HTTP/1.1 a browser has six for all its tabs, and a seventh would wait for ever. Of those that are
// seen, some listen and the others read everything again now and then, see places.ts.
//
// The service says something every second. When it does not, it is asked whether it is there; if it is, the connection is made
// again, else it is lost: that is shown two to three seconds after the last sign of life, and the clock of the page stops there.
// docs/decisions/124-lost-connections.md says why.
import { useEffect, useRef, useSyncExternalStore } from "react";
import { ApiError, type EventRow, giveUpReading, isThere, type StatusRow, stream } from "./api";
import { readAnew, setReachable } from "./client";
import { stopClock } from "./clock";
import { placesOf } from "./places";
import { hear, type Message } from "./sse";

export interface StatusChange extends StatusRow {
  previous?: string;
}

export interface Listener {
  status?: (changes: StatusChange[]) => void;
  event?: (events: EventRow[]) => void;
  /** Something was missed: read again what is shown. Also called when the connection is back. */
  resync?: () => void;
}

/** Lost is a connection on which no changes arrive. */
export interface Lost {
  /** The last sign of life. */
  since: number;
  /** What the service says about it, if it answers at all. */
  why?: string;
  /** Other windows listen, and this one reads instead. */
  reads?: boolean;
}

const silence = 1400; // as long as a good connection says nothing at most, with some delay
const patience = 900; // that the service has to say that it is there
const grace = 2000; // since the last sign of life: a break that is over by then is not worth a word
const watch = 200;
const unseen = 3000; // that a tab may be hidden before its connection is closed
const slow = 30_000; // between two readings of everything, when changes do not arrive
const instead = 10_000; // the same in a window that only reads

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let running: AbortController | undefined;
let heard = Date.now(); // when the last sign of life came
let last = ""; // the id of the last message
let lost: Lost | undefined;
let telling: ReturnType<typeof setTimeout> | undefined;
let wake = () => {};
const places = placesOf(globalThis.window);

// Messages are handed on a few times a second, all at once: a thousand changes a second must not be a thousand renderings.
const pace = 250;
let changes: StatusChange[] = [];
let events: EventRow[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

function deliver() {
  timer = undefined;
  const [c, e] = [changes, events];
  changes = [];
  events = [];
  for (const l of [...listeners]) {
    if (c.length) l.status?.(c);
    if (e.length) l.event?.(e);
  }
}

function take(m: Message) {
  // What happened between what a page has read and the first connection is reported by no message.
  if (m.id && !last) resync();
  if (m.id) last = m.id;
  if (m.event === "status") changes.push(JSON.parse(m.data) as StatusChange);
  else if (m.event === "event") events.push(JSON.parse(m.data) as EventRow);
  else if (m.event === "resync") resync();
  else return;
  if (timer === undefined) timer = setTimeout(deliver, pace);
}

// After a break both this page and the service want everything read again; once is enough.
let resyncing = false;

function resync() {
  if (resyncing) return;
  resyncing = true;
  setTimeout(() => {
    resyncing = false;
    for (const l of [...listeners]) l.resync?.();
  }, 50);
}

function tell(now?: Lost) {
  if (now?.since === lost?.since && now?.why === lost?.why && now?.reads === lost?.reads) return;
  const away = now !== undefined && now.why === undefined && !now.reads;
  lost = now;
  stopClock(away ? now.since : undefined);
  setReachable(!away);
  if (away) giveUpReading();
  for (const w of [...watchers]) w();
}

/** alive notes a sign of life, which ends a break. */
function alive() {
  heard = Date.now();
  clearTimeout(telling);
  telling = undefined;
  if (!lost) return;
  tell();
  readAnew();
  resync();
}

/** broken notes that the connection is lost, which is shown unless it is soon back. */
function broken(why?: string) {
  clearTimeout(telling);
  const since = lost?.since ?? heard;
  telling = setTimeout(() => tell({ since, why }), Math.max(0, since + grace - Date.now()));
}

/** delay is how long to wait before another try: short at first, then longer, and never the same for all tabs. */
function delay(tries: number, e: unknown): number {
  const refused = e instanceof ApiError && (e.status === 429 || e.code === "silent");
  const most = refused ? 15_000 : 1000;
  return Math.min(most, 100 * 2 ** tries) * (0.75 + Math.random() / 2);
}

/** rest waits, but not when someone looks at the page again or the network is back. */
function rest(ms: number): Promise<void> {
  return new Promise((done) => {
    const t = setTimeout(done, ms);
    wake = () => {
      clearTimeout(t);
      done();
    };
  });
}

const hidden = () => globalThis.document?.hidden ?? false;

/** seen waits until someone looks at the page. */
async function seen(ended: AbortSignal) {
  if (!hidden()) return;
  while (hidden() && !ended.aborted) await rest(1000);
  if (!lost) heard = Date.now();
}

/** talk keeps one connection until it ends or the tab has been hidden for a while, and gives up one that has died. */
async function talk(ended: AbortSignal, begun: () => void): Promise<void> {
  const attempt = new AbortController();
  const end = () => attempt.abort();
  ended.addEventListener("abort", end);
  let sign = Date.now();
  let asking = false;
  let there: boolean | undefined;
  let looked = Date.now(); // when someone last saw the page
  const look = async () => {
    if (!hidden()) looked = Date.now();
    else if (Date.now() - looked >= unseen) attempt.abort();
    if (places && !places.keep()) attempt.abort();
    if (asking || Date.now() - sign < silence) return;
    asking = true;
    const answered = await isThere(patience);
    asking = false;
    if (Date.now() - sign < silence) return; // it was the page that was slow
    there = answered;
    attempt.abort();
  };
  const watching = setInterval(() => void look(), watch);
  try {
    const body = await stream(last, attempt.signal);
    await hear(body, take, () => {
      sign = Date.now();
      begun();
    });
  } catch (e) {
    throw there ? new ApiError(-1, "silent", "The service answers, but its changes do not arrive.", null) : e;
  } finally {
    clearInterval(watching);
    ended.removeEventListener("abort", end);
  }
}

let read = 0; // when everything was read again for want of changes

/** failed notes that a try did not succeed, and what the service said if it answered. */
function failed(answer?: ApiError) {
  broken(answer?.message);
  if (!answer || !lost || Date.now() - Math.max(read, lost.since) < slow) return;
  read = Date.now();
  readAnew();
  resync();
}

/** readInstead reads everything for want of a connection on which changes arrive, and reports whether the service is there. */
async function readInstead(): Promise<boolean> {
  const there = await isThere(patience);
  if (there) {
    heard = Date.now();
    tell({ since: heard, reads: true });
    readAnew();
    resync();
  } else if (Date.now() - heard >= grace) tell({ since: heard });
  return there;
}

/** placed waits until this window may listen, as long as it is seen. */
async function placed(ended: AbortSignal) {
  if (!places) return;
  for (let next = Date.now() + instead; !ended.aborted && !hidden() && !places.take(); await rest(watch)) {
    if (!lost) tell({ since: heard, reads: true });
    if (Date.now() >= next) next = Date.now() + ((await readInstead()) ? instead : watch);
  }
}

async function run(ended: AbortSignal): Promise<void> {
  let tries = 0;
  let silent = false;
  while (!ended.aborted) {
    await seen(ended);
    await placed(ended);
    if (ended.aborted) return;
    if (hidden()) continue;
    let failure: unknown;
    try {
      await talk(ended, () => {
        tries = 0;
        alive();
      });
    } catch (e) {
      failure = e;
    }
    if (ended.aborted) return;
    if (hidden()) {
      places?.leave();
      continue; // whoever looks again gets what was missed
    }
    if (places && !places.keep()) continue; // another window has the place
    if (failure instanceof ApiError && failure.status === 401) return; // who logs in again listens again
    const answered = failure instanceof ApiError && failure.status !== 0 ? failure : undefined;
    // One that hangs while the service answers may have hung since it was away; the next one shows it.
    const hung = answered?.code === "silent";
    if (hung && !silent) tries = 0;
    else failed(answered);
    silent = hung;
    await rest(delay(tries++, failure));
  }
}

function open() {
  if (running) return;
  running = new AbortController();
  heard = Date.now();
  void run(running.signal);
}

function close() {
  places?.leave();
  running?.abort();
  running = undefined;
  last = "";
  clearTimeout(telling);
  wake();
  tell();
}

for (const e of ["online", "focus", "pageshow"]) globalThis.window?.addEventListener(e, () => wake());
globalThis.document?.addEventListener("visibilitychange", () => wake());
globalThis.window?.addEventListener("pagehide", () => places?.leave());

/** listen hears until the function it returns is called. */
export function listen(l: Listener): () => void {
  listeners.add(l);
  open();
  return () => {
    listeners.delete(l);
    if (!listeners.size) close();
  };
}

/**
 * heardWhile reads something and applies the changes that arrived during the read: the service may have answered before that. `missed` is
 * called when there was something.
 */
export async function heardWhile<T>(
  read: () => Promise<T>,
  patch: (t: T, changes: StatusChange[]) => T,
  missed?: () => void,
): Promise<T> {
  const received: StatusChange[] = [];
  const leave = listen({ status: (changes) => received.push(...changes) });
  try {
    const got = await read();
    if (!received.length) return got;
    missed?.();
    return patch(got, received);
  } finally {
    leave();
  }
}

/** useLive hears as long as the component is shown. The listener may be rebuilt at every rendering. */
export function useLive(l: Listener) {
  const latest = useRef(l);
  latest.current = l;
  useEffect(
    () =>
      listen({
        status: (c) => latest.current.status?.(c),
        event: (e) => latest.current.event?.(e),
        resync: () => latest.current.resync?.(),
      }),
    [],
  );
}

const subscribe = (w: () => void) => {
  watchers.add(w);
  return () => watchers.delete(w);
};

/** connection says since when no changes arrive; undefined when they do. */
export const connection = { get: () => lost, subscribe };

export const useLost = (): Lost | undefined => useSyncExternalStore(subscribe, () => lost);
