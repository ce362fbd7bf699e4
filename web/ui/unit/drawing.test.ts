// What the map and the tree map compute, without a browser: places, drafts, requests, areas.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tree, TreeItem } from "../src/api";
import type { StatusChange } from "../src/live";
import { contrast, readable } from "../src/pages/map/colour";
import {
  add,
  apply,
  batches,
  change,
  countOf,
  csv,
  nameOfKey,
  remove,
  settle,
  strays,
  untouched,
} from "../src/pages/map/draft";
import { spoken, wayInto } from "../src/pages/map/Icon";
import { arrange, keyOf, neighbour, type Scene, type Spot, snap, worse } from "../src/pages/map/scene";
import { indexOf, patch } from "../src/pages/map/tree";
import { inOrder, placed } from "../src/pages/treemap/draw";
import { layout, titleHeight } from "../src/pages/treemap/layout";
import { build, type Count, find, type Place, shares } from "../src/pages/treemap/places";
import { type Rect, squarify } from "../src/pages/treemap/squarify";

const view = (more: Partial<TreeItem> = {}): TreeItem => ({ name: "V", kind: "view", parentview: "MAIN", ...more });
const resource = (name: string, more: Partial<TreeItem> = {}): TreeItem => ({
  name,
  kind: "resource",
  resource: name,
  package: "custom",
  status: "0",
  width: 30,
  height: 30,
  ...more,
});
const element = (pkg: string, name: string, more: Partial<TreeItem> = {}): TreeItem => ({
  name,
  kind: "element",
  package: pkg,
  ...more,
});
const treeOf = (children: TreeItem[], more: Partial<TreeItem> = {}): Tree => ({
  view: view(more),
  children,
  content: { view: 0, resource: children.length, object: 0, element: 0 },
  more: false,
});

function overlaps(spots: Spot[]): string[] {
  const found: string[] = [];
  spots.forEach((a, i) => {
    for (const b of spots.slice(i + 1)) {
      const apart =
        a.left + a.width <= b.left ||
        b.left + b.width <= a.left ||
        a.top + a.height <= b.top ||
        b.top + b.height <= a.top;
      if (!apart) found.push(`${a.item.name} and ${b.item.name}`);
    }
  });
  return found;
}
const at = (s: Scene, name: string) => s.icons.find((i) => i.item.name === name) as Spot;

test("posx counts from the top and posy from the left", () => {
  const s = arrange(view(), [resource("a", { posx: 10, posy: 200 })], 500);
  const { top, left, placed } = at(s, "a");
  assert.deepEqual({ top, left, placed }, { top: 10, left: 200, placed: true });
  assert.equal(s.homeless, 0);
  assert.equal(s.divider, undefined);
});

test("what has no place stands below the rest and covers nothing", () => {
  const items = Array.from({ length: 30 }, (_, i) => resource(`r${i}`, i % 3 ? {} : { posx: i * 10, posy: i * 20 }));
  const s = arrange(view(), items, 300);
  assert.deepEqual(overlaps(s.icons), []);
  assert.equal(s.homeless, 20);
  const lowest = Math.max(...s.icons.filter((i) => i.placed).map((i) => i.top + i.height));
  const divider = s.divider ?? 0;
  assert.ok(divider > lowest);
  for (const i of s.icons.filter((i) => !i.placed)) assert.ok(i.top > divider);
});

test("linear arranges in rows, around labels, whatever the places say", () => {
  const items = Array.from({ length: 20 }, (_, i) => resource(`r${i}`, { posx: 0, posy: 0 }));
  items.push(element("label", "L", { posx: 0, posy: 0, answers: { text: "Here", size: "20" } }));
  const s = arrange(view({ autoarrange: "linear" }), items, 320);
  assert.deepEqual(overlaps([...s.icons, ...s.labels]), []);
  assert.equal(
    s.icons.every((i) => !i.placed),
    true,
  );
  assert.equal(s.homeless, 0);
  assert.ok(new Set(s.icons.map((i) => i.top)).size > 3);
  assert.ok(Math.max(...s.icons.map((i) => i.left + i.width)) <= 320);
});

