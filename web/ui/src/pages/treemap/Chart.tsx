// The tree map as it is drawn. Every status has a pattern beside its colour, and its sign where there is room.
import { memo } from "react";
import type { Status } from "../../api";
import { StatusIcon, statusColour, statuses, statusName } from "../../parts/StatusIcon";
import { type Counts, type Group, worstOf } from "./estate";
import { type Box, titleHeight } from "./layout";

const patternOf: Record<Status, string> = {
  "0": "ok",
  "1": "warning",
  "2": "major",
  "3": "critical",
  "-": "unavailable",
  "?": "unknown",
};

const marks: Record<Status, string> = {
  "0": "",
  "1": "M-2 2 2-2M0 8 8 0M6 10l4-4",
  "2": "M-2 6l4 4M0 0l8 8M6-2l4 4M4-1v10",
  "3": "M0 8 8 0M-2 2 2-2M6 10l4-4M0 0l8 8M6-2l4 4M-2 6l4 4",
  "-": "M0 2h8M0 6h8",
  "?": "M2 2h.1M6 6h.1",
};

// What needs nobody's attention is paler, so that the rest stands out.
const groundOf = (s: Status) =>
  s === "0" || s === "?" ? `color-mix(in srgb, ${statusColour(s)} 55%, var(--mantine-color-body))` : statusColour(s);

function Patterns() {
  return (
    <defs>
      {statuses.map((s) => (
        <pattern key={s} id={`treemap-${patternOf[s]}`} width="8" height="8" patternUnits="userSpaceOnUse">
          <rect width="8" height="8" fill={groundOf(s)} />
          <path d={marks[s]} className="treemap-mark" />
        </pattern>
      ))}
    </defs>
  );
}

export const said = (counts: Counts) =>
  statuses
    .filter((s) => counts[s])
    .map((s) => `${(counts[s] ?? 0).toLocaleString()} ${statusName(s)}`)
    .join(", ");

export const Chart = memo(function Chart({
  boxes,
  width,
  height,
  label,
  onOpen,
}: {
  boxes: Box[];
  width: number;
  height: number;
  label: string;
  onOpen: (g: Group) => void;
}) {
  return (
    <div className="treemap-chart" style={{ width, height }}>
      <svg width={width} height={height} role="img" aria-label={label}>
        <Patterns />
        {boxes.map((b) =>
          b.fields.map((f) => (
            <rect
              key={`${b.group.key} ${f.status}`}
              x={f.x}
              y={f.y}
              width={Math.max(0, f.width - 0.5)}
              height={Math.max(0, f.height - 0.5)}
              fill={`url(#treemap-${patternOf[f.status]})`}
              data-status={f.status}
            />
          )),
        )}
      </svg>
      {boxes.map((b) => (
        <BoxButton key={b.group.key} box={b} onOpen={onOpen} />
      ))}
    </div>
  );
});

function BoxButton({ box, onOpen }: { box: Box; onOpen: (g: Group) => void }) {
  const { group } = box;
  const text = `${group.name}: ${said(group.counts)}`;
  const sign = box.titled && box.width >= 70;
  // Within a box, only where there is room for a finger; the table has them all.
  const open = group.kind !== "rest" && box.width >= 24 && box.height >= 24 && !group.key.endsWith("/own");
  const style = { left: box.x, top: box.y, width: box.width, height: box.height };
  const inside = (
    <>
      {box.titled && (
        <span className="treemap-title" style={{ height: titleHeight }}>
          {sign && <StatusIcon status={worstOf(group.counts)} size={13} label={false} />}
          <span className="cut">{group.name}</span>
          {box.width >= 140 && <span className="treemap-total number">{group.total.toLocaleString()}</span>}
        </span>
      )}
      {box.fields
        .filter((f) => f.width >= 24 && f.height >= 24)
        .map((f) => (
          <span
            key={f.status}
            className="treemap-sign"
            style={{ left: f.x - box.x + f.width / 2, top: f.y - box.y + f.height / 2 }}
          >
            <StatusIcon
              status={f.status}
              size={Math.min(28, Math.max(14, Math.min(f.width, f.height) / 3))}
              label={false}
            />
            {f.width >= 54 && f.height >= 24 && <span className="number">{f.n.toLocaleString()}</span>}
          </span>
        ))}
    </>
  );
  // The button lies over what is seen, so that what is heard is not what is seen torn to pieces.
  return (
    <>
      <div className="treemap-box" data-depth={box.depth} style={style} title={text} aria-hidden="true">
        {inside}
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
