// What time it is, for everything on a page: one moment for all ages and charts, which continues by the second and stops while
// the service cannot be reached. What was so then is not a minute older than it was.
//
// The clock is that of the service, which has set all the times that are shown. Every answer says in its header Date what time
// it is there, and by that the difference to the clock of the browser is known.
import { useSyncExternalStore } from "react";

let stopped: number | undefined;
let ahead = 0; // of the browser's clock is the service's, in milliseconds
let least = Number.NEGATIVE_INFINITY; // it is ahead by no less than this, as answers show,
let most = Number.POSITIVE_INFINITY; // and by no more
let now = Date.now();
const readers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

const read = () => (stopped ?? Date.now()) + ahead;

function tick() {
  now = read();
  for (const again of [...readers]) again();
}

/**
 * heardTime takes the header Date of an answer, which was asked for and came at moments of the browser's clock. The service
 * wrote it in between, and left out the parts of the second. What several answers say together is more exact; when they
 * contradict, one of the clocks was set, and the last answer counts. The clock is moved no further than necessary.
 */
export function heardTime(date: string | null, asked: number, came: number) {
  const said = Date.parse(date ?? "");
  if (Number.isNaN(said) || came < asked) return;
  const [a, b] = [said - came, said + 999 - asked];
  const agree = a <= most && b >= least;
  [least, most] = agree ? [Math.max(least, a), Math.min(most, b)] : [a, b];
  const to = Math.min(most, Math.max(least, ahead));
  if (to === ahead) return;
  ahead = to;
  tick();
}

function subscribe(again: () => void) {
  readers.add(again);
  if (ticking === undefined) {
    now = read();
    ticking = setInterval(tick, 1000);
  }
  return () => {
    readers.delete(again);
    if (readers.size) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** pageNow is the moment of the page, in milliseconds. */
export function pageNow(): number {
  if (ticking === undefined) now = read();
  return now;
}

/** byService is what the clock of the service said at a moment of this browser's. */
export const byService = (at: number) => at + ahead;

/** stopClock stops the time at a moment of this browser's clock, or lets it continue. */
export function stopClock(at?: number) {
  stopped = at;
  tick();
}

/** useNow gives what is made of the time, and draws again only when that is another. */
export const useNow = <T extends string | number>(make: (now: number) => T): T =>
  useSyncExternalStore(subscribe, () => make(pageNow()));
