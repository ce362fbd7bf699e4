import { type RefObject, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Tree } from "../../api";
import { above } from "../../parts/above";
import { messageOf } from "../../parts/Page";
import { usePerson } from "../../session";
import { begin, restore, sentOf } from "./collisions";
import { conflicts } from "./conflicts";
import { batches, countOf, type Draft, nameOfKey, settleSaved, strays, untouched } from "./draft";
import { SavedPlaces } from "./SavedPlaces";
import { check, gone, save, type Wrong } from "./save";
import { type Found, type Place, saved } from "./saved";
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
  isFetching: boolean;
}

const placeOf = ({ view }: Tree): Place => ({ key: keyOf(view), name: view.name, resource: view.resource });

/** useCollisions gives what was saved by others besides what this person has saved in a view. */
function useCollisions(tree: Tree, reading: Reading, latest: RefObject<Reading>) {
  const limited = !!usePerson().views?.length;
  const { found } = useSyncExternalStore(saved.subscribe, saved.get);
  const { key } = placeOf(tree);
  useEffect(() => saved.show({ key, reread: () => latest.current.reread() }), [key, latest]);
  useEffect(() => above.add(SavedPlaces), []);
  // A user who comes back sees at first what the view was like before.
  const [current, setCurrent] = useState(() => !saved.get().found.some((c) => c.place.key === key));
  useEffect(() => {
    if (current) return;
    latest.current.reread().then(
      () => setCurrent(true),
      () => undefined, // the page says so
    );
  }, [current, latest]);
  const { isFetching } = reading;
  useEffect(() => {
    if (!current || isFetching) return;
    saved.present(placeOf(tree), tree);
    if (limited) saved.compare(placeOf(tree), tree);
  }, [limited, tree, current, isFetching]);
  return { found: useMemo(() => found.filter((c) => c.place.key === key), [found, key]), limited };
}

/** useDraft keeps what is not saved yet, with a way back and forth. */
export function useDraft(tree: Tree, reading: Reading) {
  const { user } = usePerson();
  const latestReading = useRef(reading);
  latestReading.current = reading;
  const { found, limited } = useCollisions(tree, reading, latestReading);
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
        set(({ past, now }) => {
          const next = f(now);
          setWrong((all) => stillWrong(all, next));
          return { past: [...past.slice(-199), now], now: next, future: [] };
        }),
      undo: () =>
        set((s) => {
          const now = s.past.at(-1);
          if (!now) return s;
          setWrong((all) => stillWrong(all, now));
          return { past: s.past.slice(0, -1), now, future: [s.now, ...s.future] };
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
      restore: (t: Tree, c: Found) => {
        set(({ past, now }) => ({
          ...{ past: [...past.slice(-199), now], future: [] },
          now: restore(now, t, c),
        }));
        saved.close([c]);
      },
      closeCollisions: saved.close,
      /** save sends everything, unless another user has changed the same, and reports whether all of it was saved. */
      save: async (): Promise<boolean> => {
        const { reread, settled } = latestReading.current;
        setBusy(true);
        setWrong([]);
        try {
          const before = await begin(user);
          const first = await reread();
          if (conflicts(first, latest.current.now).length) return false;
          const refused = await check(batches(first, latest.current.now));
          const t = await settled(); // what another user has saved may be on its way
          if (conflicts(t, latest.current.now).length) return false;
          const left = strays(t, latest.current.now).map((key) => ({ what: nameOfKey(key), message: gone }));
          const draft = latest.current.now;
          const all = batches(t, draft);
          const rows = (saved: Set<string>) => sentOf(all, saved);
          if (!refused.length) saved.begin(placeOf(t), rows(new Set(all.flatMap((b) => b.rows.map((r) => r.key)))));
          const outcome = refused.length ? { saved: new Set<string>(), wrong: refused } : await save(all);
          if (outcome.saved.size) {
            const now = await reread().catch(() => undefined); // it is saved all the same
            saved.watch(placeOf(t), { ...before, sent: rows(outcome.saved) });
            if (!limited) await saved.look();
            else if (now) saved.compare(placeOf(t), now);
          }
          const wrong = [...left, ...outcome.wrong];
          set((s) => afterSave(s, draft, outcome.saved, keyOf(t.view)));
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
    [h, wrong, busy, found, user, limited],
  );
}

/** stillWrong leaves out names in use of what a draft does not make any more. */
const stillWrong = (all: Wrong[], d: Draft) => all.filter((w) => !w.taken || d.added.some((i) => keyOf(i) === w.taken));

// What came before something was saved cannot be undone to any more.
const afterSave = (h: History, sent: Draft, saved: Set<string>, own: string): History => {
  if (!saved.size || h === fresh) return h; // all of it was dropped
  const now = settleSaved(h.now, sent, saved, own);
  return { past: [], now: countOf(now) ? now : untouched, future: [] };
};

export type Drafting = ReturnType<typeof useDraft>;