test("objects are arranged and are not missing a place", () => {
  const s = arrange(view(), [{ name: "cpu", kind: "object", resource: "R", status: "3" }], 300);
  assert.equal(s.homeless, 0);
  assert.equal(s.icons.length, 1);
});

test("a link takes the worse status of its ends", () => {
  const link = (name: string, from: string, to: string) => element("link", name, { answers: { from, to } });
  const items = [resource("a", { status: "1" }), resource("b", { status: "-" }), resource("c", { status: "?" })];
  const s = arrange(view(), [...items, link("ab", "a", "b"), link("ac", "a", "c"), link("ax", "a", "x")], 300);
  assert.deepEqual(
    s.lines.map((l) => [l.item.name, l.status]),
    [
      ["ab", "-"],
      ["ac", "1"],
    ],
  );
  assert.deepEqual(
    s.loose.map((l) => l.name),
    ["ax"],
  );
  assert.equal(worse("3", "-"), "-");
  assert.equal(worse(undefined, "0"), "0");
});

test("a link whose end has been removed begins at the other end and leads nowhere", () => {
  const link = (name: string, from: string, to: string, ...broken: string[]) =>
    element("link", name, { answers: { from, to }, broken: broken.length ? broken : undefined });
  const s = arrange(
    view(),
    [
      resource("a", { posx: 100, posy: 100 }),
      resource("b", { posx: 100, posy: 300 }),
      link("whole", "a", "b"),
      link("to nothing", "a", "gone", "to"),
      link("from nothing", "gone", "a", "from"),
      link("nothing left", "gone", "gone too", "from", "to"),
      link("elsewhere", "a", "in another view"),
      link("rebuilt", "a", "b", "to"), // the name is here, but not what the link meant
    ],
    500,
  );
  assert.deepEqual(
    s.lines.map((l) => l.item.name),
    ["whole"],
  );
  assert.deepEqual(
    s.stubs.map((b) => [b.item.name, b.x, b.y]),
    [
      ["to nothing", 115, 115],
      ["from nothing", 115, 115],
      ["rebuilt", 115, 115],
    ],
  );
  assert.equal(new Set(s.stubs.map((b) => `${Math.round(b.toX)} ${Math.round(b.toY)}`)).size, 3); // apart from each other
  assert.deepEqual(
    s.loose.map((i) => i.name),
    ["nothing left", "elsewhere"],
  );
  const broken = element("shortcut", "s", { answers: { target: "gone" }, broken: ["target"] });
  assert.equal(wayInto(broken), undefined);
  assert.match(spoken(broken, false), /leads to gone, which has been removed/);
});

test("arrows find the next icon", () => {
  const grid = [];
  for (let x = 0; x < 3; x++)
    for (let y = 0; y < 3; y++) grid.push(resource(`${x}${y}`, { posx: x * 100, posy: y * 100 }));
  const s = arrange(view(), grid, 500);
  const from = at(s, "11");
  const name = (d: Parameters<typeof neighbour>[2]) => neighbour(s.icons, from, d)?.item.name;
  assert.deepEqual(
    [name("ArrowUp"), name("ArrowDown"), name("ArrowLeft"), name("ArrowRight")],
    ["01", "21", "10", "12"],
  );
  assert.equal(neighbour(s.icons, at(s, "00"), "ArrowUp"), undefined);
});

test("snaps to ten and stays on the board", () => {
  assert.deepEqual([snap(14), snap(15), snap(-30), snap(999_999)], [10, 20, 0, 100_000]);
});

