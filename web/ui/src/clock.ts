// What time it is, for everything on a page: one moment for all ages and charts, which goes on by the second and stops while
// the service cannot be reached. What was so then is not a minute older than it was.
import { useSyncExternalStore } from "react";

let stopped: number | undefined;
let now = Date.now();
const readers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function tick() {
  now = stopped ?? Date.now();
  for (const again of [...readers]) again();
}

function subscribe(again: () => void) {
  readers.add(again);
  if (ticking === undefined) {
    now = stopped ?? Date.now();
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
  if (ticking === undefined) now = stopped ?? Date.now();
  return now;
}

/** stopClock stops the time at a moment of this browser's clock, or lets it go on. */
export function stopClock(at?: number) {
  stopped = at;
  tick();
}

/** useNow gives what is made of the time, and draws anew only when that is another. */
export const useNow = <T extends string | number>(make: (now: number) => T): T =>
  useSyncExternalStore(subscribe, () => make(pageNow()));
