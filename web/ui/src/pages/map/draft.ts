// What someone has changed in a view and not saved yet. It is applied to what the service says, so that statuses stay live
// while a view is edited. Drafts are never changed in place: undo is a list of them.
import type { Tree, TreeItem } from "../../api";
import { keyOf } from "./scene";

export interface Change {
  posx?: number;
  posy?: number;
  width?: number;
  height?: number;
  answers?: Record<string, string>;
}

/** Base is what a draft can change of an item. */
export type Base = Pick<TreeItem, "posx" | "posy" | "width" | "height" | "autoarrange" | "bg" | "answers">;

export interface Draft {
  changes: Record<string, Change>;
  /** What is changed as it was when it was first changed, by key. */
  base: Record<string, Base>;
  added: TreeItem[];
  /** What is to be removed, by key. */
  removed: Record<string, TreeItem>;
  view: Pick<TreeItem, "autoarrange" | "bg">;
}

const places = ["posx", "posy", "width", "height"] as const;

export const untouched: Draft = { changes: {}, base: {}, added: [], removed: {}, view: {} };

export const countOf = (d: Draft) =>
  Object.keys(d.changes).length + d.added.length + Object.keys(d.removed).length + Object.keys(d.view).length;

/**
 * apply shows a view as it will be. What is not changed stays the same object. Something new is shown although another user has
 * made something of the same name: it is what the draft is about.
 */
export function apply(t: Tree, d: Draft): { view: TreeItem; children: TreeItem[] } {
  if (d === untouched) return t;
  const view = Object.keys(d.view).length ? { ...t.view, ...d.view } : t.view;
  const added = new Set(d.added.map(keyOf));
  const stays = t.children.filter((i) => !d.removed[keyOf(i)] && !added.has(keyOf(i)));
  return { view, children: [...stays.map((i) => merge(i, d.changes[keyOf(i)])), ...d.added] };
}

export function merge(i: TreeItem, c?: Change): TreeItem {
  if (!c) return i;
  const { answers, ...place } = c;
  return { ...i, ...place, answers: answers ? { ...i.answers, ...answers } : i.answers };
}

export const baseOf = ({ posx, posy, width, height, autoarrange, bg, answers }: TreeItem): Base => ({
  ...{ posx, posy, width, height },
  ...{ autoarrange, bg, answers },
});

/** based notes what an item is before its first change. */
function based(d: Draft, item: TreeItem): Draft["base"] {
  const key = keyOf(item);
  return d.base[key] ? d.base : { ...d.base, [key]: baseOf(item) };
}

export function changeView(d: Draft, view: TreeItem, c: Draft["view"]): Draft {
  return { ...d, base: based(d, view), view: { ...d.view, ...c } };
}

/** Fields that belong together: one of them without the other would put an icon where no one wanted it. */
const groups: (typeof places)[number][][] = [
  ["posx", "posy"],
  ["width", "height"],
];

/** groupOf are the fields that belong to one. */
export const groupOf = (field: string): string[] => groups.find((g) => g.some((f) => f === field)) ?? [field];

/** grouped adds to a change the other fields of the groups that it changes. */
function grouped(c: Change, item: TreeItem): Change {
  const whole = { ...c };
  for (const group of groups) {
    if (group.every((f) => c[f] === undefined)) continue;
    for (const f of group) if (item[f] !== undefined) whole[f] ??= item[f];
  }
  return whole;
}

export function change(d: Draft, item: TreeItem, wanted: Change): Draft {
  const key = keyOf(item);
  const before = d.changes[key];
  const c = grouped(wanted, merge(item, before));
  const at = d.added.findIndex((i) => keyOf(i) === key);
  if (at >= 0) return { ...d, added: d.added.with(at, merge(d.added[at] as TreeItem, c)) };
  const answers = before?.answers || c.answers ? { ...before?.answers, ...c.answers } : undefined;
  const changes = { ...d.changes, [key]: { ...before, ...c, ...(answers && { answers }) } };
  return { ...d, changes, base: based(d, item) };
}

export function add(d: Draft, item: TreeItem): Draft {
  return { ...d, added: [...d.added, item] };
}

