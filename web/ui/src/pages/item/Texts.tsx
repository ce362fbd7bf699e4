// An indicator that holds texts: what it said when, as a band of stretches and as a list of changes.
import "./item.css";
import { Group, Skeleton, Stack, Table, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type ExplainedValue, type StatusRow, sql } from "../../api";
import { AsSql } from "../../parts/AsSql";
import { Failure } from "../../parts/Page";
import { condition, endsOf, type Range, type RangeState } from "../../parts/Range";
import { local, Time } from "../../parts/Time";
import { bucket, pace, stepOf, whose } from "./series";

export interface Stretch {
  from: number;
  to: number;
  text: string;
  /** It said other things in between, too. */
  mixed: boolean;
}

const longest = 31 * 86400;
const mostChanges = 100;

const query = (row: StatusRow, n: number, range: Range, step: number) =>
  `SELECT TIMEBUCKET(timestamp, '${bucket(step)}') AS t, LAST(string${n}) AS text, COUNT(DISTINCT string${n}) AS different\nFROM objectdata\nWHERE ${whose(row)} AND string${n} IS NOT NULL AND ${condition(range)}\nGROUP BY t`;

interface Part {
  t: string;
  text: string;
  different: number;
}

/** stretches joins parts that say the same. A part lasts until the next begins, or until its own end where a gap is long. */
export function stretches(parts: Part[], step: number, to: number): Stretch[] {
  const out: Stretch[] = [];
  for (const [i, p] of parts.entries()) {
    const from = Date.parse(p.t) / 1000;
    const following = parts[i + 1];
    const next = following ? Date.parse(following.t) / 1000 : to;
    const end = next - from > step * 20 && following ? from + step : Math.min(next, to);
    const last = out[out.length - 1];
    if (last && last.text === p.text && p.different === 1 && !last.mixed && last.to >= from) last.to = end;
    else out.push({ from, to: end, text: p.text, mixed: p.different > 1 });
  }
  return out;
}

export function Texts({ row, value, range }: { row: StatusRow; value: ExplainedValue; range: RangeState }) {
  const [from, to] = endsOf(range.range);
  const step = Math.max(1, stepOf(to - from));
  const q = query(row, value.n, range.range, step);
  const fits = to - from <= longest;
  const found = useQuery({
    queryKey: ["texts", row.resource, row.name, value.n, range.range.key],
    queryFn: ({ signal }) => sql<Part>(q, { rows: 2000, signal }),
    enabled: fits,
    refetchInterval: pace(range.range),
    placeholderData: keepPreviousData,
  });
  const parts = found.data ? stretches(found.data.rows, step, to) : [];
  return (
    <Stack gap={4} component="section" aria-label={`${value.name} over time`}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" component="div">
          <Text span fw={600} size="sm">
            {value.name}
          </Text>{" "}
          <span className="name">{value.value}</span>
        </Text>
        <AsSql q={q} rows={2000} />
      </Group>
      {!fits && (
        <Text size="sm" c="dimmed">
          Texts have no summaries: their changes are shown for ranges of up to 31 days.
        </Text>
      )}
      {found.error && <Failure error={found.error} retry={() => found.refetch()} />}
      {fits && found.isPending && <Skeleton height={26} />}
      {fits && found.data && <Band parts={parts} from={from} to={to} />}
      {parts.length > 0 && <Changes parts={parts} name={value.name} />}
    </Stack>
  );
}

/** shade gives each text one of the colours of charts, always the same. */
function shade(text: string): string {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0;
  return `var(--chart-${(h % 6) + 1})`;
}

function Band({ parts, from, to }: { parts: Stretch[]; from: number; to: number }) {
  if (!parts.length)
    return (
      <Text size="sm" c="dimmed">
        No values in this range
      </Text>
    );
  const at = (t: number) => ((Math.min(Math.max(t, from), to) - from) / (to - from)) * 100;
  return (
    <div className="texts-band" aria-hidden="true">
      {parts.map((p) => (
        <div
          key={p.from}
          className="texts-part cut"
          title={`${p.text}${p.mixed ? " and others" : ""}, ${local(p.from * 1000)} to ${local(p.to * 1000)}`}
          style={{
            left: `${at(p.from)}%`,
            width: `${Math.max(0.3, at(p.to) - at(p.from))}%`,
            borderColor: shade(p.text),
          }}
        >
          {at(p.to) - at(p.from) > 3 && (p.mixed ? `${p.text}…` : p.text)}
        </div>
      ))}
    </div>
  );
}

function Changes({ parts, name }: { parts: Stretch[]; name: string }) {
  const [open, setOpen] = useState(false);
  const newest = [...parts].reverse().slice(0, mostChanges);
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <Text span size="sm">
          {parts.length === 1 ? "No change" : `${(parts.length - 1).toLocaleString()} changes`}
        </Text>
      </summary>
      {open && (
        <Table fz="sm" verticalSpacing={2} aria-label={`Changes of ${name}`}>
          <Table.Tbody>
            {newest.map((p) => (
              <Table.Tr key={p.from}>
                <Table.Td w={180}>
                  <Time at={new Date(p.from * 1000).toISOString()} />
                </Table.Td>
                <Table.Td className="name">
                  {p.text}
                  {p.mixed && " (and others in between)"}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </details>
  );
}
