// The drawing of a view, in its own box that scrolls. Items are buttons: Tab and the arrows move between them, Enter goes
// in. In edit mode the pointer and the arrows move the items themselves.
import { ActionIcon, Group, Text, Tooltip } from "@mantine/core";
import { IconArrowsMaximize, IconZoomIn, IconZoomOut } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import type { TreeItem } from "../../api";
import { isColour } from "./colour";
import { type Moving, useDragging } from "./dragging";
import { BrokenChip, Chip, Label, Lines, Picture, Shown } from "./Elements";
import { Icon, pageOf, scaled, wayInto } from "./Icon";
import {
  arrange,
  centre,
  isDirection,
  keyOf,
  neighbour,
  placeable,
  type Scene,
  type Spot,
  step,
  vector,
} from "./scene";
import type { Target } from "./tree";
import { type Part, unit, usePart, useSize, useZoom } from "./zoom";

export interface BoardProps {
  view: TreeItem;
  items: TreeItem[];
  targets: Map<string, Target>;
  chosen: string;
  choose: (key: string) => void;
  editing: boolean;
  /** In edit mode: an item goes to another place, or gets another size. */
  onMove: (item: TreeItem, to: Moving) => void;
  onRemove: (item: TreeItem) => void;
  ground: string;
  ink?: string;
  children?: ReactNode;
}

