// What is drawn beside the items: labels, pictures, links.
import { IconUnlink } from "@tabler/icons-react";
import { memo, useEffect, useState } from "react";
import { pictures, type TreeItem } from "../../api";
import { StatusIcon, statusColour, statusName } from "../../parts/StatusIcon";
import { isColour, readable } from "./colour";
import { scaled } from "./Icon";
import { centre, type Line, labelSize, labelText, removedEnds, type Spot, type Stub } from "./scene";

interface Drawn {
  spot: Spot;
  chosen: boolean;
  editing: boolean;
}

/** Label is text. In edit mode it is something to be taken hold of. */
export const Label = memo(function Label({ spot, chosen, editing, ground }: Drawn & { ground: string }) {
  const { item } = spot;
  const colour = item.answers?.colour;
  const style = {
    left: scaled(spot.left),
    top: scaled(spot.top),
    fontSize: `max(7px, ${scaled(labelSize(item) * 0.667)})`,
    color: isColour(colour) ? readable(colour, ground) : undefined,
  };
  if (!editing)
    return (
      <span className="map-label" style={style}>
        {labelText(item)}
      </span>
    );
  return (
    <button
      type="button"
      className="map-label"
      style={style}
      data-key={spot.key}
      data-chosen={chosen || undefined}
      aria-pressed={chosen}
      aria-label={`Label ${item.name}: ${labelText(item)}`}
    >
      {labelText(item)}
    </button>
  );
});

/** Shown is a picture of the service, or a frame with its name as long as there is none. */
export function Shown({ name, alt, onLoad }: { name: string; alt: string; onLoad?: (w: number, h: number) => void }) {
  const [missing, setMissing] = useState("");
  // A picture that could not be shown may have been uploaded since, under the same name.
  useEffect(() => setMissing((m) => (m === name ? m : "")), [name]);
  if (missing === name)
    return (
      <span className="map-missing" title="This picture has not been uploaded, or cannot be shown">
        {name}
      </span>
    );
  return (
    <img
      src={pictures.address(name)}
      alt={alt}
      draggable={false}
      onError={() => setMissing(name)}
      onLoad={(e) => onLoad?.(e.currentTarget.naturalWidth, e.currentTarget.naturalHeight)}
    />
  );
}

export const Picture = memo(function Picture({ spot, chosen, editing }: Drawn) {
  const { item } = spot;
  const style = {
    left: scaled(spot.left),
    top: scaled(spot.top),
    width: scaled(spot.width),
    height: scaled(spot.height),
  };
  const name = item.answers?.picture ?? "";
  if (!editing)
    return (
      <div className="map-picture" style={style}>
        <Shown name={name} alt={item.name} />
      </div>
    );
  return (
    <>
      <button
        type="button"
        className="map-picture"
        style={style}
        data-key={spot.key}
        data-chosen={chosen || undefined}
        aria-pressed={chosen}
        aria-label={`Picture ${item.name}`}
      >
        <Shown name={name} alt="" />
      </button>
      {chosen && (
        <span
          className="map-handle"
          data-resize={spot.key}
          style={{
            right: "auto",
            bottom: "auto",
            left: scaled(spot.left + spot.width),
            top: scaled(spot.top + spot.height),
          }}
        />
      )}
    </>
  );
});

// The dashes say the same as the colours.
const dashes: Record<string, string | undefined> = {
  "0": undefined,
  "1": "10 4",
  "2": "6 4",
  "3": "3 3",
  "-": "1 5",
  "?": "2 8",
};

export function Lines({
  lines,
  stubs,
  width,
  height,
}: {
  lines: Line[];
  stubs: Stub[];
  width: number;
  height: number;
}) {
  if (!lines.length && !stubs.length) return null;
  return (
    <svg
      className="map-lines"
      viewBox={`0 0 ${width} ${height}`}
      style={{ width: scaled(width), height: scaled(height) }}
      aria-hidden="true"
    >
      {lines.map((l) => {
        const [a, b] = [centre(l.from), centre(l.to)];
        return (
          <line
            key={l.key}
            x1={a.x}
            y1={a.y}
            x2={b.x}
            y2={b.y}
            stroke={statusColour(l.status)}
            strokeWidth={l.status === "0" || l.status === "?" ? 2 : 3.5}
            strokeDasharray={dashes[l.status]}
            strokeLinecap="round"
            data-link={l.item.name}
            data-status={l.status}
          />
        );
      })}
      {stubs.map((s) => (
        <line
          key={s.key}
          x1={s.x}
          y1={s.y}
          x2={s.toX}
          y2={s.toY}
          stroke="currentColor"
          strokeWidth={2}
          strokeDasharray="2 6"
          strokeLinecap="round"
          data-link={s.item.name}
          data-broken
        />
      ))}
    </svg>
  );
}

/** brokenSaying says what an element names and has been removed. */
export function brokenSaying(i: TreeItem): string {
  const ends = removedEnds(i);
  return `${ends.join(" and ")} ${ends.length > 1 ? "have" : "has"} been removed`;
}

export const linkSaying = (i: TreeItem, status?: string) =>
  `Link from ${i.answers?.from} to ${i.answers?.to}${i.answers?.text ? `, ${i.answers.text}` : ""}${status ? `: ${statusName(status)}` : ""}`;

/** BrokenChip is at the end of a link that leads nowhere. */
export const BrokenChip = memo(function BrokenChip({
  stub,
  chosen,
  editing,
}: {
  stub: Stub;
  chosen: boolean;
  editing: boolean;
}) {
  const { item } = stub;
  const style = { left: scaled(stub.toX), top: scaled(stub.toY) };
  const say = `${linkSaying(item)}: broken, ${brokenSaying(item)}`;
  const inside = (
    <>
      <IconUnlink size={13} aria-hidden />
      <span className="cut">{removedEnds(item).join(", ")}</span>
    </>
  );
  if (!editing)
    return (
      <span className="map-chip" data-broken style={style} role="img" aria-label={say} title={say}>
        {inside}
      </span>
    );
  return (
    <button
      type="button"
      className="map-chip"
      data-broken
      style={style}
      data-key={stub.key}
      data-chosen={chosen || undefined}
      aria-pressed={chosen}
      aria-label={say}
    >
      {inside}
    </button>
  );
});

/** Chip is in the middle of a link: what is written on it, and its status when that is bad. */
export const Chip = memo(function Chip({
  id,
  item,
  status,
  x,
  y,
  chosen,
  editing,
}: {
  id: string;
  item: TreeItem;
  status: string;
  x: number;
  y: number;
  chosen: boolean;
  editing: boolean;
}) {
  const style = { left: scaled(x), top: scaled(y) };
  const text = item.answers?.text ?? "";
  const inside = (
    <>
      {(status !== "0" || !text) && <StatusIcon status={status} size={13} label={false} />}
      {text && (
        <span className="cut" title={text}>
          {text}
        </span>
      )}
    </>
  );
  if (editing)
    return (
      <button
        type="button"
        className="map-chip"
        style={style}
        data-key={id}
        data-chosen={chosen || undefined}
        aria-pressed={chosen}
        aria-label={linkSaying(item, status)}
      >
        {inside}
      </button>
    );
  if (!text && status === "0") return null;
  return (
    <span className="map-chip" style={style} role="img" aria-label={linkSaying(item, status)}>
      {inside}
    </span>
  );
});
