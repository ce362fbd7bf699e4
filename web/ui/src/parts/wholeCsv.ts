// An answer of any length as one CSV file. The service gives 100,000 rows at a time, so it is asked for page after page, each after the
// last row of the one before. docs/guide/query.md, "Whole answers", has the same for scripts.
import { csvPage } from "../api";
import { cells, cutAll } from "../pages/provisioning/csv";

/**
 * wholeCsv reads all rows of a query whose first two fields are timestamp and id. The times in it must be fixed: NOW would be another for
 * every page. It gives all of it or fails.
 */
export async function wholeCsv(
  q: string,
  ask: { fq?: string; rows?: number },
  signal: AbortSignal,
  onRows: (n: number) => void,
): Promise<Blob> {
  const parts: string[] = [];
  let total = 0;
  for (let after: string | undefined; ; ) {
    const { csv, limit } = await csvPage(q, { ...ask, after, signal });
    const { count, from, to } = await cutAll(csv, undefined, signal);
    const rows = Math.max(0, count - 1); // without the header
    if (after === undefined) parts.push(csv);
    else if (rows > 0) parts.push(csv.slice(from[1]));
    total += rows;
    onRows(total);
    if (rows < limit) return new Blob(parts, { type: "text/csv" });
    const [timestamp, id] = cells(csv.slice(from[rows], to[rows]));
    after = `${timestamp},${id}`;
  }
}
