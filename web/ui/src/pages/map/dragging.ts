// The pointer on the board: on empty ground it moves the part that is shown; in edit mode it moves items and their corners.
import { type PointerEvent, type RefObject, useRef, useState } from "react";
import type { TreeItem } from "../../api";
import { type Scene, type Spot, snap, step } from "./scene";

export interface Moving {
  posx?: number;
  posy?: number;
  width?: number;
  height?: number;
}

interface Options {
  box: RefObject<HTMLElement | null>;
  scene: Scene;
  scale: number;
  editing: boolean;
  fixed: (i: TreeItem) => boolean;
  choose: (key: string) => void;
  onMove: (item: TreeItem, to: Moving) => void;
}

interface Grip {
  spot?: Spot;
  resize: boolean;
  /** The pointer, and what was scrolled, where it began. */
  x: number;
  y: number;
  left: number;
  top: number;
  moved: boolean;
}

/** to is where an item goes when the pointer has gone so far; always to a multiple of ten. */
function to(g: Grip, spot: Spot, dx: number, dy: number): Moving {
  if (g.resize) return { width: Math.max(step, snap(spot.width + dx)), height: Math.max(step, snap(spot.height + dy)) };
  return { posx: snap(spot.top + dy), posy: snap(spot.left + dx) };
}

export function useDragging({ box, scene, scale, editing, fixed, choose, onMove }: Options) {
  const grip = useRef<Grip>(undefined);
  const [moving, setMoving] = useState<{ item: TreeItem; to: Moving }>();
  const [panning, setPanning] = useState(false);
  const ended = useRef(false);

  const down = (e: PointerEvent<HTMLElement>) => {
    const b = box.current;
    const target = e.target as Element;
    if (!b || e.button !== 0) return;
    const resize = target.closest<HTMLElement>("[data-resize]")?.dataset.resize;
    const key = resize ?? target.closest<HTMLElement>("[data-key]")?.dataset.key;
    const g: Grip = {
      resize: !!resize,
      x: e.clientX,
      y: e.clientY,
      left: b.scrollLeft,
      top: b.scrollTop,
      moved: false,
    };
    if (key) {
      if (!editing) return;
      g.spot = [...scene.icons, ...scene.labels, ...scene.pictures].find((s) => s.key === key);
      if (!g.spot || fixed(g.spot.item)) return;
    } else if (e.pointerType !== "mouse" || target.closest("a")) return; // a finger scrolls by itself
    grip.current = g;
  };

  const move = (e: PointerEvent<HTMLElement>) => {
    const g = grip.current;
    const b = box.current;
    if (!g || !b) return;
    const [dx, dy] = [e.clientX - g.x, e.clientY - g.y];
    if (!g.moved) {
      if (Math.abs(dx) + Math.abs(dy) < 4) return;
      g.moved = true;
      e.currentTarget.setPointerCapture(e.pointerId);
      if (g.spot) choose(g.spot.key);
      else setPanning(true);
    }
    if (g.spot) {
      const next = to(g, g.spot, (dx + b.scrollLeft - g.left) / scale, (dy + b.scrollTop - g.top) / scale);
      setMoving({ item: g.spot.item, to: next });
    } else b.scrollTo(g.left - dx, g.top - dy);
  };

  const up = () => {
    const g = grip.current;
    grip.current = undefined;
    if (moving && g?.spot) onMove(g.spot.item, moving.to);
    setMoving(undefined);
    setPanning(false);
    if (!g?.moved) return;
    // The click that ends a drag comes after this and must not count as one.
    ended.current = true;
    setTimeout(() => {
      ended.current = false;
    });
  };
  const cancel = () => {
    grip.current = undefined;
    setMoving(undefined);
    setPanning(false);
  };
  return {
    moving,
    panning,
    /** Has a drag ended just now? */
    dragged: () => ended.current,
    handlers: { onPointerDown: down, onPointerMove: move, onPointerUp: up, onPointerCancel: cancel },
  };
}
