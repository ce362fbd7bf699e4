// What of an item's page has to be read again after changes. What a message of the stream says is shown without reading.
import type { EventRow, Kind, StatusRow } from "../../api";
import type { StatusChange } from "../../live";
import { around } from "../map/tree";

export interface ItemName {
  kind: Kind;
  name: string;
  resource?: string;
}

/** A part of the page; its name begins the keys of its queries. */
export type Part = "item" | "explain" | "content" | "contentcounts" | "itemevents";

export const allParts: Part[] = ["item", "explain", "content", "contentcounts", "itemevents"];

function isItem(c: StatusRow, i: ItemName): boolean {
  if (c.kind !== i.kind || c.name !== i.name) return false;
  return i.kind === "resource" || c.resource === i.resource || (i.kind === "object" && !i.resource);
}

const isInside = (c: StatusRow, i: ItemName) =>
  i.kind !== "object" &&
  around(c) === (i.kind === "resource" ? `resource/${i.name}/${i.name}` : `view/${i.resource ?? ""}/${i.name}`);

/** isNear reports whether something is in the item, or in what is in it: the explanation may name it. */
const isNear = (c: StatusRow, i: ItemName) => i.kind !== "object" && (c.view === i.name || c.parentview === i.name);

/** partsAfterChanges are the parts to read again after changes of statuses. */
export function partsAfterChanges(changes: StatusChange[], i: ItemName): Part[] {
  const own = changes.some((c) => isItem(c, i));
  const parts: Part[] = [];
  if (own) parts.push("item");
  if (own || changes.some((c) => isNear(c, i))) parts.push("explain");
  if (changes.some((c) => isInside(c, i))) parts.push("content"); // which is in another order now
  return parts;
}

/** partsAfterEvents are those after events. Alarms come as changes, too. */
export function partsAfterEvents(events: EventRow[], i: ItemName): Part[] {
  // A change of the configuration may be one of anything on the page, and names no item. With what is moved its history is, too.
  if (events.some((e) => e.type === "configuration")) return allParts;
  // Management is inherited, so events of what the item is in count as well.
  const about = (e: EventRow) =>
    [e.object, e.resource, e.view].some((n) => n !== undefined && (n === i.name || n === i.resource));
  return events.some((e) => e.type !== "alarm" && about(e)) ? ["item", "explain", "content"] : [];
}

/** ownChanges are the changes of the item itself. */
export const ownChanges = (changes: StatusChange[], i: ItemName) => changes.filter((c) => isItem(c, i));

/** isEventOf reports whether an event is one that the page lists: see aboutItem, which asks for the same. */
export function isEventOf(e: EventRow, row: Pick<StatusRow, "kind" | "name" | "resource">): boolean {
  if (row.kind === "object") return e.resource === row.resource && e.object === row.name;
  if (row.kind === "resource") return e.resource === row.name;
  if (row.resource) return e.resource === row.resource && e.view === row.name;
  return e.view === row.name && (e.resource === undefined || e.source === "resource");
}

/** isProblemOf reports the same for the list of problems. */
export const isProblemOf = (e: EventRow, row: Pick<StatusRow, "kind" | "name" | "resource">): boolean =>
  isEventOf(e, row) &&
  e.type === "alarm" &&
  (e.status ?? "") > "0" &&
  e.source === (row.kind === "view" && !row.resource ? "resource" : "object");
