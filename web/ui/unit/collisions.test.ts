// Two people who save the same place at the same moment, so that neither has seen the other's change before.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tree, TreeItem } from "../src/api";
import { saying } from "../src/pages/map/Collisions";
import { type Collision, collisions, movesOf, restore, type Saving, sentOf } from "../src/pages/map/collisions";
import { conflicts } from "../src/pages/map/conflicts";
import { batches, change, changeView, type Draft, untouched } from "../src/pages/map/draft";
import { keyOf } from "../src/pages/map/scene";
import { local } from "../src/parts/Time";

const icon = (name: string, more: Partial<TreeItem> = {}): TreeItem =>
  ({ kind: "resource", name, resource: name, package: "custom", posx: 50, posy: 50, ...more }) as TreeItem;
const view = { kind: "view", name: "V", bg: "#111111" } as TreeItem;
const tree = (...children: TreeItem[]) => ({ view, children, content: {} }) as unknown as Tree;

function saving(t: Tree, d: Draft): Saving {
  const all = batches(t, d);
  const saved = new Set(all.flatMap((b) => b.rows.map((r) => r.key)));
  return { sent: sentOf(all, saved), after: "", from: "", by: "me" };
}

const at = (second: number) => `2026-11-18T10:00:${String(second).padStart(2, "0")}.000000Z`;
const event = (user: string, info: string, second = 0) => ({ id: "", timestamp: at(second), info, user });

const t = tree(icon("a"), icon("b"));
const mine = saving(t, change(untouched, icon("a"), { posx: 100, posy: 90 }));
const own = (was: string, second = 1) => event("me", `resource a changed: posx: ${was} -> 100, posy: 50 -> 90`, second);

const only = (found: Collision[]): Collision => {
  assert.equal(found.length, 1);
  return found[0] as Collision;
};

test("a save that meets no other is no collision", () => {
  assert.deepEqual(collisions(mine, [own("50")]), []);
  assert.deepEqual(collisions(mine, []), []);
  assert.deepEqual(collisions(mine, [event("kim", "resource b changed: posx: 50 -> 20"), own("50")]), []);
  assert.deepEqual(collisions(mine, [own("50"), event("kim", "resource a changed: ip: x -> y", 2)]), []);
  assert.deepEqual(collisions(mine, [own("50"), event("kim", "resource a changed: posx: 100 -> 20", 30)]), []); // kim has seen mine
});

test("what mine replaced unseen is told and offered, with whose it was", () => {
  const c = only(collisions(mine, [event("kim", "resource a changed: posx: 50 -> 20"), own("20")]));
  assert.deepEqual([c.lost, c.by, c.at], [false, "kim", at(0)]);
  assert.equal(
    saying(c),
    `you replaced what kim saved at ${local(at(0))}: now top 100, left 90; theirs was top 20, left 50`,
  );
  const d = restore(untouched, view, c);
  assert.deepEqual(d.changes[keyOf(icon("a"))], { posx: 20, posy: 50 });
  assert.deepEqual(conflicts(tree(icon("a", { posx: 100, posy: 90 })), d), []); // to restore is no other conflict
});

test("whoever was replaced right afterwards is told", () => {
  const c = only(collisions(mine, [own("50"), event("kim", "resource a changed: posx: 100 -> 20", 2)]));
  assert.deepEqual([c.lost, c.by], [true, "kim"]);
  assert.equal(
    saying(c),
    `kim replaced what you saved at ${local(at(2))}: now top 20, left 90; yours was top 100, left 90`,
  );
  assert.deepEqual(restore(untouched, view, c).changes[keyOf(icon("a"))], { posx: 100, posy: 90 });
  const back = [own("50"), event("kim", "resource a changed: posx: 100 -> 20", 2), own("20", 3)];
  assert.equal(collisions(mine, back.slice(0, 2)).length, 1);
});

test("columns that a row only shares with others of its request count as saved, too", () => {
  const both = saving(t, change(change(untouched, icon("a"), { posx: 100 }), icon("b"), { width: 60 }));
  const events = [
    event("kim", "resource b changed: posx: 50 -> 20"),
    event("me", "resource a changed: posx: 50 -> 100", 1),
    event("me", 'resource b changed: posx: 20 -> 50, width: "" -> 60', 1),
  ];
  const c = only(collisions(both, events));
  assert.deepEqual([c.item.name, c.by, c.theirs.posx], ["b", "kim", 20]);
});

test("texts and backgrounds are compared as events show them", () => {
  const label = {
    kind: "element",
    package: "label",
    name: "L",
    answers: { text: "old, posx: no" },
  } as unknown as TreeItem;
  const texts = saving(tree(label), change(untouched, label, { answers: { text: "new" } }));
  const seen = event("me", "label L changed: text: old, posx: no -> new");
  assert.deepEqual(collisions(texts, [seen]), []);
  const unseen = only(collisions(texts, [event("me", `label L changed: text: ${"x".repeat(97)}… -> new`)]));
  assert.equal(unseen.by, "somebody");
  assert.deepEqual(restore(untouched, view, unseen).changes[keyOf(label)], {}); // only its beginning is known
  const ground = saving(t, changeView(untouched, view, { bg: "" }));
  const c = only(
    collisions(ground, [
      event("kim", "view V changed: bg: #111111 -> #222222"),
      event("me", 'view V changed: bg: #222222 -> ""'),
    ]),
  );
  assert.deepEqual(restore(untouched, view, c).view, { bg: "#222222" });
});

test("an item is found in an event about many", () => {
  const info =
    "2 views changed: V (bg: x -> y), W (bg: x -> z); 3 resources of package custom changed: n1 (posx: 10 -> 30, posy: 20 -> 40), a (posx: 11 -> 31), n2 (posx: 12 -> 32)";
  assert.deepEqual([...movesOf(info, icon("a"))], [["posx", ["11", "31"]]]);
  assert.deepEqual(
    [...movesOf(info, icon("n1"))],
    [
      ["posx", ["10", "30"]],
      ["posy", ["20", "40"]],
    ],
  );
  assert.deepEqual([...movesOf(info, view)], [["bg", ["x", "y"]]]);
  assert.deepEqual([...movesOf(info, icon("n"))], []);
  assert.deepEqual([...movesOf(info, icon("a", { package: "ping" }))], []);
});
