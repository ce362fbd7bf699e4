// What somebody who is limited to views can see. No event tells such a person that an item was moved in or out, so it is compared
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

/** Seen notices that what can be seen has changed. */
export class Seen {
  private last?: string;

  /** changed takes what can be seen now, and reports whether it was something else before. */
  changed(now: string): boolean {
    const { last } = this;
    this.last = now;
    return last !== undefined && last !== now;
  }
}

/** useSeenChange calls a function when a person who is limited to views sees other items than before. */
export function useSeenChange(f: () => void) {
  const limited = !!usePerson().views?.length;
  const now = useQuery({
    queryKey: ["seen"],
    queryFn: ({ signal }) => readSeen(signal),
    enabled: limited,
    gcTime: 0,
    refetchInterval: every,
  }).data;
  const seen = useRef(new Seen());
  const latest = useRef(f);
  latest.current = f;
  useEffect(() => {
    if (now !== undefined && seen.current.changed(now)) latest.current();
  }, [now]);
}
