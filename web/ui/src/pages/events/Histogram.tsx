// How many events there were when, by status or by type. A click on a bar looks closer.
import "./events.css";
import "../../parts/chart/chart.css";
import { Button, Group, Skeleton, Table, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { sql } from "../../api";
import { labelWidth, timeTicks, when } from "../../parts/chart/axes";
import { Failure } from "../../parts/Page";
import { endsOf, type Range, type RangeState } from "../../parts/Range";
import { StatusIcon, statusColour, statusName } from "../../parts/StatusIcon";
import { zone } from "../../parts/Time";
import { bucket } from "../item/series";
import { conditions, type Filter, types } from "./filter";

type By = "status" | "type";

interface Cell {
  t: string;
  n: number;
  status?: string;
  type?: string;
}

interface Bar {
  from: number;
  to: number;
  total: number;
  of: Map<string, number>;
}

const minute = 60;
const hour = 3600;
const day = 86400;
const steps = [
  ...[1, 5, 10, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 30 * day],
];

/** stepOf is the width of a bar: not more than about 75 of them. */
const stepOf = (span: number) => steps.find((s) => span / s <= 75) ?? 30 * day;

export const histogramQuery = (f: Filter, range: Range, by: By, step: number) =>
  `SELECT TIMEBUCKET(timestamp, '${bucket(step)}') AS t, ${by}, COUNT(*) AS n\nFROM events\nWHERE ${conditions(f, range).join("\n  AND ")}\nGROUP BY t, ${by}`;

/** barsOf fills in the bars of times at which nothing happened. */
function barsOf(cells: Cell[], by: By, step: number, from: number, to: number): Bar[] {
  const ahead = -new Date(to * 1000).getTimezoneOffset() * 60; // days begin at midnight here
  const begin = Math.floor((from + ahead) / step) * step - ahead;
  const bars: Bar[] = [];
  for (let t = begin; t < to; t += step) bars.push({ from: t, to: t + step, total: 0, of: new Map() });
  for (const c of cells) {
    const bar = bars[Math.round((Date.parse(c.t) / 1000 - begin) / step)];
    if (!bar) continue;
    const kind = c[by] ?? "";
    bar.total += c.n;
    bar.of.set(kind, (bar.of.get(kind) ?? 0) + c.n);
  }
  return bars;
}

const kindsOf: Record<By, string[]> = { status: ["0", "?", "1", "2", "3", "-", ""], type: types };

export const colourOf = (by: By, kind: string) => {
  if (by === "status") return kind ? statusColour(kind) : "var(--mantine-color-dimmed)";
  return `var(--chart-${(types.indexOf(kind) % 6) + 1})`;
};

const nameOf = (by: By, kind: string) => (by === "type" ? kind : kind ? statusName(kind) : "without a status");

export function Histogram({ filter, range, by }: { filter: Filter; range: RangeState; by: By }) {
  const { ref, width } = useElementSize();
  const [table, setTable] = useState(false);
  const span = range.range.span ?? (range.range.to ?? 0) - (range.range.from ?? 0);
  const step = stepOf(span);
  const data = useQuery({
    queryKey: ["histogram", filter, range.range.key, by],
    queryFn: async ({ signal }) => {
      const [from, to] = endsOf(range.range);
      const { rows } = await sql<Cell>(histogramQuery(filter, range.range, by, step), {
        rows: 2000,
        tz: zone,
        fq: filter.words || undefined,
        signal,
      });
      return barsOf(rows, by, step, from, to);
    },
    placeholderData: keepPreviousData,
    refetchInterval: range.range.span ? 30_000 : false,
  });
  const bars = data.data ?? [];
  const sum = (kind: string) => bars.reduce((n, b) => n + (b.of.get(kind) ?? 0), 0);
  const seen = kindsOf[by].filter((k) => sum(k) > 0).reverse();
  const total = bars.reduce((n, b) => n + b.total, 0);
  return (
    <div ref={ref}>
      {data.error && <Failure error={data.error} retry={() => data.refetch()} />}
      {!data.data && !data.error && <Skeleton height={130} />}
      {data.data && width > 0 && <Bars bars={bars} by={by} width={width} step={step} onZoom={range.zoom} />}
      {data.data && (
        <Group gap="md" mt={4} style={{ rowGap: 2 }}>
          <Text size="sm" fw={600} className="number" role="status">
            {total.toLocaleString()} {total === 1 ? "event" : "events"}
          </Text>
          {seen.map((k) => (
            <Group key={k} gap={5} wrap="nowrap">
              {by === "status" && k ? (
                <StatusIcon status={k} size={14} label={false} />
              ) : (
                <span className="chart-key" style={{ background: colourOf(by, k) }} />
              )}
              <Text size="sm" className="number">
                {nameOf(by, k)} {sum(k).toLocaleString()}
              </Text>
            </Group>
          ))}
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            c="inherit"
            onClick={() => setTable(!table)}
            aria-pressed={table}
          >
            {table ? "Hide the table" : "As a table"}
          </Button>
        </Group>
      )}
      {table && <Counts bars={bars} by={by} kinds={seen} />}
    </div>
  );
}

const height = 110;
const foot = 30;

/** Bars are one stop for the keyboard: the arrows go from one to the next, Enter looks closer. */
function Bars({
  bars,
  by,
  width,
  step,
  onZoom,
}: {
  bars: Bar[];
  by: By;
  width: number;
  step: number;
  onZoom: (from: number, to: number) => void;
}) {
  const [at, setAt] = useState(bars.length - 1);
  const current = Math.min(Math.max(at, 0), bars.length - 1);
  const most = Math.max(1, ...bars.map((b) => b.total));
  const wide = width / bars.length;
  const room = labelWidth(step);
  const every = Math.max(1, Math.ceil((room + 18) / wide));
  const marked = bars.map((b, i) => (i % every === 0 && i * wide + room <= width ? b.from : null));
  const labels = timeTicks(marked, step);
  const key = (e: KeyboardEvent<SVGGElement>, i: number) => {
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: bars.length - 1 }[e.key];
    if (to !== undefined) {
      const next = Math.min(Math.max(to, 0), bars.length - 1);
      setAt(next);
      (e.currentTarget.parentElement?.children[next] as SVGGElement | undefined)?.focus();
    } else if (e.key === "Enter" || e.key === " ") zoom(bars[i]);
    else return;
    e.preventDefault();
  };
  const zoom = (b?: Bar) => b && step > 1 && onZoom(b.from, b.to);
  return (
    // biome-ignore lint/a11y/useSemanticElements: there is no element for a drawing of bars
    <svg className="histogram" width={width} height={height + foot} role="group" aria-label="Events over time">
      <text x={0} y={9}>
        {most.toLocaleString()}
      </text>
      <g>
        {bars.map((b, i) => (
          // biome-ignore lint/a11y/useSemanticElements: a part of a drawing cannot be a button element
          <g
            key={b.from}
            role="button"
            tabIndex={i === current ? 0 : -1}
            aria-label={saying(b, by)}
            onClick={() => zoom(b)}
            onKeyDown={(e) => key(e, i)}
            onFocus={() => setAt(i)}
          >
            <title>{saying(b, by)}</title>
            <rect className="hit" x={i * wide} y={0} width={wide} height={height} />
            <Stack bar={b} by={by} x={i * wide} width={wide} most={most} />
          </g>
        ))}
      </g>
      <line className="base" x1={0} x2={width} y1={height} y2={height} />
      {labels.map((text, i) =>
        text.split("\n").map((t, k) => (
          <text key={`${bars[i]?.from} ${t}`} x={i * wide} y={height + 12 + k * 13}>
            {t}
          </text>
        )),
      )}
    </svg>
  );
}

