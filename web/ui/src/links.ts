// Addresses of pages. Names may hold anything, so they go into the query.
import type { Kind } from "./api";

function at(path: string, params: Record<string, string | undefined>): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) if (v) q.set(k, v);
  const text = q.toString();
  return text ? `${path}?${text}` : path;
}

export const link = {
  map: (view?: string, resource?: string) => at("/map", { view: view === "MAIN" ? undefined : view, resource }),
  treemap: () => "/treemap",
  status: (filter: { text?: string; status?: string; class?: string; view?: string; kind?: string } = {}) =>
    at("/status", filter),
  events: (filter: Record<string, string | undefined> = {}) => at("/events", filter),
  provisioning: (pkg?: string) => at("/provisioning", { package: pkg }),
  parameters: (page: string) => `/parameters/${page}`,
  class: (name: string) => at("/parameters/classes", { class: name }),
  policy: (name: string) => at("/parameters/policies", { policy: name }),
  /** The page of an item. Objects and views inside a resource need its name, too. */
  item: (i: { kind: Kind; name: string; resource?: string }) =>
    at("/item", { kind: i.kind, name: i.name, resource: i.kind === "resource" ? undefined : i.resource }),
};
