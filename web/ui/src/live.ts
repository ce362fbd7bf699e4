// One connection for all that a tab wants to hear. It is opened when somebody listens and closed when nobody does.
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { EventRow, StatusRow } from "./api";

export interface StatusChange extends StatusRow {
  previous?: string;
}

export interface Listener {
  status?: (changes: StatusChange[]) => void;
  event?: (events: EventRow[]) => void;
  /** Something was missed: read anew what is shown. Also called when the connection is back. */
  resync?: () => void;
}

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let source: EventSource | null = null;
let connected = false;
let retry: ReturnType<typeof setTimeout> | undefined;

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

function soon() {
  if (timer === undefined) timer = setTimeout(deliver, pace);
}

function tell(now: boolean) {
  if (connected === now) return;
  connected = now;
  for (const w of [...watchers]) w();
}

function resync() {
  for (const l of [...listeners]) l.resync?.();
}

function open() {
  if (source) return;
  let lost = false;
  const s = new EventSource("/api/stream");
  source = s;
  s.onopen = () => {
    tell(true);
    if (lost) resync();
    lost = false;
  };
  s.onerror = () => {
    tell(false);
    lost = true;
    if (s.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    close();
    retry = setTimeout(() => {
      if (!listeners.size) return;
      open();
      resync();
    }, 3000);
  };
  s.addEventListener("status", (m) => {
    changes.push(JSON.parse(m.data) as StatusChange);
    soon();
  });
  s.addEventListener("event", (m) => {
    events.push(JSON.parse(m.data) as EventRow);
    soon();
  });
  s.addEventListener("resync", resync);
}

function close() {
  source?.close();
  source = null;
  clearTimeout(retry);
  tell(false);
}

/** listen hears until the function it gives back is called. */
export function listen(l: Listener): () => void {
  listeners.add(l);
  open();
  return () => {
    listeners.delete(l);
    if (!listeners.size) close();
  };
}

/** useLive hears as long as the component is shown. The listener may be made anew at every rendering. */
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

/** useConnected says whether changes arrive. */
export function useConnected(): boolean {
  return useSyncExternalStore(
    (w) => {
      watchers.add(w);
      return () => watchers.delete(w);
    },
    () => connected,
  );
}