const saying = (b: Bar, by: By) => {
  const parts = kindsOf[by].filter((k) => b.of.get(k)).map((k) => `${b.of.get(k)?.toLocaleString()} ${nameOf(by, k)}`);
  return `${when(b.from)}: ${parts.length ? parts.join(", ") : "nothing"}`;
};

function Stack({ bar, by, x, width, most }: { bar: Bar; by: By; x: number; width: number; most: number }) {
  let top = height;
  const room = height - 14;
  return kindsOf[by].map((k) => {
    const n = bar.of.get(k) ?? 0;
    if (!n) return null;
    const h = Math.max((n / most) * room, 1.5);
    top -= h;
    return (
      <rect
        key={k}
        x={x + Math.min(1, width / 8)}
        y={top}
        width={Math.max(1, width - Math.min(2, width / 4))}
        height={h}
        fill={colourOf(by, k)}
      />
    );
  });
}

/** Counts is the histogram as a table. */
function Counts({ bars, by, kinds }: { bars: Bar[]; by: By; kinds: string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section className="chart-numbers" aria-label="Events over time as a table" tabIndex={0}>
      <Table fz="xs" verticalSpacing={2} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>From</Table.Th>
            {kinds.map((k) => (
              <Table.Th key={k} ta="right">
                {nameOf(by, k)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bars
            .filter((b) => b.total > 0)
            .reverse()
            .map((b) => (
              <Table.Tr key={b.from}>
                <Table.Td className="number">{when(b.from)}</Table.Td>
                {kinds.map((k) => (
                  <Table.Td key={k} ta="right" className="number">
                    {b.of.get(k)?.toLocaleString() ?? 0}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
