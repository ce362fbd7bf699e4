import { useCallback, useEffect, useRef, useState } from "react";
import { passing, pause } from "../../client";
import { useLive } from "../../live";
import { useReadEvery } from "../../session";
import { Feed } from "./feed";
import type { Filter } from "./filter";

const usual = 30_000; // new data without a new status are not in the stream

interface Found {
  feed?: Feed;
  error?: unknown;
  of?: Filter;
}

/** useFeed gives the rows of a filter. While a new question is under way the rows of the one before stay, marked as old. */
export function useFeed(filter: Filter): { feed?: Feed; waiting: boolean; error?: unknown; again: () => void } {
  const [state, setState] = useState<Found>({});
  const [round, setRound] = useState(0);
  const shown = useRef<Feed>(undefined);
  const coming = useRef<Feed>(undefined); // whose first rows are on their way
  const again = useCallback(() => setRound((n) => n + 1), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round asks the same again
  useEffect(() => {
    const next = new Feed(filter);
    coming.current = next;
    let ended = false;
    void next.start().then(() => {
      if (ended) return;
      if (next.error) {
        setState({ error: next.error, of: filter });
        return;
      }
      shown.current?.end();
      shown.current = next;
      setState({ feed: next, of: filter });
    });
    return () => {
      ended = true;
      if (shown.current !== next) next.end();
    };
  }, [filter, round]);
  useEffect(() => {
    if (!passing(state.error)) return;
    const t = setTimeout(again, pause);
    return () => clearTimeout(t);
  }, [state, again]);
  const every = useReadEvery(usual);
  useEffect(() => {
    const repeat = setInterval(() => {
      if (!document.hidden) shown.current?.soon();
    }, every);
    return () => clearInterval(repeat);
  }, [every]);
  useEffect(
    () => () => {
      shown.current?.end();
      shown.current = coming.current = undefined;
    },
    [],
  );
  useLive({
    status: (changes) => {
      for (const feed of new Set([shown.current, coming.current])) feed?.apply(changes);
    },
    // What people do and what is created shows in events, and not always in a status.
    event: (events) => {
      if (events.some((e) => e.type !== "alarm" && e.type !== "login")) shown.current?.soon();
    },
    resync: () => {
      if (state.error) again();
      else for (const feed of new Set([shown.current, coming.current])) void feed?.refresh();
    },
  });
  return { feed: state.feed, error: state.error, waiting: state.of !== filter, again };
}
