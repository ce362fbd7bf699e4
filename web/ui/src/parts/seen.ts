// What someone who is limited to views can see. No event shows such a user that an item was moved in or out, so it is compared
// with what was there ten seconds ago: docs/decisions/056-sub-trees.md says why.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { sql } from "../api";
import { usePerson } from "../session";

const every = 10_000;

/** Items never leave their resource, so resources and views say what there is. */
export async function readSeen(signal?: AbortSignal): Promise<string> {
  const q = "SELECT id FROM objectstatus WHERE kind IN ('resource', 'view')";
  const { rows } = await sql<{ id: string }>(q, { rows: 100_000, signal });
  return rows
    .map((r) => r.id)
    .sort()
    .join(" ");
}

/** Seen notices that what can be seen has changed, or may have changed and back. */
export class Seen {
  private last?: string;
  private came = false;

  /** add notes that something came in. What it is about may be moved out again before the next comparison. */
  add() {
    this.came = true;
  }

  /** changed takes what can be seen now, and reports whether the rows that came in before may be others. */
  changed(now: string): boolean {
    const { last, came } = this;
    this.last = now;
    if (last === undefined) return false;
    this.came = false;
    return last !== now || came;
  }
}

/** useSeenChange calls a function when a person who is limited to views may see other rows than those that are shown. */
export function useSeenChange(rows: { id: string }[], f: () => void) {
  const limited = !!usePerson().views?.length;
  const { data: now, dataUpdatedAt: at } = useQuery({
    queryKey: ["seen"],
    queryFn: ({ signal }) => readSeen(signal),
    enabled: limited,
    gcTime: 0,
    refetchInterval: every,
  });
  const seen = useRef(new Seen());
  const latest = useRef(f);
  latest.current = f;
  const shown = useRef(new Set<string>());
  useEffect(() => {
    if (!limited) return;
    const before = shown.current;
    shown.current = new Set(rows.map((r) => r.id));
    if (rows.some((r) => !before.has(r.id))) seen.current.add();
  }, [limited, rows]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was read again may be the same
  useEffect(() => {
    if (now !== undefined && seen.current.changed(now)) latest.current();
  }, [now, at]);
}
