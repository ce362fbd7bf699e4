// What is selected: items, not places, so that it stays when rows move.
import { useCallback, useRef, useState } from "react";
import { itemKey } from "../../parts/actions/operations";
import type { Feed, Row } from "./feed";

export interface Selection {
  items: ReadonlyMap<string, Row>;
  /** Rows are being asked for. */
  busy: boolean;
  error?: unknown;
  toggle: (at: number) => void;
  /** From the row that was touched last to this one. */
  extend: (at: number) => void;
  all: () => void;
  clear: () => void;
}

export function useSelection(feed: Feed | undefined): Selection {
  const [items, setItems] = useState<ReadonlyMap<string, Row>>(new Map());
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const anchor = useRef<number>(undefined);

  const add = useCallback(async (more: () => Promise<Row[]>) => {
    setBusy(true);
    setError(undefined);
    try {
      const rows = await more();
      setItems((now) => {
        const next = new Map(now);
        for (const r of rows) next.set(itemKey(r), r);
        return next;
      });
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  }, []);

  const toggle = useCallback(
    (at: number) => {
      const row = feed?.row(at);
      if (!row) return;
      anchor.current = at;
      setItems((now) => {
        const next = new Map(now);
        if (!next.delete(itemKey(row))) next.set(itemKey(row), row);
        return next;
      });
    },
    [feed],
  );

  const extend = useCallback(
    (at: number) => {
      const from = anchor.current;
      if (from === undefined || !feed) {
        toggle(at);
        return;
      }
      const [first, last] = from < at ? [from, at] : [at, from];
      anchor.current = at;
      const here: Row[] = [];
      for (let i = first; i <= last && here.length === i - first; i++) {
        const row = feed.row(i);
        if (row) here.push(row);
      }
      void add(async () => (here.length === last - first + 1 ? here : feed.items(first, last)));
    },
    [feed, add, toggle],
  );

  const all = useCallback(() => {
    if (feed) void add(() => feed.items());
  }, [feed, add]);

  const clear = useCallback(() => {
    anchor.current = undefined;
    setError(undefined);
    setItems(new Map());
  }, []);

  return { items, busy, error, toggle, extend, all, clear };
}
