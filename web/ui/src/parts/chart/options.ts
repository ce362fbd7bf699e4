// How a chart is drawn: the options of uPlot, made of lines, levels and the colours of the page.
import type uPlot from "uplot";
import { type Column, lonely } from "./align";
import { labelWidth, reach, timeTicks } from "./axes";
import type { Level, Line } from "./line";
import { isBytes, ticks } from "./numbers";

export interface Wants {
  /** Where the pointer is: the index of a time, or null when it has left. */
  onPoint: (idx: number | null, u: uPlot) => void;
  onDrawn: (u: uPlot) => void;
  onZoom: (from: number, to: number) => void;
  onReset: () => void;
}

export const colourNames = 6;
export const colourOf = (i: number) => `var(--chart-${(i % colourNames) + 1})`;

/** paint reads colours as the page has them now; a canvas does not know variables. */
export function paint(at: Element) {
  const style = getComputedStyle(at);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    line: (i: number) => read(`--chart-${(i % colourNames) + 1}`) || "#00766b",
    text: read("--mantine-color-dimmed") || "#666",
    grid: read("--line") || "#ccc",
    font: `11px ${style.fontFamily}`,
    status: (name: string) => read(name.replace(/^var\((.*)\)$/, "$1")) || "#888",
  };
}

export type Paint = ReturnType<typeof paint>;

function seriesOf(lines: Line[], p: Paint): { series: uPlot.Series[]; bands: uPlot.Band[] } {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const [i, line] of lines.entries()) {
    const colour = p.line(i);
    series.push({
      label: line.label,
      stroke: colour,
      width: 1.5,
      points: {
        size: 4,
        fill: colour,
        filter: (u, k, show) => (show ? null : lonely(u.data[k] as Column)),
      },
    });
    if (!line.band) continue;
    const edge = { stroke: "transparent", points: { show: false } };
    series.push({ ...edge, label: `${line.label}, lowest` }, { ...edge, label: `${line.label}, highest` });
    bands.push({ series: [series.length - 1, series.length - 2], fill: `${colour}33` });
  }
  return { series, bands };
}

/** binarySteps are round numbers of bytes, KiB, MiB and so on. */
const binarySteps = [...Array(6).keys()].flatMap((power) =>
  [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((n) => n * 1024 ** power),
);

function axesOf(unit: string | undefined, p: Paint): uPlot.Axis[] {
  const common = { stroke: p.text, font: p.font, grid: { stroke: p.grid, width: 1 }, ticks: { show: false } };
  return [
    {
      ...common,
      space: 72,
      size: 36,
      values: (_u, splits, _axis, _space, step) => timeTicks(splits, step),
    },
    {
      ...common,
      space: 32,
      incrs: isBytes(unit) ? binarySteps : undefined,
      values: (_u, splits) => ticks(splits, unit),
      size: (_u, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((v) => v.length)),
    },
  ];
}

export function optionsOf(
  lines: Line[],
  levels: Level[],
  size: { width: number; height: number },
  sync: string,
  p: Paint,
  want: Wants,
): uPlot.Options {
  const unit = lines[0]?.unit;
  const marks = levels.map((l) => l.value);
  return {
    ...size,
    ...seriesOf(lines, p),
    axes: axesOf(unit, p),
    scales: {
      x: { time: true, auto: false },
      y: { range: (_u, low, high) => reach(low, high, marks, unit) },
    },
    legend: { show: false },
    padding: [8, Math.ceil(labelWidth(1) / 2), 0, 0], // the last time is in the middle below its tick
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 6 },
      points: { size: 7 },
      // The others follow the pointer; a selection is made in one alone.
      sync: { key: sync, setSeries: false, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
      bind: {
        dblclick: () => () => {
          want.onReset();
          return null;
        },
      },
    },
    hooks: {
      draw: [(u) => want.onDrawn(u)],
      setCursor: [
        (u) => want.onPoint(u.cursor.left === undefined || u.cursor.left < 0 ? null : (u.cursor.idx ?? null), u),
      ],
      setSelect: [
        (u) => {
          if (u.select.width < 6) return;
          const [a, b] = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          want.onZoom(a, b);
        },
      ],
    },
  };
}

/** drawLevels draws the levels as dashed lines behind the values' place; their words are beside them in the page. */
export function drawLevels(u: uPlot, levels: Level[], colour: (l: Level) => string) {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  ctx.save();
  ctx.lineWidth = Math.max(1, devicePixelRatio);
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  for (const l of levels) {
    const y = Math.round(u.valToPos(l.value, "y", true));
    if (y < top || y > top + height) continue;
    ctx.strokeStyle = colour(l);
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
  }
  ctx.restore();
}
