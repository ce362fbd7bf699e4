// All items as a tree of counts. Objects are counted by the service; only the sums are transferred.
import { type Status, sql } from "../../api";
import { statuses } from "../../parts/StatusIcon";

export type Counts = Partial<Record<Status, number>>;

export interface Group {
  /** Unique among all places. */
  key: string;
  name: string;
  kind: "view" | "resource" | "rest";
  /** Of a view inside a resource. */
  resource?: string;
  parent?: Group;
  children: Group[];
  /** Objects that are directly in it. */
  own: Counts;
  /** All below it, its own included. */
  counts: Counts;
  total: number;
}

export interface Place {
  name: string;
  kind: "view" | "resource";
  resource?: string;
  view?: string;
  parentview?: string;
}

export interface Count {
  resource: string;
  view: string;
  status: Status;
  n: number;
}

export const mostRows = 100_000;

export async function readPlaces(signal?: AbortSignal): Promise<{ rows: Place[]; more: boolean }> {
  const q = "SELECT name, kind, resource, view, parentview FROM objectstatus WHERE kind IN ('view', 'resource')";
  return sql<Place>(q, { rows: mostRows, signal });
}

export async function readCounts(signal?: AbortSignal): Promise<{ rows: Count[]; more: boolean }> {
  const q =
    "SELECT resource, view, status, COUNT(*) AS n FROM objectstatus WHERE kind='object' GROUP BY resource, view, status";
  return sql<Count>(q, { rows: mostRows, signal });
}

export const groupKey = (kind: string, name: string, resource?: string) =>
  kind === "resource" ? `resource/${name}` : `view/${resource ?? ""}/${name}`;

const inside = (place: string | undefined, resource: string) =>
  place === resource ? groupKey("resource", resource) : groupKey("view", place ?? "", resource);

/** build makes the tree. The root is MAIN, or an invisible one for whoever sees only parts of the customer. */
export function build(places: Place[], counts: Count[]): Group {
  const groups = new Map<string, Group>();
  const make = (kind: Group["kind"], name: string, resource?: string): Group => ({
    key: groupKey(kind, name, resource),
    name,
    kind,
    resource,
    children: [],
    own: {},
    counts: {},
    total: 0,
  });
  for (const p of places) {
    const g = make(p.kind, p.name, p.kind === "view" ? p.resource : undefined);
    groups.set(g.key, g);
  }
  const main = groupKey("view", "MAIN");
  const root = groups.get(main) ?? make("view", "MAIN");
  groups.set(main, root);
  for (const p of places) {
    const g = groups.get(groupKey(p.kind, p.name, p.resource));
    if (!g || g === root) continue;
    const above = p.kind === "resource" ? groupKey("view", p.view ?? "") : aboveView(p);
    const parent = groups.get(above) ?? root;
    g.parent = parent;
    parent.children.push(g);
  }
  for (const c of counts) {
    const g = groups.get(inside(c.view, c.resource)) ?? groups.get(groupKey("resource", c.resource)) ?? root;
    g.own[c.status] = (g.own[c.status] ?? 0) + c.n;
  }
  sum(root);
  return root;
}

const aboveView = (p: Place) => (p.resource ? inside(p.parentview, p.resource) : groupKey("view", p.parentview ?? ""));

/** sum adds up from below, and puts the largest first. Nothing is a hundred levels deep, so it may call itself. */
function sum(g: Group) {
  g.counts = { ...g.own };
  for (const c of g.children) {
    sum(c);
    addTo(g.counts, c.counts);
  }
  g.total = totalOf(g.counts);
  g.children.sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
}

export function addTo(to: Counts, more: Counts) {
  for (const s of statuses) if (more[s]) to[s] = (to[s] ?? 0) + (more[s] ?? 0);
}

export const totalOf = (c: Counts) => statuses.reduce((n, s) => n + (c[s] ?? 0), 0);

export const worstOf = (c: Counts): Status => statuses.find((s) => c[s]) ?? "?";

/** find is a group by key, anywhere below a root. */
export function find(root: Group, key: string): Group | undefined {
  const stack = [root];
  for (let g = stack.pop(); g; g = stack.pop()) {
    if (g.key === key) return g;
    stack.push(...g.children);
  }
  return undefined;
}

/** shares are what a group is divided into: its children, and what is directly in it. The smallest are put together. */
export function shares(g: Group, most: number): Group[] {
  const parts = g.children.filter((c) => c.total > 0);
  const own = totalOf(g.own);
  if (own > 0 && parts.length > 0)
    parts.push({ ...g, key: `${g.key}/own`, name: "directly in it", children: [], counts: g.own, total: own });
  parts.sort((a, b) => b.total - a.total);
  if (parts.length <= most) return parts;
  const rest = parts.splice(most - 1);
  const counts: Counts = {};
  for (const r of rest) addTo(counts, r.counts);
  const name = `${rest.length.toLocaleString()} more`;
  const together = { ...g, key: `${g.key}/rest`, name, kind: "rest" as const, children: [], own: counts, counts };
  return [...parts, { ...together, total: totalOf(counts) }].sort((a, b) => b.total - a.total);
}
