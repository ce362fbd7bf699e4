// A chart of values over time. uPlot is loaded with the first chart.
import "./chart/chart.css";
import { ActionIcon, Box, Group, Skeleton, Text, Tooltip } from "@mantine/core";
import { IconTable, IconZoomReset } from "@tabler/icons-react";
import { type KeyboardEvent, useId, useState } from "react";
import { Boundary } from "./Boundary";
import { when } from "./chart/axes";
import type { Level, Line } from "./chart/line";
import { brief } from "./chart/numbers";
import { colourOf } from "./chart/options";
import { Numbers, summary } from "./chart/Words";
import { later } from "./later";

const Plot = later(
  () => import("./chart/Plot"),
  () => <Skeleton height={180} />,
);

export interface ChartProps {
  lines: Line[];
  /** Epoch seconds. */
  from: number;
  to: number;
  height?: number;
  levels?: Level[];
  /** Of the chart; without it, those of its lines. */
  title?: string;
  /** Called when someone zooms, by dragging or by keys; without it the chart zooms by itself. */
  onZoom?: (from: number, to: number) => void;
  /** Called by a double click, by the button and by the key 0: go back to the range before. Absent: nothing to go back to. */
  onReset?: () => void;
  /** Charts of the same name share their cursor. */
  sync?: string;
}

export function Chart({
  lines,
  from,
  to,
  height = 180,
  levels = [],
  title,
  onZoom,
  onReset,
  sync = "page",
}: ChartProps) {
  const [own, setOwn] = useState<[number, number] | null>(null);
  const [table, setTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const id = useId();
  const shown: [number, number] = onZoom ? [from, to] : (own ?? [from, to]);
  const reset = onZoom ? onReset : own ? () => setOwn(null) : undefined;
  const zoom = (a: number, b: number) => {
    if (b - a < 2) return; // closer than that there is nothing to see
    if (onZoom) onZoom(a, b);
    else setOwn([a, b]);
  };
  const name = title ?? lines.map((l) => l.label).join(", ");
  const empty = lines.every((l) => l.points.length === 0);
  return (
    <Box component="figure" m={0} aria-label={name}>
      <Group justify="space-between" gap="xs" wrap="nowrap" mih={30}>
        <Readout lines={lines} title={title} at={at} />
        <Group gap={2} wrap="nowrap">
          {reset && (
            <Tooltip label="Back to the whole range (double click, or 0)">
              <ActionIcon variant="subtle" color="gray" onClick={reset} aria-label={`Reset the zoom of ${name}`}>
                <IconZoomReset size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <Tooltip label={table ? "Show as a chart" : "Show as a table"}>
            <ActionIcon
              variant={table ? "default" : "subtle"}
              color="gray"
              onClick={() => setTable(!table)}
              aria-pressed={table}
              aria-label={`Show ${name} as a table`}
            >
              <IconTable size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      {table ? (
        <Numbers lines={lines} label={name} />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: there is no element for a drawing that takes keys
        <div
          className="chart-plot"
          role="group"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys
          tabIndex={0}
          aria-label={`Chart of ${name}. Plus and minus zoom, the arrows move, 0 goes back.`}
          aria-describedby={id}
          onKeyDown={(e) => keyed(e, shown, zoom, reset)}
        >
          <Boundary of="part">
            <Plot
              lines={lines}
              levels={levels}
              from={shown[0]}
              to={shown[1]}
              height={height}
              sync={sync}
              onPoint={setAt}
              onZoom={zoom}
              onReset={() => reset?.()}
            />
          </Boundary>
          {empty && (
            <Text c="dimmed" size="sm" className="chart-empty">
              No values in this range
            </Text>
          )}
        </div>
      )}
      <p id={id} className="sr-only">
        {summary(lines, levels, shown[0], shown[1])}
      </p>
    </Box>
  );
}

/** keyed zooms and moves with the keyboard. */
function keyed(
  e: KeyboardEvent,
  [from, to]: [number, number],
  zoom: (a: number, b: number) => void,
  reset: (() => void) | undefined,
) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const span = to - from;
  if (e.key === "0") reset?.();
  else {
    const by = moves[e.key];
    if (!by) return;
    zoom(from + by[0] * span, to + by[1] * span);
  }
  e.preventDefault();
}

/** moves says by how much of what is shown the two ends go where. */
const moves: Record<string, [number, number]> = {
  "+": [0.25, -0.25],
  "=": [0.25, -0.25],
  "-": [-0.5, 0.5],
  ArrowLeft: [-0.2, -0.2],
  ArrowRight: [0.2, 0.2],
};

/** Readout names the lines and says their values where the pointer is, or the last ones. */
function Readout({ lines, title, at }: { lines: Line[]; title?: string; at: number | null }) {
  return (
    <Group gap="sm" style={{ minWidth: 0, rowGap: 0 }} aria-hidden="true">
      {title && lines.length > 1 && (
        <Text size="sm" fw={600} className="cut">
          {title}
        </Text>
      )}
      {lines.map((l, i) => (
        <Text key={l.label} size="sm" className="name" component="span">
          {lines.length > 1 && <span className="chart-key" style={{ background: colourOf(i) }} />}{" "}
          <Text span fw={lines.length > 1 ? 400 : 600} size="sm">
            {lines.length === 1 && title ? title : l.label}
          </Text>{" "}
          <Text span size="sm" className="number" c={at === null ? "dimmed" : undefined}>
            {valueAt(l, at)}
          </Text>
        </Text>
      ))}
      {at !== null && (
        <Text span size="xs" c="dimmed" className="number">
          {when(at)}
        </Text>
      )}
    </Group>
  );
}

function valueAt(line: Line, at: number | null): string {
  const i = at === null ? lastOf(line) : line.points.findIndex((p) => p[0] === at);
  const v = line.points[i]?.[1];
  if (v === null || v === undefined) return at === null ? "" : "–";
  const band = at === null ? undefined : line.band?.find((b) => b[0] === at);
  const text = brief(v, line.unit);
  return band && band[1] !== band[2] ? `${text} (${brief(band[1])} to ${brief(band[2], line.unit)})` : text;
}

function lastOf(line: Line): number {
  for (let i = line.points.length - 1; i >= 0; i--) if (line.points[i]?.[1] !== null) return i;
  return -1;
}
