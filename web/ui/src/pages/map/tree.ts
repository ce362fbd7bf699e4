// The content of one view as it is now: read once, then kept up to date by the stream.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { quote, type Status, type StatusRow, sql, type Tree, type TreeItem, tree } from "../../api";
import { heardWhile, type StatusChange, useLive } from "../../live";
import { usePaced } from "../../parts/pacer";
import { useReadEvery } from "../../session";
import { isShortcut, keyOf } from "./scene";

/** As many items as are drawn or listed at once. */
export const most = 5000;

async function load(view: string, resource: string | undefined, signal: AbortSignal): Promise<Tree> {
  const first = await tree({ view, resource, limit: most }, signal);
  if (!first.more || !first.content.element) return first;
  // Elements are listed last. Of a view that is too full to be drawn whole, they must not be what is missing.
  const drawn = await tree({ view, resource, limit: most, after: "element//" }, signal);
  const kept = first.children.filter((c) => c.kind !== "element");
  return { ...first, children: [...kept, ...drawn.children] };
}

const treeKey = (view: string, resource?: string) => ["tree", view, resource ?? ""];

/**
 * useTree reads a view and follows its changes. `again` reads it again; `reread` also returns it, or fails; `settled` does so only
 * if a reading is under way.
 */
export function useTree(view: string, resource?: string) {
  const client = useQueryClient();
  const key = treeKey(view, resource);
  const every = useReadEvery(60_000);
  const again = () => client.invalidateQueries({ queryKey: key });
  const soon = usePaced(again, pace(client.getQueryData<Tree>(key)));
  const read = useQuery({
    queryKey: key,
    queryFn: ({ signal }) =>
      heardWhile(
        () => load(view, resource, signal),
        (t, changes) => patch(t, indexOf(t), changes),
        soon,
      ),
    refetchInterval: every,
  });
  const index = useMemo(() => indexOf(read.data), [read.data]);
  useLive({
    status: (changes) => {
      const now = client.getQueryData<Tree>(key);
      if (!now) return;
      const next = patch(now, now === read.data ? index : indexOf(now), changes);
      if (next === now) return;
      client.setQueryData(key, next);
      soon(); // what was read may have had the change in its counts already
    },
    event: (events) => {
      if (events.some((e) => e.type === "configuration" || e.type === "note" || e.type === "manage")) soon();
    },
    resync: again,
  });
  const reread = async () => {
    const { data } = await read.refetch({ throwOnError: true });
    if (!data) throw new Error("The view could not be read.");
    return data;
  };
  const settled = async () =>
    read.data && !client.isFetching({ queryKey: key }) ? (client.getQueryData<Tree>(key) ?? read.data) : reread();
  return { ...read, again, reread, settled };
}

/** pace is how many milliseconds lie between two readings of a view: the more it holds, the more. */
const pace = (t?: Tree) => Math.max(2000, 2 * (t?.children.length ?? 0));

/** Index says which children of a view a change of something concerns: the thing itself and the shortcuts to it. */
type Index = Map<string, number[]>;

export function indexOf(t?: Tree): Index {
  const index: Index = new Map();
  const add = (key: string, at: number) => {
    const found = index.get(key);
    if (found) found.push(at);
    else index.set(key, [at]);
  };
  t?.children.forEach((c, at) => {
    add(keyOf(c), at);
    const target = isShortcut(c) ? c.answers?.target : undefined;
    if (!target) return;
    // No view has the name of a resource.
    add(keyOf({ kind: "view", name: target }), at);
    add(keyOf({ kind: "resource", name: target, resource: target }), at);
  });
  return index;
}

/** around is the key of what an item is in. */
export function around(c: StatusRow): string {
  const place = c.kind === "view" ? c.parentview : c.view;
  if (c.kind === "resource" || !c.resource) return `view//${place ?? ""}`;
  return place === c.resource ? `resource/${place}/${place}` : `view/${c.resource}/${place ?? ""}`;
}

function stateOf(c: StatusChange) {
  return {
    status: c.status,
    statusname: c.statusname,
    since: c.since,
    info: c.info,
    acknowledged: !!c.acknowledged,
    isunmanaged: !!c.isunmanaged,
  };
}

