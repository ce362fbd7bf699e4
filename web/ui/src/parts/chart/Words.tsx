// A chart in words and as a table, for those who do not see it and those who want the numbers.
import { Table } from "@mantine/core";
import { statusName } from "../StatusIcon";
import { when } from "./axes";
import type { Level, Line } from "./line";
import { brief, full } from "./numbers";

const known = (line: Line) => line.points.filter((p): p is [number, number] => p[1] !== null);

/** inWords sums a line up. */
function inWords(line: Line): string {
  const points = known(line);
  if (!points.length) return `${line.label}: no values.`;
  let [low, high, sum] = [Infinity, -Infinity, 0];
  for (const [, v] of points) {
    low = Math.min(low, v);
    high = Math.max(high, v);
    sum += v;
  }
  for (const [, a, b] of line.band ?? []) {
    low = Math.min(low, a);
    high = Math.max(high, b);
  }
  const last = points[points.length - 1] as [number, number];
  const say = (v: number) => brief(v, line.unit);
  return `${line.label}: between ${say(low)} and ${say(high)}, ${say(sum / points.length)} on average, last ${say(last[1])} at ${when(last[0])}.`;
}

export function summary(lines: Line[], levels: Level[], from: number, to: number): string {
  const limits = levels.map((l) =>
    l.label.startsWith(statusName(l.status)) ? `${l.label}.` : `${statusName(l.status)} ${l.label}.`,
  );
  return [`From ${when(from)} to ${when(to)}.`, ...lines.map(inWords), ...limits].join(" ");
}

const most = 500;

/** Numbers are the values as a table, the newest first. */
export function Numbers({ lines, label }: { lines: Line[]; label: string }) {
  const rows = new Map<number, (string | undefined)[]>();
  const columns = lines.flatMap((l) => (l.band ? [l.label, "Lowest", "Highest"] : [l.label]));
  let column = 0;
  const put = (t: number, at: number, text: string) => {
    const row = rows.get(t) ?? [];
    row[at] = text;
    rows.set(t, row);
  };
  for (const line of lines) {
    for (const [t, v] of known(line)) put(t, column, full(v, line.unit));
    for (const [t, a, b] of line.band ?? []) {
      put(t, column + 1, full(a, line.unit));
      put(t, column + 2, full(b, line.unit));
    }
    column += line.band ? 3 : 1;
  }
  const times = [...rows.keys()].sort((a, b) => b - a);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section className="chart-numbers" aria-label={`${label} as a table`} tabIndex={0}>
      <Table stickyHeader withRowBorders fz="xs" verticalSpacing={2}>
        <Table.Caption>
          {times.length > most
            ? `The newest ${most} of ${times.length.toLocaleString()} values`
            : `${times.length} values`}
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            {columns.map((c, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
              <Table.Th key={i} ta="right">
                {c}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {times.slice(0, most).map((t) => (
            <Table.Tr key={t}>
              <Table.Td className="number">
                <time dateTime={new Date(t * 1000).toISOString()} title={`${new Date(t * 1000).toISOString()} (UTC)`}>
                  {when(t)}
                </time>
              </Table.Td>
              {columns.map((_, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns do not move
                <Table.Td key={i} ta="right" className="number">
                  {rows.get(t)?.[i] ?? ""}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
