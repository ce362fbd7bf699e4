// The position of everything in a view. Pure: the same content always gives the same drawing.
//
// The API counts posx from the top and posy from the left; here they become top and left, once, and nowhere else. Units are
// those of the API. How many pixels a unit has is for the board to say.
import type { Kind, Status, TreeItem } from "../../api";
import { statusRank } from "../../parts/StatusIcon";

/** keyOf is unique among all that a view may hold, and the same for an item of the tree and for one of the stream. */
export function keyOf(i: { kind: string; name: string; resource?: string; package?: string }): string {
  return i.kind === "element" ? `element/${i.package ?? ""}/${i.name}` : `${i.kind}/${i.resource ?? ""}/${i.name}`;
}

export interface Spot {
  key: string;
  item: TreeItem;
  left: number;
  top: number;
  width: number;
  height: number;
  /** Its position was set by a user. */
  placed: boolean;
}

export interface Line {
  key: string;
  item: TreeItem;
  from: Spot;
  to: Spot;
  status: Status;
}

/** Stub is a link of which one end has been removed: it begins at the other and leads nowhere. */
export interface Stub {
  key: string;
  item: TreeItem;
  x: number;
  y: number;
  /** Where it ends. */
  toX: number;
  toY: number;
}

export interface Scene {
  /** What can be entered or looked at, in the order of the tree. */
  icons: Spot[];
  labels: Spot[];
  pictures: Spot[];
  lines: Line[];
  stubs: Stub[];
  /** Links one of whose ends is not in this view, and those of which nothing is left to draw. */
  loose: TreeItem[];
  width: number;
  height: number;
  /** Where those without a place begin; absent when there are none, or when all are. */
  divider?: number;
  /** How many could have a place and have none. */
  homeless: number;
}

export const step = 10;
export const snap = (n: number) => Math.min(100_000, Math.max(0, Math.round(n / step) * step));

/** What an icon needs, with its name and its counts. */
const cell = { width: 60, height: 60 };
const margin = 20;

const isLabel = (i: TreeItem) => i.kind === "element" && i.package === "label";
const isPicture = (i: TreeItem) => i.kind === "element" && i.package === "picture";
const isLink = (i: TreeItem) => i.kind === "element" && i.package === "link";
export const isShortcut = (i: TreeItem) => i.kind === "element" && i.package === "shortcut";
/** removedEnds are what an element names and has been removed. */
export const removedEnds = (i: TreeItem): string[] => (i.broken ?? []).map((column) => i.answers?.[column] ?? column);
const isIcon = (i: TreeItem) => i.kind !== "element" || isShortcut(i);

/** Whether it may have a fixed position. Objects are placed where there is room. */
export const placeable = (i: TreeItem) => i.kind !== "object" && !isLink(i);

/** What a label says. */
export const labelText = (i: TreeItem) => i.answers?.text || i.name;
export const labelSize = (i: TreeItem) => Number(i.answers?.size) || 12;

/** sizeOf is the size of an item; that of a label is guessed from its text. */
function sizeOf(i: TreeItem): { width: number; height: number } {
  if (!isLabel(i)) return { width: i.width ?? 30, height: i.height ?? 30 };
  const lines = labelText(i).split("\n");
  const letter = labelSize(i) * 0.67;
  return {
    width: Math.max(...lines.map((l) => l.length)) * letter * 0.55 + 4,
    height: lines.length * letter * 1.35,
  };
}

function spotOf(item: TreeItem, left: number, top: number, placed: boolean): Spot {
  return { key: keyOf(item), item, left, top, ...sizeOf(item), placed };
}

const touch = (a: Spot, left: number, top: number, width: number, height: number) =>
  a.left < left + width && left < a.left + a.width && a.top < top + height && top < a.top + a.height;

/** rows puts items into rows of cells, from a top on, around what must not be covered. */
function rows(items: TreeItem[], top: number, across: number, avoid: Spot[]): Spot[] {
  const width = Math.max(cell.width, ...items.map((i) => sizeOf(i).width + 20));
  const height = Math.max(cell.height, ...items.map((i) => sizeOf(i).height + 30));
  const columns = Math.max(1, Math.floor((across - margin) / width));
  const out: Spot[] = [];
  let n = 0;
  for (const item of items) {
    const at = () => ({ left: margin / 2 + (n % columns) * width, top: top + Math.floor(n / columns) * height });
    while (avoid.some((a) => touch(a, at().left, at().top, width, height))) n++;
    const size = sizeOf(item);
    out.push(spotOf(item, at().left + Math.round((width - size.width) / 2), at().top + 5, false));
    n++;
  }
  return out;
}

