import { useMemo, useRef, useState } from "react";
import type { Tree, TreeItem } from "../../api";
import { useLive } from "../../live";
import { messageOf } from "../../parts/Page";
import { usePerson } from "../../session";
import { begin, type Collision, findCollisions, restore, type Saving, sentOf, watched } from "./collisions";
import { conflicts } from "./conflicts";
import { batches, countOf, type Draft, nameOfKey, settle, strays, untouched } from "./draft";
import { check, save, type Wrong } from "./save";
import { keyOf } from "./scene";

interface History {
  past: Draft[];
  now: Draft;
  future: Draft[];
}

const fresh: History = { past: [], now: untouched, future: [] };

/** Reading is how a save reads the view: again, or only if a reading is under way. */
export interface Reading {
  reread: () => Promise<Tree>;
  settled: () => Promise<Tree>;
}

/** useCollisions finds those who save the same at the same moment, for a while after each save. */
function useCollisions() {
  const [found, setFound] = useState<Collision[]>([]);
  const recent = useRef<{ saving: Saving; until: number }[]>([]);
  const watcher = useMemo(() => {
    const look = async () => {
      recent.current = recent.current.filter((r) => Date.now() < r.until);
      const all = (await Promise.all(recent.current.map((r) => findCollisions(r.saving)))).flat();
      const news = new Map(all.map((c) => [c.key, c])); // of two saves the later one counts
      if (news.size) setFound((old) => [...old.filter((c) => !news.has(c.key)), ...news.values()]);
    };
    return {
      look,
      watch: (saving: Saving) => {
        recent.current.push({ saving, until: Date.now() + watched });
        return look();
      },
      /** close ends what is said about collisions. */
      close: (these: Collision[]) => {
        recent.current = [];
        setFound((old) => old.filter((c) => !these.includes(c)));
      },
    };
  }, []);
  useLive({
    event: (events) => {
      if (events.some((e) => e.type === "configuration")) void watcher.look();
    },
    resync: () => void watcher.look(),
  });
  return { found, watcher };
}

/** useDraft keeps what is not saved yet, with a way back and forth. */
export function useDraft() {
  const { user } = usePerson();
  const { found, watcher } = useCollisions();
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
      /** Changes of other people that met what was saved. */
      collisions: found,
      /** restore puts what a collision has replaced into the draft. */
      restore: (view: TreeItem, c: Collision) => {
        set(({ past, now }) => ({
          ...{ past: [...past.slice(-199), now], future: [] },
          now: restore(now, view, c),
        }));
        watcher.close([c]);
      },
      closeCollisions: watcher.close,
      /** save sends everything, unless somebody else has changed the same, and reports whether all of it was saved. */
      save: async ({ reread, settled }: Reading): Promise<boolean> => {
        setBusy(true);
        setWrong([]);
        try {
          const before = await begin(user);
          const first = await reread();
          if (conflicts(first, latest.current.now).length) return false;
          const refused = await check(batches(first, latest.current.now));
          const t = await settled(); // what somebody else has saved meanwhile may be on its way
          if (conflicts(t, latest.current.now).length) return false;
          const message = "It is no longer in this view, so its change was not saved; undo the change.";
          const left = strays(t, latest.current.now).map((key) => ({ what: nameOfKey(key), message }));
          const all = batches(t, latest.current.now);
          const outcome = refused.length ? { saved: new Set<string>(), wrong: refused } : await save(all);
          if (outcome.saved.size) {
            await watcher.watch({ ...before, sent: sentOf(all, outcome.saved) });
            await reread().catch(() => undefined); // it is saved all the same
          }
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
    [h, wrong, busy, found, user, watcher],
  );
}

// What came before something was saved cannot be undone to any more.
const keep = (h: History, saved: Set<string>, own: string): History =>
  saved.size ? { past: [], now: settle(h.now, saved, own), future: [] } : h;

export type Drafting = ReturnType<typeof useDraft>;
