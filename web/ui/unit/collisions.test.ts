// Two people who save the same place at the same moment, so that neither has seen the other's change before.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tree, TreeItem } from "../src/api";
import { saying } from "../src/pages/map/Collisions";
import {
  type Collision,
  collisions,
  movesOf,
  presentOf,
  replaced,
  restorable,
  restore,
  type Saving,
  sentOf,
  without,
} from "../src/pages/map/collisions";
import { conflicts } from "../src/pages/map/conflicts";
import { batches, change, changeView, csv, type Draft, remove, untouched } from "../src/pages/map/draft";
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
  const late = { ...event("kim", "resource a changed: posx: 100 -> 20"), timestamp: "2026-11-18T10:01:02.000000Z" };
  assert.deepEqual(collisions(mine, [own("50"), late]), []); // more than a minute afterwards
});

test("what mine replaced unseen is told and offered, with whose it was", () => {
  const c = only(collisions(mine, [event("kim", "resource a changed: posx: 50 -> 20"), own("20")]));
  assert.deepEqual([c.lost, c.by, c.at], [false, "kim", at(0)]);
  assert.equal(
    saying(c, c.mine),
    `you replaced what kim saved at ${local(at(0))}, which you had not seen: now top 100, left 90; theirs was top 20, left 50`,
  );
  const d = restore(untouched, tree(icon("a", { posx: 100, posy: 90 })), c);
  assert.deepEqual(d.changes[keyOf(icon("a"))], { posx: 20, posy: 50 });
  assert.deepEqual(conflicts(tree(icon("a", { posx: 100, posy: 90 })), d), []); // to restore is no other conflict
});