/** arrange lays a view out. `across` is how many units wide the board can be seen at once. */
export function arrange(view: TreeItem, children: TreeItem[], across: number): Scene {
  const linear = view.autoarrange === "linear";
  const has = (i: TreeItem) => i.posx !== undefined && i.posy !== undefined;
  const place = (i: TreeItem) => spotOf(i, i.posy ?? 0, i.posx ?? 0, true);
  const stays = (i: TreeItem) => placeable(i) && has(i) && !(linear && isIcon(i));
  const placed = children.filter(stays).map(place);
  const rest = children.filter((i) => !isLink(i) && !stays(i));
  const bottom = Math.max(0, ...placed.filter((s) => !isPicture(s.item)).map(end));
  const divided = !linear && placed.length > 0 && rest.length > 0;
  const top = divided ? Math.ceil((bottom + 10) / step) * step + 25 : 0;
  const avoid = linear ? placed.filter((s) => isLabel(s.item)) : [];
  const spots = [...placed, ...rows(rest, top, across, avoid)];
  const of = new Map(spots.map((s) => [s.key, s]));
  const inOrder = children.map((c) => of.get(keyOf(c))).filter((s) => s !== undefined);
  const icons = inOrder.filter((s) => isIcon(s.item));
  const links = linesOf(children, icons);
  return {
    icons,
    labels: inOrder.filter((s) => isLabel(s.item)),
    pictures: inOrder.filter((s) => isPicture(s.item)),
    ...links,
    width: Math.max(0, ...spots.map((s) => s.left + s.width), ...links.stubs.map((s) => s.toX + 20)) + margin,
    height: Math.max(0, ...spots.map(end)) + margin,
    divider: divided ? top - 20 : undefined,
    homeless: linear ? 0 : rest.filter(placeable).length,
  };
}

/** end is where an icon ends, with its name below it. */
const end = (s: Spot) => s.top + s.height + (isIcon(s.item) ? 25 : 0);

/** stubOf lets a link end beside an icon; several of one icon go into different directions. */
function stubOf(item: TreeItem, at: Spot, nth: number): Stub {
  const { x, y } = centre(at);
  const [long, turn] = [at.width / 2 + 30, (nth * 35 - 30) * (Math.PI / 180)];
  return { key: keyOf(item), item, x, y, toX: x + long * Math.cos(turn), toY: Math.max(10, y + long * Math.sin(turn)) };
}

function linesOf(children: TreeItem[], icons: Spot[]): Pick<Scene, "lines" | "stubs" | "loose"> {
  // Several items of a view may have a name. The first in the order of the tree is used: views, resources, objects.
  const named = new Map<string, Spot>();
  for (const s of icons) if (!named.has(s.item.name)) named.set(s.item.name, s);
  const lines: Line[] = [];
  const stubs: Stub[] = [];
  const beside = new Map<string, number>();
  const loose: TreeItem[] = [];
  for (const item of children) {
    if (!isLink(item)) continue;
    const endOf = (column: string) => {
      const name = item.answers?.[column];
      return name === undefined || item.broken?.includes(column) ? undefined : named.get(name);
    };
    const [from, to] = [endOf("from"), endOf("to")];
    const left = from ?? to;
    if (item.broken?.length && left) {
      const nth = beside.get(left.key) ?? 0;
      beside.set(left.key, nth + 1);
      stubs.push(stubOf(item, left, nth));
    } else if (from && to)
      lines.push({ key: keyOf(item), item, from, to, status: worse(from.item.status, to.item.status) });
    else loose.push(item);
  }
  return { lines, stubs, loose };
}

export const worse = (a: Status = "?", b: Status = "?"): Status => (statusRank(a) >= statusRank(b) ? a : b);

export const centre = (s: Spot) => ({ x: s.left + s.width / 2, y: s.top + s.height / 2 });

export type Direction = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight";

const towards: Record<Direction, [number, number]> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

export const isDirection = (key: string): key is Direction => key in towards;
export const vector = (d: Direction) => towards[d];

/** neighbour is the next spot in a direction: near, and rather straight on than aside. */
export function neighbour(spots: Spot[], from: Spot, d: Direction): Spot | undefined {
  const [dx, dy] = towards[d];
  const here = centre(from);
  let best: Spot | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const s of spots) {
    const there = centre(s);
    const ahead = (there.x - here.x) * dx + (there.y - here.y) * dy;
    const aside = Math.abs((there.x - here.x) * dy) + Math.abs((there.y - here.y) * dx);
    if (s.key === from.key || ahead <= 0) continue;
    const cost = ahead + 2.5 * aside;
    if (cost < least) [best, least] = [s, cost];
  }
  return best;
}

const kinds: Record<Kind, string> = { view: "view", resource: "resource", object: "object" };
export const kindName = (i: TreeItem) => (i.kind === "element" ? (i.package ?? "element") : kinds[i.kind]);