test("a draft becomes one request for each package, cells quoted", () => {
  const t = treeOf([
    resource("web,01", { posx: 10, posy: 10 }),
    resource('we"b', { posx: 50, posy: 20, width: 40 }),
    view({ name: "Child", posx: 30, posy: 30, bg: "plan" }),
    element("label", "old", { posx: 0, posy: 0, answers: { text: "x" } }),
  ]);
  let d = untouched;
  d = change(d, t.children[0] as TreeItem, { posx: 20, posy: 30 });
  d = change(d, t.children[1] as TreeItem, { width: 60 });
  d = change(d, t.children[2] as TreeItem, { posx: 90 });
  d = { ...d, view: { bg: "#ff0000" } };
  d = add(d, element("label", "new", { posx: 10, posy: 10, answers: { text: "a\nb" } }));
  d = remove(d, t.children[3] as TreeItem);
  assert.deepEqual(
    batches(t, d).map((b) => [b.package, b.removal, csv(b)]),
    [
      ["view", false, 'name,bg,posx,posy\n"V","#ff0000",,\n"Child","plan","90","30"\n'],
      ["custom", false, 'name,posx,posy,width,height\n"web,01","20","30","30","30"\n"we""b","50","20","60","30"\n'],
      ["label", false, 'name,view,text,posx,posy\n"new","V","a\nb","10","10"\n'],
      ["label", true, 'name\n"old"\n'],
    ],
  );
  const shown = apply(t, d);
  assert.equal(shown.view.bg, "#ff0000");
  assert.deepEqual(
    shown.children.map((c) => c.name),
    ["web,01", 'we"b', "Child", "new"],
  );
  assert.deepEqual(shown.children[0], { ...t.children[0], answers: undefined, posx: 20, posy: 30 });
  const rest = settle(d, new Set([keyOf(t.children[0] as TreeItem), keyOf(t.view)]), keyOf(t.view));
  assert.deepEqual(
    batches(t, rest).map((b) => [b.package, b.rows.length]),
    [
      ["view", 1],
      ["custom", 1],
      ["label", 1],
      ["label", 1],
    ],
  );
  assert.deepEqual(rest.view, {});
});

test("a view inside a resource is named with its resource", () => {
  const inner = view({ name: "Disks", resource: "R", posx: 10, posy: 10 });
  const t = treeOf([inner], { kind: "resource", name: "R", resource: "R", package: "custom" });
  const d = { ...change(untouched, inner, { posx: 20 }), view: { autoarrange: "linear" as const } };
  assert.deepEqual(
    batches(t, d).map((b) => [b.package, csv(b)]),
    [
      ["view", 'name,resname,posx,posy\n"Disks","R","20","10"\n'],
      ["custom", 'name,autoarrange\n"R","linear"\n'],
    ],
  );
});

test("a change of what has left the view is told", () => {
  const child = view({ name: "Child", posx: 10, posy: 10 });
  const d = change(untouched, child, { posx: 20 });
  assert.deepEqual(strays(treeOf([child]), d), []);
  assert.deepEqual(strays(treeOf([]), d), [keyOf(child)]);
  assert.equal(nameOfKey(keyOf(child)), "Child");
  assert.equal(countOf(settle(d, new Set(strays(treeOf([]), d)), "")), 0); // the way to drop it
  assert.deepEqual(batches(treeOf([]), d), []);
});

test("what is added and removed again leaves nothing", () => {
  const t = treeOf([]);
  const made = element("label", "x", { posx: 0, posy: 0 });
  assert.deepEqual(batches(t, remove(change(add(untouched, made), made, { posx: 50 }), made)), []);
});

test("changes of statuses are put in, and counts follow", () => {
  const counts = { "-": 0, "0": 2, "1": 0, "2": 0, "3": 0, "?": 0 };
  const t = treeOf([resource("a", { counts }), resource("b")]);
  const told = (c: Partial<StatusChange>) =>
    ({ id: "", acknowledged: false, isunmanaged: false, ...c }) as StatusChange;
  const object = told({ kind: "object", name: "cpu", resource: "a", view: "a", status: "3", previous: "0" });
  const own = told({ kind: "resource", name: "a", resource: "a", view: "V", status: "3", previous: "0", info: "bad" });
  const next = patch(t, indexOf(t), [object, own]);
  const { status, info, counts: now } = next.children[0] as TreeItem;
  assert.deepEqual({ status, info, now }, { status: "3", info: "bad", now: { ...counts, "0": 1, "3": 1 } });
  assert.equal(next.children[1], t.children[1]);
  const elsewhere = told({ kind: "object", name: "cpu", resource: "z", view: "z", status: "3", previous: "0" });
  assert.equal(patch(t, indexOf(t), [elsewhere]), t);
});

