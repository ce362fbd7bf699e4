import { type Kind, quote, type Status } from "../../api";

/** itemCondition finds the one item in objectstatus. A view outside of resources has none. */
export function itemCondition(i: { kind: Kind; name: string; resource?: string }): string {
  const where = [`kind = ${quote(i.kind)}`, `name = ${quote(i.name)}`];
  if (i.kind !== "resource" && i.resource) where.push(`resource = ${quote(i.resource)}`);
  if (i.kind === "view" && !i.resource) where.push("resource IS NULL");
  return where.join(" AND ");
}

/** ActionItem is what an operator does something with. */
export interface ActionItem {
  kind: Kind;
  name: string;
  resource?: string;
  status?: Status;
  acknowledged?: boolean;
  isunmanaged?: boolean;
  /** Armed: unmanaged whenever it is unavailable. */
  unmanageifred?: boolean;
  /** Of a window that is open or planned. */
  unmanagefrom?: string;
  note?: string;
}
