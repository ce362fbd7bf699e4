// The tree map as it is drawn: the areas on a canvas, and over them names, signs and buttons where there is room for them. The
// table says the same in numbers, and has all of it.
import { useComputedColorScheme } from "@mantine/core";
import { type MouseEvent, memo, useLayoutEffect, useRef } from "react";
import { StatusIcon, statuses, statusName } from "../../parts/StatusIcon";
import { draw } from "./draw";
import { type Box, type Layout, titleHeight } from "./layout";
import { type Counts, type Group, worstOf } from "./places";

const finger = 24; // pixels: what is smaller has no button
const legible = 32; // what is smaller has no sign

export const said = (counts: Counts) =>
  statuses
    .filter((s) => counts[s])
    .map((s) => `${(counts[s] ?? 0).toLocaleString()} ${statusName(s)}`)
    .join(", ");

const opens = (g: Group) => g.kind !== "rest" && !g.key.endsWith("/own");

export const Chart = memo(function Chart({
  layout: { boxes, fields },
  width,
  height,
  label,
  onOpen,
}: {
  layout: Layout;
  width: number;
  height: number;
  label: string;
  onOpen: (g: Group) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme("light");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the scheme has other colours
  useLayoutEffect(() => {
    if (canvas.current) draw(canvas.current, fields, width, height);
  }, [fields, width, height, scheme]);
  // What has no button can be clicked, too.
  const click = (e: MouseEvent) => {
    const { left, top } = e.currentTarget.getBoundingClientRect();
    const [x, y] = [e.clientX - left, e.clientY - top];
    const at = boxes.find((b) => b.depth === 1 && x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height);
    if (at && opens(at.group)) onOpen(at.group);
  };
  return (
    <div className="treemap-chart" style={{ width, height }}>
      <canvas ref={canvas} style={{ width, height }} role="img" aria-label={label} onClick={click} />
      {boxes
        .filter((b) => b.titled || (b.width >= finger && b.height >= finger))
        .map((b) => (
          <BoxButton key={b.group.key} box={b} onOpen={onOpen} />
        ))}
      {fields
        .filter((f) => f.width >= legible && f.height >= legible)
        .map((f) => (
          <span
            key={`${f.x} ${f.y}`}
            className="treemap-sign"
            aria-hidden="true"
            style={{ left: f.x + f.width / 2, top: f.y + f.height / 2 }}
          >
            <StatusIcon
              status={f.status}
              size={Math.min(28, Math.max(14, Math.min(f.width, f.height) / 3))}
              label={false}
            />
            {f.width >= 54 && <span className="number">{f.n.toLocaleString()}</span>}
          </span>
        ))}
    </div>
  );
});

function BoxButton({ box, onOpen }: { box: Box; onOpen: (g: Group) => void }) {
  const { group } = box;
  const text = `${group.name}: ${said(group.counts)}`;
  const sign = box.titled && box.width >= 70;
  const open = opens(group) && box.width >= finger && box.height >= finger;
  const style = { left: box.x, top: box.y, width: box.width, height: box.height };
  // The button lies over what is seen, so that what is heard is not what is seen torn to pieces.
  return (
    <>
      <div className="treemap-box" data-depth={box.depth} style={style} title={text} aria-hidden="true">
        {box.titled && (
          <span className="treemap-title" style={{ height: titleHeight }}>
            {sign && <StatusIcon status={worstOf(group.counts)} size={13} label={false} />}
            <span className="cut">{group.name}</span>
            {box.width >= 140 && <span className="treemap-total number">{group.total.toLocaleString()}</span>}
          </span>
        )}
      </div>
      {open && (
        <button
          type="button"
          className="treemap-hit"
          style={style}
          title={text}
          aria-label={text}
          onClick={() => onOpen(group)}
        />
      )}
    </>
  );
}