/** replaceAdded puts something new in the place of something new, as under another name. */
export const replaceAdded = (d: Draft, key: string, item: TreeItem): Draft => ({
  ...d,
  added: d.added.map((i) => (keyOf(i) === key ? item : i)),
});

export function remove(d: Draft, item: TreeItem): Draft {
  const key = keyOf(item);
  const { [key]: _, ...changes } = d.changes;
  if (d.added.some((i) => keyOf(i) === key)) return { ...d, changes, added: d.added.filter((i) => keyOf(i) !== key) };
  return { ...d, changes, base: based(d, item), removed: { ...d.removed, [key]: item } };
}

/** settle forgets what has been saved. */
export function settle(d: Draft, keys: Set<string>, ownKey: string): Draft {
  const without = <V>(all: Record<string, V>) =>
    Object.fromEntries(Object.entries(all).filter(([k]) => !keys.has(k))) as Record<string, V>;
  return {
    changes: without(d.changes),
    base: without(d.base),
    added: d.added.filter((i) => !keys.has(keyOf(i))),
    removed: without(d.removed),
    view: keys.has(ownKey) ? {} : d.view,
  };
}

/** rest is what a change wants otherwise than another that was made of the same item: also what was undone since. */
function rest(base: Base, made: Change | undefined, wanted: Change | undefined): Change | undefined {
  const [is, to] = [merge(base as TreeItem, made), merge(base as TreeItem, wanted)];
  const c: Change = {};
  for (const p of places) if (to[p] !== undefined && to[p] !== is[p]) c[p] = to[p];
  const names = Object.keys({ ...is.answers, ...to.answers });
  const other = names.filter((n) => (to.answers?.[n] ?? "") !== (is.answers?.[n] ?? ""));
  if (other.length) c.answers = Object.fromEntries(other.map((n) => [n, to.answers?.[n] ?? ""]));
  return Object.keys(c).length ? grouped(c, to) : undefined;
}

/** settleSaved forgets what has been saved, and keeps what was edited while it was. */
export function settleSaved(d: Draft, sent: Draft, keys: Set<string>, ownKey: string): Draft {
  const left = settle(d, keys, ownKey);
  if (d === sent) return left;
  for (const key of keys) {
    const added = sent.added.find((i) => keyOf(i) === key);
    const base = added ?? sent.base[key];
    if (key === ownKey || !base || sent.removed[key]) continue;
    const [made, wanted] = added
      ? [undefined, d.added.find((i) => keyOf(i) === key)]
      : [sent.changes[key], d.changes[key]];
    if (d.removed[key]) {
      left.removed[key] = d.removed[key];
      left.base[key] = baseOf(merge(base as TreeItem, made));
      continue;
    }
    const more = added && !wanted ? undefined : rest(base, made, wanted);
    if (!more) continue;
    left.changes[key] = more;
    left.base[key] = baseOf(merge(base as TreeItem, made));
  }
  const own = sent.base[ownKey];
  if (keys.has(ownKey) && own) {
    const [is, to] = [
      { ...own, ...sent.view },
      { ...own, ...d.view },
    ];
    const names = (["autoarrange", "bg"] as const).filter((f) => (is[f] ?? "") !== (to[f] ?? ""));
    left.view = Object.fromEntries(names.map((f) => [f, to[f] ?? (f === "bg" ? "" : "none")]));
    if (names.length) left.base[ownKey] = is;
  }
  return left;
}

// From a draft to requests

export interface Row {
  key: string;
  item: TreeItem;
  fresh: boolean;
  cells: Record<string, string>;
}

/** Batch is one request: all rows of one package. */
export interface Batch {
  package: string;
  removal: boolean;
  /** Its rows are about new items; otherwise about what there is. */
  fresh: boolean;
  columns: string[];
  rows: Row[];
}

const packageOf = (i: TreeItem) => (i.kind === "view" ? "view" : (i.package ?? ""));

/** held is what a column of an item holds, for rows that do not change it but share a request with some that do. */
export function held(i: TreeItem, column: string): string {
  switch (column) {
    case "posx":
    case "posy":
    case "width":
    case "height":
    case "autoarrange":
    case "bg":
    case "class":
      return String(i[column] ?? "");
    case "view":
      return ""; // an empty cell leaves an item where it is
    default:
      return i.answers?.[column] ?? "";
  }
}

