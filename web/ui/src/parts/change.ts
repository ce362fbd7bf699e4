import type { StatusRow } from "../api";
import type { StatusChange } from "../live";
import { itemKey } from "./actions/operations";

/** changed is a row after a change of its item. What a message leaves out is not so; what it cannot say stays. */
export function changed<
  R extends Pick<
    StatusRow,
    "name" | "kind" | "resource" | "status" | "since" | "info" | "acknowledged" | "isunmanaged"
  >,
>(row: R, c: StatusChange): R {
  const { name, kind, resource, status, since, info } = c;
  return {
    ...row,
    name,
    kind,
    resource: resource ?? row.resource,
    status,
    since,
    info,
    acknowledged: !!c.acknowledged,
    ...("ack" in row && !c.acknowledged && { ack: undefined }),
    isunmanaged: !!c.isunmanaged,
  };
}

/** changedRows applies changes to rows. Without a change of one of them it is the same list. */
export function changedRows<R extends Parameters<typeof changed>[0]>(rows: R[], changes: StatusChange[]): R[] {
  const of = new Map(changes.map((c) => [itemKey(c), c]));
  if (!rows.some((r) => of.has(itemKey(r)))) return rows;
  return rows.map((r) => {
    const c = of.get(itemKey(r));
    return c ? changed(r, c) : r;
  });
}