test("a shortcut follows what it leads to", () => {
  const counts = { "-": 0, "0": 2, "1": 0, "2": 0, "3": 0, "?": 0 };
  const lead = (name: string, target: string) =>
    element("shortcut", name, { status: "0", counts, answers: { target } });
  const t = treeOf([
    resource("a", { counts }),
    lead("to a", "a"),
    lead("to W", "W"),
    lead("to V", "V"),
    lead("z", "z"),
  ]);
  const told = (c: Partial<StatusChange>) =>
    ({ id: "", acknowledged: false, isunmanaged: false, status: "3", previous: "0", ...c }) as StatusChange;
  const changes = [
    told({ kind: "object", name: "cpu", resource: "a", view: "a" }),
    told({ kind: "resource", name: "a", resource: "a", view: "V" }),
    told({ kind: "resource", name: "b", resource: "b", view: "W" }),
    told({ kind: "view", name: "W", parentview: "MAIN" }),
  ];
  const next = patch(t, indexOf(t), changes);
  const one = { ...counts, "0": 1, "3": 1 };
  assert.deepEqual(
    next.children.map((c) => [c.name, c.status, c.counts]),
    [
      ["a", "3", one],
      ["to a", "3", one],
      ["to W", "3", one],
      ["to V", "0", one],
      ["z", "0", counts],
    ],
  );
  assert.equal(next.children[4], t.children[4]);
});

test("colours are made readable", () => {
  for (const ground of ["#ffffff", "#16191d", "#123b52", "#808080"])
    for (const colour of ["#224488", "#ffff00", "#777777", "#ffffff", "#000000"])
      assert.ok(contrast(readable(colour, ground), ground) >= 4.5, `${colour} on ${ground}`);
  assert.equal(readable("#224488", "#ffffff"), "#224488");
});

const area = (r: Rect) => r.width * r.height;

test("rectangles have the areas asked for, fill the space and do not overlap", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  for (let round = 0; round < 200; round++) {
    const sizes = Array.from({ length: 1 + Math.floor(random() * 40) }, () => Math.floor(random() ** 3 * 1000));
    const into = { x: 5, y: 7, width: 50 + random() * 900, height: 50 + random() * 600 };
    const rects = squarify(sizes, into);
    const total = sizes.reduce((a, b) => a + b, 0);
    assert.equal(rects.length, sizes.length);
    if (!total) continue;
    let off = 0;
    rects.forEach((r, i) => {
      off = Math.max(off, Math.abs(area(r) - ((sizes[i] as number) / total) * area(into)));
      off = Math.max(off, into.x - r.x, into.y - r.y);
      off = Math.max(off, r.x + r.width - into.x - into.width, r.y + r.height - into.y - into.height);
      for (const o of rects.slice(i + 1)) {
        const w = Math.min(r.x + r.width, o.x + o.width) - Math.max(r.x, o.x);
        const h = Math.min(r.y + r.height, o.y + o.height) - Math.max(r.y, o.y);
        off = Math.max(off, Math.max(0, w) * Math.max(0, h));
      }
    });
    assert.ok(off < 1e-6, `off by ${off}: ${JSON.stringify({ sizes, into })}`);
  }
});

test("rectangles are nearly squares", () => {
  const rects = squarify([6, 6, 4, 3, 2, 2, 1], { x: 0, y: 0, width: 6, height: 4 });
  // The example of the paper: nothing longer than three times its breadth.
  for (const r of rects) assert.ok(Math.max(r.width / r.height, r.height / r.width) < 3);
  assert.deepEqual(squarify([], { x: 0, y: 0, width: 10, height: 10 }), []);
  assert.deepEqual(squarify([0], { x: 0, y: 0, width: 10, height: 10 }).map(area), [0]);
});

