import { useMemo, useRef, useState } from "react";
import type { Tree } from "../../api";
import { batches, countOf, type Draft, settle, strays, untouched } from "./draft";
import { save, type Wrong } from "./save";
import { keyOf } from "./scene";

interface History {
  past: Draft[];
  now: Draft;
  future: Draft[];
}

const fresh: History = { past: [], now: untouched, future: [] };

/** useDraft keeps what is not saved yet, with a way back and forth. */
export function useDraft() {
  const [h, set] = useState(fresh);
  const [wrong, setWrong] = useState<Wrong[]>([]);
  const [busy, setBusy] = useState(false);
  const latest = useRef(h);
  latest.current = h;
  return useMemo(
    () => ({
      draft: h.now,
      count: countOf(h.now),
      canUndo: h.past.length > 0,
      canRedo: h.future.length > 0,
      wrong,
      busy,
      edit: (f: (d: Draft) => Draft) =>
        set(({ past, now }) => ({ past: [...past.slice(-199), now], now: f(now), future: [] })),
      undo: () =>
        set((s) => {
          const now = s.past.at(-1);
          return now ? { past: s.past.slice(0, -1), now, future: [s.now, ...s.future] } : s;
        }),
      redo: () =>
        set((s) => {
          const [now, ...future] = s.future;
          return now ? { past: [...s.past, s.now], now, future } : s;
        }),
      drop: () => {
        set(fresh);
        setWrong([]);
      },
      forgive: () => setWrong([]),
      /** save sends everything and tells whether all of it was taken. */
      save: async (t: Tree, again: () => Promise<unknown>): Promise<boolean> => {
        setBusy(true);
        setWrong([]);
        try {
          const message = "It does not stand in this view any more, so its change was not saved; undo the change.";
          const left = strays(t, latest.current.now).map((what) => ({ what, message }));
          const outcome = await save(batches(t, latest.current.now));
          if (outcome.saved.size) await again();
          const wrong = [...left, ...outcome.wrong];
          set((s) => (wrong.length ? keep(s, outcome.saved, keyOf(t.view)) : fresh));
          setWrong(wrong);
          return wrong.length === 0;
        } finally {
          setBusy(false);
        }
      },
    }),
    [h, wrong, busy],
  );
}

// What came before something was saved cannot be undone to any more.
const keep = (h: History, saved: Set<string>, own: string): History =>
  saved.size ? { past: [], now: settle(h.now, saved, own), future: [] } : h;

export type Drafting = ReturnType<typeof useDraft>;
