// The tree map on a canvas. Every status has a pattern beside its colour. What is in error is drawn last and never smaller than
// two pixels: one among a hundred thousand is what people look for.
import type { Status } from "../../api";
import { inError, statusColour, statuses, statusRank } from "../../parts/StatusIcon";
import type { Field } from "./layout";
import type { Rect } from "./squarify";

const least = 2; // pixels of what is in error
const patterned = 6; // pixels from which on a pattern can be seen

const marks: Record<Status, string> = {
  "0": "",
  "1": "M-2 2 2-2M0 8 8 0M6 10l4-4",
  "2": "M-2 6l4 4M0 0l8 8M6-2l4 4M4-1v10",
  "3": "M0 8 8 0M-2 2 2-2M6 10l4-4M0 0l8 8M6-2l4 4M-2 6l4 4",
  "-": "M0 2h8M0 6h8",
  "?": "M2 2h.1M6 6h.1",
};

/** placed is where a field is drawn: with a thin line around it, and not smaller than what can be seen if it is in error. */
export function placed(f: Field): Rect {
  const [width, height] = [Math.max(0, f.width - 0.5), Math.max(0, f.height - 0.5)];
  if (!inError(f.status) || (width >= least && height >= least)) return { x: f.x, y: f.y, width, height };
  const w = Math.max(least, Math.round(width));
  const h = Math.max(least, Math.round(height));
  const within = (at: number, size: number, from: number, room: number) =>
    Math.max(Math.ceil(from), Math.min(Math.round(at), Math.floor(from + room - size)));
  return {
    x: within(f.x + f.width / 2 - w / 2, w, f.room.x, f.room.width),
    y: within(f.y + f.height / 2 - h / 2, h, f.room.y, f.room.height),
    width: w,
    height: h,
  };
}

/** inOrder puts what must be seen over what need not. */
export const inOrder = (fields: Field[]): Field[] =>
  [...fields].sort((a, b) => statusRank(a.status) - statusRank(b.status));

interface Ground {
  plain: string;
  pattern: CanvasPattern | null;
}

/** grounds reads the colours as the page has them now; a canvas does not know variables. */
function grounds(ctx: CanvasRenderingContext2D, scale: number): Map<Status, Ground> {
  const style = getComputedStyle(ctx.canvas);
  const read = (name: string) => style.getPropertyValue(name.replace(/^var\((.*)\)$/, "$1")).trim();
  const body = read("--mantine-color-body");
  return new Map(
    statuses.map((s) => {
      const tile = document.createElement("canvas");
      tile.width = tile.height = Math.round(8 * scale);
      const t = tile.getContext("2d");
      if (!t) return [s, { plain: "#888", pattern: null }];
      t.scale(tile.width / 8, tile.height / 8);
      // What needs no one's attention is paler, so that the rest stands out.
      const [r, g, b] = mixed(t, body, read(statusColour(s)), s === "0" || s === "?" ? 0.55 : 1);
      const plain = `rgb(${r} ${g} ${b})`;
      t.fillStyle = plain;
      t.fillRect(0, 0, 8, 8);
      t.strokeStyle = "rgb(255 255 255 / 45%)";
      t.lineWidth = 1.2;
      t.lineCap = "round";
      t.stroke(new Path2D(marks[s]));
      const pattern = ctx.createPattern(tile, "repeat");
      pattern?.setTransform(new DOMMatrix().scale(1 / scale));
      return [s, { plain, pattern }];
    }),
  );
}

/** mixed lays one colour over another and says what comes of it. */
function mixed(t: CanvasRenderingContext2D, under: string, over: string, alpha: number): Uint8ClampedArray {
  t.fillStyle = under;
  t.fillRect(0, 0, 8, 8);
  t.globalAlpha = alpha;
  t.fillStyle = over;
  t.fillRect(0, 0, 8, 8);
  t.globalAlpha = 1;
  return t.getImageData(0, 0, 1, 1).data;
}

/** draw draws all fields. */
export function draw(canvas: HTMLCanvasElement, fields: Field[], width: number, height: number) {
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  const fill = grounds(ctx, scale);
  for (const f of inOrder(fields)) {
    const r = placed(f);
    const ground = fill.get(f.status);
    const seen = r.width >= patterned && r.height >= patterned;
    ctx.fillStyle = (seen && ground?.pattern) || ground?.plain || "#888";
    ctx.fillRect(r.x, r.y, r.width, r.height);
  }
}
