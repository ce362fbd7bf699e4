import { useEffect, useMemo, useRef, useState } from "react";
import type { Tree } from "../../api";
import { useLive } from "../../live";
import { messageOf } from "../../parts/Page";
import { usePerson } from "../../session";
import {
  begin,
  type Collision,
  findCollisions,
  presentOf,
  replaced,
  restore,
  type Saving,
  type Sent,
  sentOf,
  watched,
  watchedUntold,
  without,
} from "./collisions";
import { conflicts } from "./conflicts";
import { batches, countOf, type Draft, nameOfKey, settleSaved, strays, untouched } from "./draft";
import { check, gone, save, type Wrong } from "./save";
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

interface Watch {
  saving: Saving;
  until: number;
  reread: Reading["reread"];
}

/** useCollisions finds those who save the same at the same moment, for a while after each save. */
function useCollisions(tree: Tree) {
  const limited = !!usePerson().views?.length;
  const [found, setFound] = useState<Collision[]>([]);
  const recent = useRef<Watch[]>([]);
  const watcher = useMemo(() => {
    const show = (all: Collision[]) => {
      const news = new Map(all.map((c) => [c.key, c])); // of two saves the later one counts
      if (news.size) setFound((old) => [...old.filter((c) => !news.has(c.key)), ...news.values()]);
    };
    const watched = () => {
      recent.current = recent.current.filter((r) => Date.now() < r.until);
      return recent.current;
    };
    const lookAt = async (w: Watch): Promise<void> => {
      const { saving } = w;
      const all = await findCollisions(saving);
      if (!all.length) return;
      const now = await w.reread().catch(() => undefined); // what is there now is reported, too
      if (w.saving !== saving) return lookAt(w);
      show(all.filter((c) => !now || presentOf(c, now)));
    };
    let last = Promise.resolve();
    const look = () => {
      last = last.then(async () => {
        for (const w of watched()) await lookAt(w);
      });
      return last;
    };
    return {
      look,
      /** compare finds what is not as it was saved, for those who do not hear of changes. */
      compare: (t: Tree) => {
        for (const { saving } of watched()) show(replaced(saving, t));
      },
      /** begin forgets what is about to be saved again. */
      begin: (sent: Sent[]) => {
        const keys = new Set(sent.map((s) => s.key));
        for (const r of recent.current) r.saving = without(r.saving, sent);
        setFound((old) => old.filter((c) => !keys.has(c.key)));
      },
      watch: (saving: Saving, reread: Reading["reread"], ms: number) => {
        recent.current.push({ saving, reread, until: Date.now() + ms });
      },
      /** close ends what is said about collisions. */
      close: (these: Collision[]) => {
        const keys = new Set(these.map((c) => c.key));
        for (const r of recent.current)
          r.saving = { ...r.saving, sent: r.saving.sent.filter((one) => !keys.has(one.key)) };
        setFound((old) => old.filter((c) => !keys.has(c.key)));
      },
    };
  }, []);
  useLive({
    event: (events) => {
      if (events.some((e) => e.type === "configuration")) void watcher.look();
    },
    resync: () => void watcher.look(),
  });
  useEffect(() => {
    setFound((old) => (old.every((c) => presentOf(c, tree)) ? old : old.filter((c) => presentOf(c, tree))));
    if (limited) watcher.compare(tree);
  }, [limited, watcher, tree]);
  return { found, watcher, limited };
}

/** useDraft keeps what is not saved yet, with a way back and forth. */
export function useDraft(tree: Tree) {
  const { user } = usePerson();
  const { found, watcher, limited } = useCollisions(tree);
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
      restore: (t: Tree, c: Collision) => {
        set(({ past, now }) => ({
          ...{ past: [...past.slice(-199), now], future: [] },
          now: restore(now, t, c),
        }));
        watcher.close([c]);
      },
      closeCollisions: watcher.close,
      /** save sends everything, unless another user has changed the same, and reports whether all of it was saved. */
      save: async ({ reread, settled }: Reading): Promise<boolean> => {
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
          if (!refused.length) watcher.begin(rows(new Set(all.flatMap((b) => b.rows.map((r) => r.key)))));
          const outcome = refused.length ? { saved: new Set<string>(), wrong: refused } : await save(all);
          if (outcome.saved.size) {
            const now = await reread().catch(() => undefined); // it is saved all the same
            watcher.watch({ ...before, sent: rows(outcome.saved) }, reread, limited ? watchedUntold : watched);
            if (!limited) await watcher.look();
            else if (now) watcher.compare(now);
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
    [h, wrong, busy, found, user, watcher, limited],
  );
}

// What came before something was saved cannot be undone to any more.
const afterSave = (h: History, sent: Draft, saved: Set<string>, own: string): History => {
  if (!saved.size || h === fresh) return h; // all of it was dropped
  const now = settleSaved(h.now, sent, saved, own);
  return { past: [], now: countOf(now) ? now : untouched, future: [] };
};

export type Drafting = ReturnType<typeof useDraft>;
