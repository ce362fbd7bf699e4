// The drawing itself. This part brings uPlot along, so it is loaded with the first chart of a page.
import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { StatusIcon, statusColour } from "../StatusIcon";
import { align } from "./align";
import type { Level, Line } from "./line";
import { marksOf } from "./marks";
import { drawLevels, optionsOf, paint, type Wants } from "./options";

export interface PlotProps {
  lines: Line[];
  levels: Level[];
  from: number;
  to: number;
  height: number;
  sync: string;
  onPoint: (time: number | null) => void;
  onZoom: (from: number, to: number) => void;
  onReset: () => void;
}

/** placed gives the words of the levels their places in a chart; the newest values are on the right. */
function placed(u: uPlot, levels: Level[]) {
  const at = (pixels: number) => pixels / devicePixelRatio;
  const left = Math.round(at(u.bbox.left)) + 4;
  const top = at(u.bbox.top);
  const marks = marksOf(levels, (v) => top + u.valToPos(v, "y"), top, at(u.bbox.height));
  return marks.map((m) => ({ ...m, left }));
}

const dataOf = (lines: Line[]) => {
  const { times, columns } = align(lines);
  return [times, ...columns] as uPlot.AlignedData;
};

export default function Plot(props: PlotProps) {
  const { lines, levels, from, to, height, sync } = props;
  const scheme = useComputedColorScheme("light");
  const at = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [marks, setMarks] = useState<ReturnType<typeof placed>>([]);
  // What needs another drawing; everything else only needs other data.
  const shape = JSON.stringify([lines.map((l) => [l.label, l.unit, !!l.band]), levels, height, sync, scheme]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: shape says all that it is made of
  useEffect(() => {
    const box = at.current;
    if (!box) return;
    const p = paint(box);
    const want: Wants = {
      onPoint: (idx, u) => latest.current.onPoint(idx === null ? null : (u.data[0][idx] ?? null)),
      onZoom: (a, b) => latest.current.onZoom(a, b),
      onReset: () => latest.current.onReset(),
      onDrawn: (u) => {
        drawLevels(u, levels, (l) => p.status(statusColour(l.status)));
        setMarks((old) => {
          const now = placed(u, levels);
          return JSON.stringify(old) === JSON.stringify(now) ? old : now;
        });
      },
    };
    const size = { width: Math.max(box.clientWidth, 120), height };
    const u = new uPlot(optionsOf(lines, levels, size, sync, p, want), dataOf(latest.current.lines), box);
    plot.current = u;
    u.setScale("x", { min: latest.current.from, max: latest.current.to });
    const watch = new ResizeObserver(() => {
      if (box.clientWidth > 0 && box.clientWidth !== u.width) u.setSize({ width: box.clientWidth, height });
    });
    watch.observe(box);
    return () => {
      watch.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    u.batch(() => {
      u.setData(dataOf(lines), false);
      u.setScale("x", { min: from, max: to });
    });
  }, [lines, from, to]);

  return (
    <div ref={at} style={{ height, position: "relative" }} aria-hidden="true">
      {marks.map((m) => (
        <span key={m.label} className="chart-level" style={{ top: m.top, left: m.left }}>
          <StatusIcon status={m.status} size={12} label={false} />
          <span className="cut">{m.label}</span>
        </span>
      ))}
    </div>
  );
}
