// How many objects have which status, of all that there are. It is above every page, and in the status list as long as
// nothing else is asked for: one number for one thing.
import { useQuery } from "@tanstack/react-query";
import { type Status, sql } from "../api";
import { client } from "../client";
import { useReadEvery } from "../session";

const key = ["summary"];

/** useSummary counts objects by status; undefined as long as no one knows. */
export const useSummary = (): ReadonlyMap<Status, number> | undefined =>
  useQuery({
    queryKey: key,
    queryFn: async () => {
      const q = "SELECT status, COUNT(*) AS n FROM objectstatus WHERE kind='object' GROUP BY status";
      return new Map((await sql<{ status: Status; n: number }>(q, { rows: 10 })).rows.map((r) => [r.status, r.n]));
    },
    refetchInterval: useReadEvery(30_000),
    structuralSharing: false,
  }).data;

/** recount counts again, unless a count is under way: that one may have begun too early, so it is to be asked for later. */
export function recount(): boolean {
  if (client.isFetching({ queryKey: key })) return false;
  void client.invalidateQueries({ queryKey: key });
  return true;
}

/** noteSummary takes numbers that another user has just read. */
export const noteSummary = (counts: ReadonlyMap<Status, number>) => client.setQueryData(key, counts);