interface Wish {
  item: TreeItem;
  fresh: boolean;
  cells: Record<string, string>;
}

function wishes(t: Tree, d: Draft): Wish[] {
  const out: Wish[] = [];
  if (Object.keys(d.view).length) out.push({ item: t.view, fresh: false, cells: { ...d.view } });
  for (const item of t.children) {
    const c = d.changes[keyOf(item)];
    if (!c || d.removed[keyOf(item)]) continue;
    const { answers, ...place } = c;
    const numbers = Object.fromEntries(Object.entries(place).map(([k, v]) => [k, String(v)]));
    out.push({ item, fresh: false, cells: { ...numbers, ...answers } });
  }
  for (const item of d.added) {
    const cells: Record<string, string> = { view: t.view.name, ...item.answers };
    for (const p of places) if (item[p] !== undefined) cells[p] = String(item[p]);
    if (item.autoarrange) cells.autoarrange = item.autoarrange;
    out.push({ item, fresh: true, cells });
  }
  return out;
}

/** strays are the keys of items that a draft changes and that are not in the view any more. */
export function strays(t: Tree, d: Draft): string[] {
  const here = new Set(t.children.map(keyOf));
  return Object.keys(d.changes).filter((key) => !here.has(key) && !d.removed[key]);
}

/** nameOfKey is the name of the item with a key. */
export const nameOfKey = (key: string) => key.split("/").slice(2).join("/");

/** batches are the requests that save a draft, in the order in which they must be sent. */
export function batches(t: Tree, d: Draft): Batch[] {
  const by = new Map<string, Wish[]>();
  for (const w of wishes(t, d)) {
    const p = `${packageOf(w.item)}\n${w.fresh}`;
    by.set(p, [...(by.get(p) ?? []), w]);
  }
  const posts = [...by.values()].map(batchOf).sort((a, b) => order(a) - order(b));
  const gone = new Map<string, TreeItem[]>();
  const now = new Map(t.children.map((i) => [keyOf(i), i]));
  for (const [key, was] of Object.entries(d.removed)) {
    const i = now.get(key) ?? was;
    gone.set(packageOf(i), [...(gone.get(packageOf(i)) ?? []), i]);
  }
  const removals = [...gone].map(([p, items]) => removalOf(p, items)).sort((a, b) => order(b) - order(a));
  return [...posts, ...removals];
}

// Views come first: links and shortcuts of the same draft may name them.
const order = (b: Batch) => (b.package === "view" ? 0 : 1);

function batchOf(all: Wish[]): Batch {
  const [{ item, fresh }] = all as [Wish];
  const p = packageOf(item);
  const columns = [...new Set(all.flatMap((w) => Object.keys(w.cells)))];
  const inside = p === "view" && all.some((w) => w.item.resource);
  return {
    package: p,
    removal: false,
    fresh,
    columns: ["name", ...(inside ? ["resname"] : []), ...columns],
    rows: all.map(({ item, fresh, cells }) => ({
      key: keyOf(item),
      item,
      fresh,
      cells: {
        ...Object.fromEntries(columns.map((c) => [c, cells[c] ?? held(item, c)])),
        name: item.name,
        ...(inside && { resname: item.resource ?? "" }),
      },
    })),
  };
}

function removalOf(p: string, items: TreeItem[]): Batch {
  const inside = p === "view" && items.some((i) => i.resource);
  return {
    package: p,
    removal: true,
    fresh: false,
    columns: inside ? ["name", "resname"] : ["name"],
    rows: items.map((item) => ({
      key: keyOf(item),
      item,
      fresh: false,
      cells: { name: item.name, ...(inside && { resname: item.resource ?? "" }) },
    })),
  };
}

const quoted = (cell: string) => (cell === "" ? "" : `"${cell.replaceAll('"', '""')}"`);

/** csv writes rows of a batch. Cells are always quoted: they may hold anything. */
export function csv(b: Batch): string {
  const lines = b.rows.map((r) => b.columns.map((c) => quoted(r.cells[c] ?? "")).join(","));
  return `${[b.columns.join(","), ...lines].join("\n")}\n`;
}