test("the places of a tree map are summed up from below", () => {
  const places: Place[] = [
    { name: "MAIN", kind: "view", view: "MAIN" },
    { name: "A", kind: "view", view: "A", parentview: "MAIN" },
    { name: "r1", kind: "resource", resource: "r1", view: "A", parentview: "MAIN" },
    { name: "r2", kind: "resource", resource: "r2", view: "MAIN" },
    { name: "Disks", kind: "view", resource: "r1", view: "Disks", parentview: "r1" },
  ];
  const counts: Count[] = [
    { resource: "r1", view: "r1", status: "0", n: 5 },
    { resource: "r1", view: "Disks", status: "3", n: 2 },
    { resource: "r2", view: "r2", status: "1", n: 1 },
  ];
  const root = build(places, counts);
  assert.equal(root.total, 8);
  assert.deepEqual(find(root, "view//A")?.counts, { "0": 5, "3": 2 });
  assert.equal(find(root, "view/r1/Disks")?.total, 2);
  assert.equal(find(root, "resource/r1")?.parent?.name, "A");
  const r1 = find(root, "resource/r1");
  assert.deepEqual(r1 && shares(r1, 400).map((s) => [s.name, s.total]), [
    ["directly in it", 5],
    ["Disks", 2],
  ]);
  const { boxes } = layout(root, { x: 0, y: 0, width: 800, height: 600 });
  assert.deepEqual(
    boxes.map((b) => b.group.name),
    ["A", "r1", "r2"],
  );
  // Nobody's objects are lost when the tree is seen in part.
  assert.equal(build([], counts).total, 8);
});

test("one object in error among many is drawn, last and large enough to be seen", () => {
  const n = 20_000;
  const places: Place[] = [];
  const counts: Count[] = [];
  for (let i = 0; i < n; i++) {
    const name = `r${i}`;
    places.push({ name, kind: "resource", resource: name, view: "MAIN" });
    counts.push({ resource: name, view: name, status: "0", n: 5 });
  }
  counts.push({ resource: "r777", view: "r777", status: "3", n: 1 });
  const into = { x: 0, y: 0, width: 390, height: 400 }; // 1.5 pixels for each object
  const { fields } = layout(build(places, counts), into);
  assert.equal(fields.length, n + 1); // each resource by itself, and none left out
  const order = inOrder(fields);
  const bad = order.at(-1);
  assert.equal(bad?.status, "3");
  assert.ok(bad && Math.min(bad.width, bad.height) < 1);
  const r = bad && placed(bad);
  assert.ok(r && r.width >= 2 && r.height >= 2 && r.x >= 0 && r.y >= 0);
  assert.ok(r && r.x + r.width <= into.width && r.y + r.height <= into.height);
  assert.ok(bad && r && Math.abs(r.x - bad.x) <= 2 && Math.abs(r.y - bad.y) <= 2); // where it is
});

test("what is in error is not drawn under the title of its group", () => {
  const places: Place[] = [{ name: "A", kind: "view", view: "A", parentview: "MAIN" }];
  const counts: Count[] = [];
  for (let i = 0; i < 1000; i++) {
    const name = `r${i}`;
    places.push({ name, kind: "resource", resource: name, view: "A", parentview: "MAIN" });
    counts.push({ resource: name, view: name, status: "0", n: 9 }, { resource: name, view: name, status: "3", n: 1 });
  }
  const { fields, boxes } = layout(build(places, counts), { x: 0, y: 0, width: 183, height: 123 });
  assert.ok(boxes.find((b) => b.group.name === "A")?.titled);
  const red = fields.filter((f) => f.status === "3").map(placed);
  assert.equal(red.length, 1000);
  for (const r of red) {
    assert.ok(r.width >= 2 && r.height >= 2);
    const seen = r.x >= 1 && r.x + r.width <= 182 && r.y >= 1 + titleHeight && r.y + r.height <= 122;
    assert.ok(seen, `${r.x} ${r.y}`);
  }
});

test("many small groups are put together, and none is lost", () => {
  const places: Place[] = Array.from({ length: 1000 }, (_, i) => ({
    name: `r${i}`,
    kind: "resource",
    resource: `r${i}`,
    view: "MAIN",
  }));
  const counts: Count[] = places.map((p, i) => ({ resource: p.name, view: p.name, status: "0", n: i + 1 }));
  const parts = shares(build(places, counts), 100);
  assert.equal(parts.length, 100);
  assert.equal(
    parts.reduce((n, p) => n + p.total, 0),
    500_500,
  );
  assert.equal(
    parts.some((p) => p.name === "901 more"),
    true,
  );
});
