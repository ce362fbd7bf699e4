// What the page of events shows, as it is in its address, and the same in the query language.
import { useMemo } from "react";
import { useSearchParams } from "wouter";
import { quote } from "../../api";
import { type Asked, queryOf } from "../../parts/paged";
import { condition, type Range } from "../../parts/Range";

export const eventFields = "timestamp, id, source, type, status, previous, resource, view, object, class, info, user";

export const types = ["alarm", "acknowledge", "manage", "note", "configuration", "login", "internal"];
export const sources = ["object", "resource", "view", "indicator", "user", "configuration", "system"];

/** Names of the address that hold one exact value each. */
export const exact = ["resource", "view", "object", "user", "class"] as const;

export interface Filter {
  /** Several, each of them is fine. */
  type: string[];
  status: string[];
  source: string[];
  exact: Partial<Record<(typeof exact)[number], string>>;
  /** Lucene. */
  words: string;
}

const list = (text: string | null) => (text ? text.split(",").filter(Boolean) : []);

export function useFilter() {
  const [params, setParams] = useSearchParams();
  const text = params.toString();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is all that they hold
  const filter = useMemo<Filter>(
    () => ({
      type: list(params.get("type")),
      status: list(params.get("status")),
      source: list(params.get("source")),
      exact: Object.fromEntries(exact.flatMap((k) => (params.get(k) ? [[k, params.get(k) ?? ""]] : []))),
      words: params.get("q") ?? "",
    }),
    [text],
  );
  const change = (set: Record<string, string | undefined>, replace = false) =>
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        for (const [k, v] of Object.entries(set)) {
          if (v) next.set(k, v);
          else next.delete(k);
        }
        return next;
      },
      { replace },
    );
  const clear = () =>
    change(Object.fromEntries(["type", "status", "source", "q", ...exact].map((k) => [k, undefined])));
  const by = params.get("by") === "type" ? ("type" as const) : ("status" as const);
  return { filter, change, clear, by };
}

export const isEmpty = (f: Filter) =>
  !f.type.length && !f.status.length && !f.source.length && !f.words && !Object.keys(f.exact).length;

function oneOf(field: string, values: string[]): string[] {
  if (!values.length) return [];
  if (values.length === 1) return [`${field} = ${quote(values[0] ?? "")}`];
  return [`${field} IN (${values.map(quote).join(", ")})`];
}

export function conditions(f: Filter, range: Range): string[] {
  return [
    condition(range),
    ...oneOf("type", f.type),
    ...oneOf("status", f.status),
    ...oneOf("source", f.source),
    ...Object.entries(f.exact).map(([k, v]) => `${k} = ${quote(v)}`),
  ];
}

export const askedOf = (f: Filter, range: Range): Asked => ({
  select: eventFields,
  from: "events",
  where: conditions(f, range),
  fq: f.words || undefined,
});

/** newerThan asks for what was stored after an event, whatever time it carries. */
export function newerThan(a: Asked, id: string): string {
  return queryOf({ ...a, where: [...a.where, `id > ${quote(id)}`] });
}