function recount(i: TreeItem, from: string, to: Status): TreeItem {
  if (!i.counts) return i;
  const counts = { ...i.counts };
  counts[from as Status] = Math.max(0, (counts[from as Status] ?? 0) - 1);
  counts[to] = (counts[to] ?? 0) + 1;
  return { ...i, counts };
}

/** patch puts changes into a view. What did not change stays the same object, so that only what did is drawn again. */
export function patch(t: Tree, index: Index, changes: StatusChange[]): Tree {
  let view = t.view;
  let children: TreeItem[] | undefined;
  const own = keyOf(t.view);
  const change = (key: string, f: (i: TreeItem) => TreeItem) => {
    if (key === own) view = f(view);
    for (const at of index.get(key) ?? []) {
      children ??= [...t.children];
      const item = children[at];
      if (item) children[at] = f(item);
    }
  };
  for (const c of changes) {
    change(keyOf(c), (i) => ({ ...i, ...stateOf(c) }));
    const { previous } = c;
    if (previous && previous !== c.status) change(around(c), (i) => recount(i, previous, c.status));
  }
  return view === t.view && !children ? t : { ...t, view, children: children ?? t.children };
}

export type Target = Pick<
  StatusRow,
  "name" | "kind" | "resource" | "status" | "statusname" | "acknowledged" | "isunmanaged" | "since" | "info"
>;

/** useTargets finds what shortcuts lead to, with the status it has. */
export function useTargets(names: string[]): Map<string, Target> {
  const client = useQueryClient();
  const wanted = [...new Set(names)].sort();
  const key = ["targets", ...wanted];
  const read = useQuery({
    queryKey: key,
    enabled: wanted.length > 0,
    queryFn: async ({ signal }) => {
      const list = wanted.map(quote).join(", ");
      const q = `SELECT name, kind, resource, status, statusname, acknowledged, isunmanaged, since, info FROM objectstatus WHERE kind IN ('view', 'resource') AND name IN (${list})`;
      // A name means the view or resource at customer level; views inside resources may have it, too.
      const own = (r: Target) => r.kind === "resource" || !r.resource;
      return heardWhile(async () => (await sql<Target>(q, { rows: 10_000, signal })).rows.filter(own), patchTargets);
    },
  });
  useLive({
    status: (changes) => {
      const now = client.getQueryData<Target[]>(key);
      if (now) client.setQueryData(key, patchTargets(now, changes));
    },
    resync: () => client.invalidateQueries({ queryKey: key }),
  });
  return useMemo(() => new Map(read.data?.map((t) => [t.name, t])), [read.data]);
}

function patchTargets(now: Target[], changes: StatusChange[]): Target[] {
  const of = new Map(changes.filter((c) => c.kind !== "object").map((c) => [keyOf(c), c]));
  if (!now.some((t) => of.has(keyOf(t)))) return now;
  return now.map((t) => {
    const c = of.get(keyOf(t));
    return c ? { ...t, ...stateOf(c) } : t;
  });
}

/** useCrumbs is the way from the top to a view, without the view itself. Parents are asked for one by one. */
export function useCrumbs(view?: TreeItem): { name: string; resource?: string }[] {
  const own = view ? keyOf(view) : "";
  const read = useQuery({
    queryKey: ["crumbs", own, view?.parentview ?? ""],
    enabled: !!view?.parentview,
    staleTime: 30_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const way: { name: string; resource?: string }[] = [];
      let at: TreeItem | undefined = view;
      while (at?.parentview && way.length < 100) {
        const inside: string | undefined = at.kind === "resource" ? undefined : at.resource;
        const resource: string | undefined = inside && inside !== at.parentview ? inside : undefined;
        way.unshift({ name: at.parentview, resource });
        if (at.parentview === "MAIN") break;
        try {
          at = (await tree({ view: at.parentview, resource, limit: 1 }, signal)).view;
        } catch (e) {
          if (signal.aborted) throw e;
          break; // not everyone may see all of the way up
        }
      }
      return way;
    },
  });
  return read.data ?? (view?.parentview ? [{ name: view.parentview }] : []);
}
