// Paces the reads that changes cause. A view may change many times a second; it is read every few seconds, one part of the
// page after the other.
import { useEffect, useRef, useState } from "react";

export class Pacer {
  private waiting = new Map<string, { read: () => unknown; requests: number }>();
  private timer?: ReturnType<typeof setTimeout>;
  private next = 0; // when the next read may begin

  /** The interval is in milliseconds, for each request that a read makes. */
  constructor(public interval: number) {}

  /** request calls read when its turn comes. Until then other requests for the same key are covered by it. */
  request(key: string, read: () => unknown, requests = 1) {
    this.waiting.set(key, { read, requests });
    this.schedule();
  }

  end() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting.clear();
  }

  private schedule() {
    if (this.timer !== undefined || !this.waiting.size) return;
    this.timer = setTimeout(() => this.run(), Math.max(0, this.next - Date.now()));
  }

  private run() {
    this.timer = undefined;
    const [first] = this.waiting; // a map keeps the order in which keys were added
    if (!first) return;
    const [key, { read, requests }] = first;
    this.waiting.delete(key);
    this.next = Date.now() + this.interval * requests;
    read();
    this.schedule();
  }
}

/** usePacer is a pacer that ends with the component. */
export function usePacer(interval: number): Pacer {
  const [pacer] = useState(() => new Pacer(interval));
  pacer.interval = interval;
  useEffect(() => () => pacer.end(), [pacer]);
  return pacer;
}

/** usePaced calls a function at most once in an interval; the last call is always made. */
export function usePaced(f: () => void, interval: number): () => void {
  const latest = useRef(f);
  latest.current = f;
  const pacer = usePacer(interval);
  return () => pacer.request("", () => latest.current());
}