export function Board(p: BoardProps) {
  const [, go] = useLocation();
  const box = useRef<HTMLElement>(null);
  const board = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const [picture, setPicture] = useState({ width: 0, height: 0 });
  const across = Math.max(200, Math.floor((size?.width ?? 900) / unit));
  const resting = useMemo(() => arrange(p.view, p.items, across), [p.view, p.items, across]);
  const drawing = { width: Math.max(resting.width, picture.width), height: Math.max(resting.height, picture.height) };
  const zoom = useZoom(box, size, drawing);
  const scale = zoom.zoom * unit;
  const zoomedOut = scale < 0.8 ? 2 : scale < 1.5 ? 1 : 0;
  const part = usePart(box, size, scale);
  const linear = p.view.autoarrange === "linear";
  const fixed = (i: TreeItem) => !placeable(i) || (linear && (i.kind !== "element" || i.package === "shortcut"));
  const { moving, panning, dragged, handlers } = useDragging({ ...p, box, scene: resting, scale, fixed });
  const scene = useMemo(() => {
    if (!moving) return resting;
    const items = p.items.map((i) => (keyOf(i) === keyOf(moving.item) ? { ...i, ...moving.to } : i));
    return arrange(p.view, items, across);
  }, [moving, resting, p.view, p.items, across]);

  const open = (key: string) => {
    const spot = scene.icons.find((s) => s.key === key);
    const way = spot && (wayInto(spot.item) ?? pageOf(spot.item));
    if (way) go(way);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const key = keyAt(e.target);
    if (!key || e.ctrlKey || e.metaKey || e.altKey) return;
    const all = [...scene.icons, ...scene.labels, ...scene.pictures];
    const spot = all.find((s) => s.key === key);
    if (e.key === "Enter" && !p.editing) {
      e.preventDefault();
      open(key);
    } else if (isDirection(e.key) && spot) {
      e.preventDefault();
      if (!p.editing) {
        const next = neighbour(scene.icons, spot, e.key);
        if (next) focusOn(board.current, next.key);
      } else if (!fixed(spot.item)) {
        p.choose(key);
        const [x, y] = vector(e.key).map((v) => v * step) as [number, number];
        if (e.shiftKey)
          p.onMove(spot.item, {
            width: Math.max(step, spot.width + x),
            height: Math.max(step, spot.height + y),
          });
        else p.onMove(spot.item, { posx: Math.max(0, spot.top + y), posy: Math.max(0, spot.left + x) });
      }
    } else if (p.editing && (e.key === "Delete" || e.key === "Backspace")) {
      const item = spot?.item ?? [...scene.lines, ...scene.stubs].find((l) => l.key === key)?.item;
      if (item) p.onRemove(item);
    }
  };
  const bg = p.view.bg;
  const room = p.editing ? 100 : 0;
  return (
    <div className="map-frame">
      <section
        ref={box}
        className="map-box"
        aria-label={`Drawing of ${p.view.name}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        style={
          isColour(bg)
            ? ({ "--map-ground": bg, "--map-ink": p.ink, background: bg, color: p.ink } as React.CSSProperties)
            : undefined
        }
      >
        {/* biome-ignore lint/a11y/noStaticElementInteractions: hears for the buttons in it, of which there may be thousands */}
        <div
          ref={board}
          className="map-board"
          data-editing={p.editing || undefined}
          data-panning={panning || undefined}
          data-zoomed-out={zoomedOut}
          style={
            {
              "--s": scale,
              width: Math.max(drawing.width, scene.width + room) * scale,
              height: Math.max(drawing.height, scene.height + room) * scale,
            } as React.CSSProperties
          }
          onClick={(e) => {
            if (dragged()) return;
            const way = (e.target as Element).closest<HTMLElement>("[data-way]")?.dataset.way;
            if (way) {
              if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return; // a new tab, as the browser has it
              e.preventDefault();
              go(way);
              return;
            }
            p.choose(keyAt(e.target) ?? "");
          }}
          onDoubleClick={(e) => {
            const key = keyAt(e.target);
            if (key && !p.editing) open(key);
          }}
          onKeyDown={onKeyDown}
          {...handlers}
        >
          {bg && !isColour(bg) && (
            <div
              className="map-ground-picture"
              style={picture.width ? { width: scaled(picture.width), height: scaled(picture.height) } : undefined}
            >
              <Shown name={bg} alt="" onLoad={(width, height) => setPicture({ width, height })} />
            </div>
          )}
          {/* Not before it is known how large: thousands of items would be laid out twice. */}
          {size && <Content scene={scene} {...p} fixed={fixed} part={part} zoomedOut={zoomedOut} />}
        </div>
      </section>
      <ZoomTools {...zoom} />
      {p.children}
    </div>
  );
}

const keyAt = (target: EventTarget) =>
  (target as Element).closest<HTMLElement>("[data-key]")?.dataset.key ??
  (target as Element).closest<HTMLElement>("[data-resize]")?.dataset.resize;

export function focusOn(board: Element | null, key: string) {
  const at = board?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  at?.focus();
  at?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function Content({
  scene,
  chosen,
  editing,
  ground,
  fixed,
  part,
  zoomedOut,
}: BoardProps & { scene: Scene; fixed: (i: TreeItem) => boolean; part: Part; zoomedOut: number }) {
  // What is out of sight is drawn only if it must be reachable by keyboard.
  const detail = (s: Spot) => {
    if (s.left > part.right || s.top > part.bottom) return 0;
    if (s.left + s.width + 30 < part.left || s.top + s.height + 30 < part.top) return 0;
    return zoomedOut === 2 ? 1 : zoomedOut === 1 ? 2 : 3;
  };
  return (
    <>
      {scene.pictures.map((s) => (
        <Picture key={s.key} spot={s} chosen={chosen === s.key} editing={editing} />
      ))}
      <Lines lines={scene.lines} stubs={scene.stubs} width={scene.width} height={scene.height} />
      {scene.divider !== undefined && (
        <div className="map-divider" style={{ top: scaled(scene.divider) }}>
          Without a position
        </div>
      )}
      {scene.labels.map((s) => (
        <Label key={s.key} spot={s} chosen={chosen === s.key} editing={editing} ground={ground} />
      ))}
      {scene.icons.map((s) => (
        <Icon
          key={s.key}
          id={s.key}
          item={s.item}
          left={s.left}
          top={s.top}
          width={s.width}
          height={s.height}
          homeless={!s.placed && scene.homeless > 0}
          chosen={chosen === s.key}
          editing={editing}
          fixed={fixed(s.item)}
          detail={detail(s)}
        />
      ))}
      {scene.lines.map((l) => {
        const [a, b] = [centre(l.from), centre(l.to)];
        return (
          <Chip
            key={l.key}
            id={l.key}
            item={l.item}
            status={l.status}
            x={(a.x + b.x) / 2}
            y={(a.y + b.y) / 2}
            chosen={chosen === l.key}
            editing={editing}
          />
        );
      })}
      {scene.stubs.map((s) => (
        <BrokenChip key={s.key} stub={s} chosen={chosen === s.key} editing={editing} />
      ))}
    </>
  );
}

function ZoomTools({
  zoom,
  by,
  fit,
  whole,
}: { zoom: number } & Pick<ReturnType<typeof useZoom>, "by" | "fit" | "whole">) {
  return (
    <Group gap={2} className="map-zoom card" p={2}>
      <Tooltip label="Smaller (Ctrl and wheel)">
        <ActionIcon variant="subtle" color="gray" onClick={() => by(1 / 1.25)} aria-label="Zoom out">
          <IconZoomOut size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="As large as it was drawn">
        <ActionIcon
          variant="subtle"
          color="gray"
          w={48}
          onClick={whole}
          aria-label={`${Math.round(zoom * 100)} %, zoom to 100 %`}
        >
          <Text size="xs" className="number" c="var(--mantine-color-text)">
            {Math.round(zoom * 100)} %
          </Text>
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Larger (Ctrl and wheel)">
        <ActionIcon variant="subtle" color="gray" onClick={() => by(1.25)} aria-label="Zoom in">
          <IconZoomIn size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Fit everything into the window">
        <ActionIcon variant="subtle" color="gray" onClick={fit} aria-label="Fit to window">
          <IconArrowsMaximize size={18} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
