import { useMemo, useRef, useState } from "react";
import type { Tree } from "../../api";
import { messageOf } from "../../parts/Page";
import { conflicts } from "./conflicts";
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
      /** save sends everything, unless somebody else has changed the same, and reports whether all of it was saved. */
      save: async (reread: () => Promise<Tree>): Promise<boolean> => {
        setBusy(true);
        setWrong([]);
        try {
          const t = await reread();
          if (conflicts(t, latest.current.now).length) return false;
          const message = "It is no longer in this view, so its change was not saved; undo the change.";
          const left = strays(t, latest.current.now).map((what) => ({ what, message }));
          const outcome = await save(batches(t, latest.current.now));
          if (outcome.saved.size) await reread().catch(() => undefined); // it is saved all the same
          const wrong = [...left, ...outcome.wrong];
          set((s) => (wrong.length ? keep(s, outcome.saved, keyOf(t.view)) : fresh));
          setWrong(wrong);
          return wrong.length === 0;
        } catch (e) {
          setWrong([{ what: "", message: messageOf(e) }]);
          return false;
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
