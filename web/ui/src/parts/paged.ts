// Rows of a historical collection, the newest first, page after page. Each page begins behind the last row of the one before,
// so it costs the same however deep one scrolls.
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { type Answer, quote, sql } from "../api";

export interface Kept {
  id: string;
  timestamp: string;
}

export interface Asked {
  select: string;
  from: string;
  where: string[];
  fq?: string;
}

/** queryOf writes the query, of the rows behind one if that is given. */
export function queryOf(a: Asked, behind?: Kept): string {
  const where = [...a.where];
  if (behind) {
    const t = quote(behind.timestamp);
    where.push(`timestamp <= ${t} AND (timestamp < ${t} OR id < ${quote(behind.id)})`);
  }
  return `SELECT ${a.select}\nFROM ${a.from}${where.length ? `\nWHERE ${where.join("\n  AND ")}` : ""}`;
}

export const pageSize = 200;

export function usePaged<Row extends Kept>(
  key: readonly unknown[],
  asked: Asked,
  o: { size?: number; refetchInterval?: number | false; enabled?: boolean } = {},
) {
  const size = o.size ?? pageSize;
  return useInfiniteQuery<Answer<Row>, Error, InfiniteData<Answer<Row>>, readonly unknown[], Row | undefined>({
    queryKey: [...key, asked, size],
    queryFn: ({ pageParam, signal }) =>
      sql<Row>(queryOf(asked, pageParam as Row | undefined), { rows: size, fq: asked.fq, signal }),
    initialPageParam: undefined,
    getNextPageParam: (last) => (last.more ? last.rows[last.rows.length - 1] : undefined),
    refetchInterval: o.refetchInterval,
    enabled: o.enabled,
  });
}

export const rowsOf = <Row>(data?: InfiniteData<Answer<Row>>): Row[] => data?.pages.flatMap((p) => p.rows) ?? [];
