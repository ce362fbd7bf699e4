// What has been read from the service, and how it is read again.
import { onlineManager, type Query, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError, unreached } from "./api";

/** passing reports whether an error may be temporary, so that a retry may succeed. */
export const passing = (e: unknown) => e instanceof ApiError && (e.status === 0 || e.status === 429 || e.status >= 500);

/** Between two tries to read what could not be read, in milliseconds. */
export const pause = 3000;

export const client = new QueryClient({
  queryCache: new QueryCache({
    onError: (e) => {
      if (e instanceof ApiError && e.status === 0)
        e.message = `${unreached} It may be restarting; this page tries again.`;
    },
  }),
  defaultOptions: {
    queries: {
      retry: (n, e) => passing(e) && n < 3,
      retryDelay: (n) => Math.min(1000, 250 * 2 ** n),
      refetchOnWindowFocus: false,
      refetchOnReconnect: false, // readAnew does it
      staleTime: 5_000,
    },
  },
});

/** keepTrying asks again, every few seconds, for what is shown and could not be read for a reason that may pass. */
export function keepTrying() {
  const due = (q: Query) => q.state.status === "error" && q.state.fetchStatus === "idle" && passing(q.state.error);
  setInterval(() => {
    if (!document.hidden) void client.refetchQueries({ type: "active", predicate: due });
  }, pause);
}

// Whether the service can be reached is for live.ts to say; that the machine has a network says little.
onlineManager.setEventListener(() => undefined);

/** setReachable lets questions wait while the service cannot be reached, and continue. */
export const setReachable = (is: boolean) => onlineManager.setOnline(is);

/** readAnew reads everything that is shown, and what else was read when it is shown again. */
export const readAnew = () => void client.invalidateQueries();

/** Old is something that is shown and could not be read again. */
export interface Old {
  /** When it was read. */
  since: number;
  error: unknown;
}

const unread = new Map<string, Old>();
const readers = new Set<() => void>();
let oldest: Old | undefined;

/** noteOld says that what is shown under a name could not be read again, or that it was. */
export function noteOld(name: string, old?: Old) {
  if (old) unread.set(name, old);
  else if (!unread.delete(name)) return;
  const first = [...unread.values()].sort((a, b) => a.since - b.since)[0];
  if (first?.since === oldest?.since && first?.error === oldest?.error) return;
  oldest = first;
  for (const again of [...readers]) again();
}

/** old is the oldest of what is shown and could not be read again. */
export const old = {
  get: () => oldest,
  subscribe: (again: () => void) => {
    readers.add(again);
    return () => readers.delete(again);
  },
};

client.getQueryCache().subscribe(({ query: q }) => {
  const { status, data, dataUpdatedAt: since, error } = q.state;
  const gone = error instanceof ApiError && error.status === 404; // the page of the item says so
  noteOld(
    q.queryHash,
    q.isActive() && status === "error" && !gone && data !== undefined ? { since, error } : undefined,
  );
});
