// What the list shows, in what order: read from the address, written into it, and made into a question to the service.
import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";
import { type Kind, quote, type Status } from "../../api";
import { kindsText } from "../../parts/actions/operations";
import { statuses, statusName } from "../../parts/StatusIcon";

export type Column = "status" | "name" | "view" | "class" | "since" | "info" | "lastdata";

export interface Filter {
  text: string;
  status: Status[];
  kind: Kind[];
  class: string;
  view: string;
  /** "yes", "no" or "" for both. */
  acknowledged: string;
  unmanaged: string;
  sort: Column;
  desc: boolean;
}

export const kinds: Kind[] = ["object", "resource", "view"];

/** Objects alone unless asked otherwise: what they are in has their status, and would be the same fault once more. */
const usual: Kind[] = ["object"];

/** rollsUp reports whether views and resources are shown beside objects. */
export const rollsUp = (f: Filter) => f.kind.length === kinds.length;

/** What the columns are called. */
export const columnNames: Record<Column, string> = {
  status: "Status",
  name: "Name",
  view: "Parent",
  class: "Class",
  since: "For",
  info: "Info",
  lastdata: "Last data",
};
export const columns = Object.keys(columnNames) as Column[];

/** The direction in which a column is worth reading first. */
export const firstDesc = (c: Column) => c === "status" || c === "since" || c === "lastdata";

const list = <T extends string>(text: string | null, known: readonly T[]): T[] =>
  known.filter((k) => (text ?? "").split(",").includes(k));

/** kindsOf reads the kinds; "all" is easier to read in an address than the three of them. */
function kindsOf(text: string | null): Kind[] {
  const asked = text === "all" ? kinds : list(text, kinds);
  return asked.length ? asked : usual;
}

const isUsual = (k: Kind[]) => k.length === 1 && k[0] === "object";

const answer = (text: string | null) => (text === "yes" || text === "no" ? text : "");

export function read(p: URLSearchParams): Filter {
  const [by, way] = (p.get("sort") ?? "").split(" ");
  const sort = columns.find((c) => c === by) ?? "status";
  return {
    text: p.get("text") ?? "",
    status: list(p.get("status"), statuses),
    kind: kindsOf(p.get("kind")),
    class: p.get("class") ?? "",
    view: p.get("view") ?? "",
    acknowledged: answer(p.get("acknowledged")),
    unmanaged: answer(p.get("unmanaged")),
    sort,
    desc: way ? way === "desc" : firstDesc(sort),
  };
}

/** write leaves out what goes without saying, so that plain addresses stay plain. */
export function write(f: Filter): URLSearchParams {
  const p = new URLSearchParams();
  const set = (name: string, value: string) => value && p.set(name, value);
  set("text", f.text);
  set("status", f.status.join(","));
  set("kind", isUsual(f.kind) ? "" : rollsUp(f) ? "all" : f.kind.join(","));
  set("class", f.class);
  set("view", f.view);
  set("acknowledged", f.acknowledged);
  set("unmanaged", f.unmanaged);
  if (f.sort !== "status" || !f.desc) p.set("sort", `${f.sort} ${f.desc ? "desc" : "asc"}`);
  return p;
}

export function useFilter(): [Filter, (part: Partial<Filter>) => void] {
  const [params, setParams] = useSearchParams();
  const text = params.toString();
  const filter = useMemo(() => read(new URLSearchParams(text)), [text]);
  const set = useCallback(
    (part: Partial<Filter>) => setParams((now) => write({ ...read(now), ...part }), { replace: true }),
    [setParams],
  );
  return [filter, set];
}

export const everything: Partial<Filter> = {
  text: "",
  status: [],
  kind: usual,
  class: "",
  view: "",
  acknowledged: "",
  unmanaged: "",
};

/** plain reports whether all objects are counted, whatever is shown of them. */
export const plain = (f: Filter) =>
  !(f.text.trim() || !f.kind.includes("object") || f.class || f.view || f.acknowledged || f.unmanaged);

/** narrows reports whether the filter leaves out objects. */
export const narrows = (f: Filter) => !plain(f) || f.status.length > 0;

/** inWords says what is shown and in what order, for paper. */
export function inWords(f: Filter): string {
  const parts = [
    `Shown: ${kindsText(f.kind)}`,
    f.status.length && `status ${f.status.map((s) => statusName(s)).join(" or ")}`,
    f.text.trim() && `with “${f.text.trim()}”`,
    f.class && `of the class ${f.class}`,
    f.view && `in ${f.view}`,
    f.acknowledged && (f.acknowledged === "yes" ? "acknowledged" : "not acknowledged"),
    f.unmanaged && (f.unmanaged === "yes" ? "unmanaged" : "managed"),
    f.sort === "status" && f.desc ? "the worst first" : `by ${columnNames[f.sort]}, ${f.desc ? "falling" : "rising"}`,
  ];
  return parts.filter(Boolean).join("; ");
}

// LIKE minds the case, so the usual ways to write a word are tried. What it takes for a sign matches any character.
function like(fields: string[], word: string): string {
  const capital = word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
  const ways = [...new Set([word, word.toLowerCase(), word.toUpperCase(), capital])];
  const pattern = (w: string) => quote(`%${w.replaceAll(/[\\%_]/g, "_")}%`);
  return fields.flatMap((f) => ways.map((w) => `${f} LIKE ${pattern(w)}`)).join(" OR ");
}

const oneOf = (field: string, values: string[]) => `${field} IN (${values.map(quote).join(", ")})`;

/** where is the condition of the filter; without the statuses, for counting what each of them would show. */
export function where(f: Filter, withStatus = true): string {
  const all: string[] = [];
  const words = f.text.trim().split(/\s+/).filter(Boolean).slice(0, 8);
  for (const w of words) all.push(`(${like(["name", "resource", "info", "note", "ack"], w)})`);
  if (withStatus && f.status.length) all.push(oneOf("status", f.status));
  if (f.kind.length < kinds.length) all.push(oneOf("kind", f.kind));
  if (f.class) all.push(`class = ${quote(f.class)}`);
  // A view has its content and, one step further, what is in that; a resource has everything inside.
  if (f.view) all.push(`(${["view", "parentview", "resource"].map((c) => `${c} = ${quote(f.view)}`).join(" OR ")})`);
  if (f.acknowledged) all.push(`acknowledged = ${f.acknowledged === "yes"}`);
  if (f.unmanaged) all.push(`isunmanaged = ${f.unmanaged === "yes"}`);
  return all.length ? ` WHERE ${all.join(" AND ")}` : "";
}

/** order is the column asked for, then what makes rows unique: the worst first, by name. */
export function order(f: Filter): string {
  const way = f.desc ? "DESC" : "ASC";
  if (f.sort === "status") return ` ORDER BY status ${way}, name ASC, resource ASC`;
  if (f.sort === "name") return ` ORDER BY name ${way}, resource ${way}`;
  if (f.sort === "view") return ` ORDER BY resource ${way}, view ${way}, name ${way}`;
  return ` ORDER BY ${f.sort} ${way}, name ASC`;
}

/** FilterProps are those of what shows a filter and changes it. */
export interface FilterProps {
  filter: Filter;
  onFilter: (part: Partial<Filter>) => void;
}
