// How large the drawing is shown, and which part of it.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Pixels of a unit at 100 %: an icon of 30 units has room for a sign, and its neighbour at 50 leaves room for the names. */
export const unit = 2;

const least = 0.05; // so that a few thousand items fit into a window
const largest = 3;
const within = (z: number) => Math.min(largest, Math.max(least, z));

export interface Zoom {
  zoom: number;
  by: (factor: number) => void;
  fit: () => void;
  whole: () => void;
}

interface Size {
  width: number;
  height: number;
}

/** useSize follows the size of an element. */
export function useSize(box: RefObject<HTMLElement | null>): Size | undefined {
  const [size, set] = useState<Size>();
  useLayoutEffect(() => {
    const at = box.current;
    if (!at) return;
    const measure = () => {
      const next = { width: at.clientWidth, height: at.clientHeight };
      set((s) => (s && s.width === next.width && s.height === next.height ? s : next));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(at);
    return () => watch.disconnect();
  }, [box]);
  return size;
}

/** first is the zoom with which a view is shown: as large as it was drawn, or smaller so that all is in sight, but not tiny. */
function first(size: Size | undefined, drawing: Size): number {
  if (!size || !drawing.width || !drawing.height) return 1;
  return Math.min(
    1,
    Math.max(0.5, Math.min(size.width / (drawing.width * unit), size.height / (drawing.height * unit))),
  );
}

export function useZoom(box: RefObject<HTMLElement | null>, size: Size | undefined, drawing: Size): Zoom {
  const [chosen, choose] = useState<number>();
  const start = useRef<number>(undefined);
  if (start.current === undefined && size) start.current = first(size, drawing);
  const zoom = chosen ?? start.current ?? 1;
  const latest = useRef(zoom);
  latest.current = zoom;
  // The point that stays where it is on the screen while everything around it grows or shrinks.
  const anchor = useRef<{ x: number; y: number; left: number; top: number }>(undefined);

  const about = useCallback(
    (factor: number, at?: { x: number; y: number }) => {
      const b = box.current;
      const from = latest.current;
      const to = within(from * factor);
      if (!b || to === from) return;
      const p = at ?? { x: b.clientWidth / 2, y: b.clientHeight / 2 };
      const grown = to / from;
      anchor.current = {
        ...p,
        left: (b.scrollLeft + p.x) * grown - p.x,
        top: (b.scrollTop + p.y) * grown - p.y,
      };
      choose(to);
    },
    [box],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: after the zoom has changed
  useLayoutEffect(() => {
    const a = anchor.current;
    anchor.current = undefined;
    if (a) box.current?.scrollTo(a.left, a.top);
  }, [zoom]);

  useEffect(() => {
    const b = box.current;
    if (!b) return;
    const wheel = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      const r = b.getBoundingClientRect();
      about(Math.exp(-e.deltaY / 300), { x: e.clientX - r.left, y: e.clientY - r.top });
    };
    b.addEventListener("wheel", wheel, { passive: false });
    return () => b.removeEventListener("wheel", wheel);
  }, [box, about]);

  return {
    zoom,
    by: (f) => about(f),
    whole: () => choose(1),
    fit: () => {
      if (!size) return;
      choose(within(Math.min(size.width / (drawing.width * unit), size.height / (drawing.height * unit), 2)));
      box.current?.scrollTo(0, 0);
    },
  };
}

export interface Part {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** usePart is the part of the drawing that is seen, in units and with a wide margin. It changes in steps, not with every pixel. */
export function usePart(box: RefObject<HTMLElement | null>, size: Size | undefined, scale: number): Part {
  const [, again] = useState(0);
  const step = 300 / scale;
  const at = (b: HTMLElement | null) => ({
    x: Math.floor((b?.scrollLeft ?? 0) / 300),
    y: Math.floor((b?.scrollTop ?? 0) / 300),
  });
  useEffect(() => {
    const b = box.current;
    if (!b) return;
    let last = at(b);
    const scrolled = () => {
      const now = at(b);
      if (now.x === last.x && now.y === last.y) return;
      last = now;
      again((n) => n + 1);
    };
    b.addEventListener("scroll", scrolled, { passive: true });
    return () => b.removeEventListener("scroll", scrolled);
  });
  const { x, y } = at(box.current);
  return {
    left: (x - 1) * step,
    top: (y - 1) * step,
    right: (x + 2) * step + (size?.width ?? 1500) / scale,
    bottom: (y + 2) * step + (size?.height ?? 1000) / scale,
  };
}