test("whoever was replaced afterwards is told for a minute", () => {
  const c = only(collisions(mine, [own("50"), event("kim", "resource a changed: posx: 100 -> 20", 2)]));
  assert.deepEqual([c.lost, c.by], [true, "kim"]);
  assert.equal(
    saying(c, c.theirs),
    `kim replaced what you saved (afterwards, at ${local(at(2))}): now top 20, left 90; yours was top 100, left 90`,
  );
  const later = only(collisions(mine, [own("50"), event("kim", "resource a changed: posx: 100 -> 20", 59)]));
  assert.match(saying(later, later.theirs), / \(afterwards, at .*\): /);
  const together = only(collisions(mine, [own("50"), event("kim", "resource a changed: posx: 100 -> 20", 1)]));
  assert.match(saying(together, together.theirs), / \(at the same time, at .*\): /);
  assert.deepEqual(restore(untouched, tree(icon("a", { posx: 20, posy: 90 })), c).changes[keyOf(icon("a"))], {
    posx: 100,
    posy: 90,
  });
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
  assert.equal(unseen.by, "another user");
  assert.deepEqual(restore(untouched, tree(label), unseen).changes[keyOf(label)], {}); // only its beginning is known
  const ground = saving(t, changeView(untouched, view, { bg: "" }));
  const c = only(
    collisions(ground, [
      event("kim", "view V changed: bg: #111111 -> #222222"),
      event("me", 'view V changed: bg: #222222 -> ""'),
    ]),
  );
  assert.deepEqual(restore(untouched, t, c).view, { bg: "#222222" });
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

// Every order in which people can save a place, seen by one of them, against what is known of all places there have been.

interface Save {
  user: string;
  posx: number;
  posy?: number;
}

/** played gives the events of saves that follow each other, and the place before each and after all of them. */
function played(saves: Save[]) {
  let place = { posx: 0, posy: 0 };
  const places = [place];
  const events: ReturnType<typeof event>[] = [];
  saves.forEach((s, at) => {
    const to = { posx: s.posx, posy: s.posy ?? place.posy };
    const moves = (["posx", "posy"] as const).filter((f) => to[f] !== place[f]);
    const text = moves.map((f) => `${f}: ${place[f]} -> ${to[f]}`).join(", ");
    if (text) events.push(event(s.user, `resource a changed: ${text}`, at));
    place = to;
    places.push(place);
  });
  return { events, places };
}

function check(all: Save[]) {
  const saves = all.map((s) => (s.user === "me" ? { ...s, posy: s.posy ?? 0 } : s)); // the page saves a place whole, others need not
  const { events, places } = played(saves);
  const at = saves.findIndex((s) => s.user === "me");
  const [start, before, saved, last] = [places[0], places[at], places[at + 1], places.at(-1)];
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  const writer = (from: number, to: number) =>
    saves.slice(from, to).findLast((_, i) => !same(places[from + i], places[from + i + 1]))?.user;
  const { user: _, ...wanted } = all[at] as Save;
  const was = icon("a", start);
  const [c] = collisions(saving(tree(was), change(untouched, was, wanted)), events);
  const told = c && { lost: c.lost, by: c.by, mine: c.mine, theirs: c.theirs };
  let right: unknown;
  // Who saves what is there already has changed nothing: if it was so from the beginning, nobody is concerned.
  const idle = same(before, saved);
  if (idle && wanted.posy === undefined) return; // and of half a place there is no telling when
  if (!same(last, saved) && !(idle && same(before, start)))
    right = { lost: true, by: writer(at + 1, saves.length), mine: saved, theirs: last };
  else if (!same(before, start) && !idle) right = { lost: false, by: writer(0, at), mine: saved, theirs: before };
  assert.deepEqual(told, right, JSON.stringify(saves));
}

const coordinates = [0, 1, 2];
const wholes = coordinates.flatMap((posx) => coordinates.map((posy) => ({ posx, posy })));
const wanted = [...wholes, ...coordinates.map((posx) => ({ posx }))];

test("two and three saves of a place, in every order: what each replaced is what was there", () => {
  for (const a of wanted)
    for (const b of wanted) {
      check([
        { user: "me", ...a },
        { user: "kim", ...b },
      ]);
      check([
        { user: "kim", ...a },
        { user: "me", ...b },
      ]);
      for (const c of wanted) {
        check([
          { user: "me", ...a },
          { user: "kim", ...b },
          { user: "lee", ...c },
        ]);
        check([
          { user: "kim", ...a },
          { user: "me", ...b },
          { user: "lee", ...c },
        ]);
        check([
          { user: "kim", ...a },
          { user: "lee", ...b },
          { user: "me", ...c },
        ]);
      }
    }
});

test("what is there now is told, not what was there when somebody replaced it", () => {
  const c = only(collisions(mine, [own("50"), event("kim", "resource a changed: posx: 100 -> 20", 2)]));
  const now = (posx: number, posy: number) => presentOf(c, tree(icon("a", { posx, posy })));
  assert.deepEqual(now(30, 40), { posx: 30, posy: 40 });
  assert.equal(now(100, 90), undefined); // it is mine again
  assert.equal(presentOf(c, tree(icon("b"))), undefined);
});

test("my own later save is not somebody else's", () => {
  const later = saving(tree(icon("a", { posx: 100, posy: 90 })), change(untouched, icon("a"), { posx: 30, posy: 90 }));
  const events = [own("50"), event("me", "resource a changed: posx: 100 -> 30", 2)];
  assert.deepEqual(collisions(without(mine, later.sent), events), []);
  assert.deepEqual(collisions(later, events), []);
  const size = saving(t, change(untouched, icon("a"), { width: 60 }));
  assert.deepEqual(without(mine, size.sent), mine);
});

test("whoever hears of no changes is told when the view is not as it was saved", () => {
  assert.deepEqual(replaced(mine, tree(icon("a", { posx: 100, posy: 90 }))), []);
  assert.deepEqual(presentOf(only(replaced(mine, tree(icon("b")))), tree(icon("b"))), {}); // removed, or moved away
  const c = only(replaced(mine, tree(icon("a", { posx: 20, posy: 90 }))));
  assert.equal(
    saying(c, c.theirs),
    "another user replaced what you saved: now top 20, left 90; yours was top 100, left 90",
  );
});

test("whoever saved something is told that another user has removed it, and what is drawn can be put back", () => {
  const label = {
    kind: "element",
    package: "label",
    name: "L",
    answers: { text: "old" },
    posx: 10,
  } as unknown as TreeItem;
  const texts = saving(tree(label), change(untouched, label, { answers: { text: "new" } }));
  const mine = event("me", "label L changed: text: old -> new", 1);
  for (const info of [
    "label L removed",
    "3 elements of package label removed: A, L, M",
    "1 view removed: V; 1 element of package label removed: L",
  ]) {
    const c = only(collisions(texts, [mine, event("kim", info, 20)]));
    assert.equal(saying(c, {}), `kim removed what you saved (afterwards, at ${local(at(20))}); yours was text “new”`);
    assert.deepEqual(presentOf(c, tree()), {});
    assert.equal(presentOf(c, tree(label)), undefined); // it is there again
    assert.equal(restorable(c), true);
    assert.deepEqual(
      batches(tree(), restore(untouched, tree(), c)).map((b) => [b.fresh, csv(b)]),
      [[true, 'name,view,text,posx\n"L","V","new","10"\n']],
    );
  }
  for (const info of [
    "label LL removed",
    "label L removed changed: text: a -> b",
    "2 elements of package link removed: L, M",
  ])
    assert.deepEqual(collisions(texts, [mine, event("kim", info, 20)]), []);
  assert.deepEqual(collisions(texts, [event("kim", "label L removed"), mine]), []); // and made again since
  const c = only(
    collisions(saving(t, change(untouched, icon("a"), { posx: 100, posy: 90 })), [
      own("50"),
      event("kim", "resource a removed, with 2 inside", 2),
    ]),
  );
  assert.equal(restorable(c), false);
  assert.equal(saying(only(replaced(texts, tree())), {}), "another user removed what you saved; yours was text “new”");
});

test("whoever removes what another user has just changed is told what it was", () => {
  const label = { kind: "element", package: "label", name: "L", answers: { text: "old" } } as unknown as TreeItem;
  const removal = saving(tree(label), remove(untouched, label));
  const gone = event("me", "label L removed", 2);
  assert.deepEqual(collisions(removal, [gone]), []);
  assert.deepEqual(collisions(removal, [gone, event("kim", "label L changed: text: old -> new", 3)]), []); // another one
  const c = only(collisions(removal, [event("kim", "label L changed: text: old -> new", 1), gone]));
  assert.equal(
    saying(c, {}),
    `you removed what kim changed at ${local(at(1))}, which you had not seen; theirs was text “new”`,
  );
  assert.equal(restore(untouched, tree(), c).added[0]?.answers?.text, "new");
  // What is removed is not watched as saved any more, nor the other way round.
  const texts = saving(tree(label), change(untouched, label, { answers: { text: "new" } }));
  assert.deepEqual(without(texts, removal.sent).sent, []);
  assert.deepEqual(without(removal, texts.sent).sent, []);
  assert.deepEqual(without(removal, saving(t, change(untouched, icon("a"), { posx: 1 })).sent), removal);
});

test("a removal names what is there now, not what there was when it was decided", () => {
  const was = icon("a");
  const d = remove(untouched, was);
  const now = icon("a", { posx: 400 });
  assert.deepEqual(batches(tree(now), d)[0]?.rows[0]?.item, now);
  assert.deepEqual(batches(tree(), d)[0]?.rows[0]?.item, was);
});
