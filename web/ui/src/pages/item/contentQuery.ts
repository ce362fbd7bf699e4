import { quote, type StatusRow } from "../../api";

export const pageSize = 100;

/** contentQuery asks for what is directly in a view or resource. A resource is a view with its own name. */
export function contentQuery(row: Pick<StatusRow, "name" | "kind" | "resource">, at: number): string {
  const name = quote(row.name);
  const inside = row.kind === "resource" ? row.name : row.resource;
  const where = inside
    ? `resource = ${quote(inside)} AND ((kind = 'object' AND view = ${name}) OR (kind = 'view' AND parentview = ${name}))`
    : `(kind = 'resource' AND view = ${name}) OR (kind = 'view' AND parentview = ${name} AND resource IS NULL)`;
  return `SELECT name, kind, resource, class, status, info, since, acknowledged, isunmanaged, note FROM objectstatus WHERE ${where} ORDER BY status DESC, name ASC, kind ASC LIMIT ${pageSize} OFFSET ${at}`;
}
