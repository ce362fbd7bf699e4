// Two people who edit a view at the same time: what somebody else has saved is not overwritten without asking.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tree, TreeItem } from "../src/api";
import { conflicts, inWords, keepMine, takeTheirs } from "../src/pages/map/conflicts";
import {
  add,
  apply,
  batches,
  change,
  changeView,
  countOf,
  remove,
  replaceAdded,
  settle,
  settleSaved,
  untouched,
} from "../src/pages/map/draft";

const icon = (name: string, more: Partial<TreeItem> = {}): TreeItem =>
  ({ kind: "resource", name, resource: name, package: "custom", posx: 50, posy: 50, ...more }) as TreeItem;
const label = (text: string, size: string) =>
  ({ kind: "element", package: "label", name: "L", posx: 10, posy: 10, answers: { text, size } }) as TreeItem;
const tree = (...children: TreeItem[]) =>
  ({ view: { kind: "view", name: "V", bg: "#111111" }, children, content: {} }) as unknown as Tree;
const cells = (t: Tree, d: typeof untouched) => batches(t, d).flatMap((b) => b.rows.map((r) => r.cells));

test("an icon that only one of two has moved is no conflict", () => {
  const d = change(untouched, icon("a"), { posx: 80, posy: 90 });
  assert.deepEqual(conflicts(tree(icon("a"), icon("b")), d), []);
  assert.deepEqual(conflicts(tree(icon("a"), icon("b", { posx: 400 })), d), []);
  assert.deepEqual(conflicts(tree(icon("a", { status: "3", width: 70 })), d), []);
  assert.deepEqual(conflicts(tree(icon("a", { posx: 80, posy: 90 })), d), []); // both to the same place
  assert.deepEqual(conflicts(tree(), d), []); // removed meanwhile
});

test("an icon that both have moved is a conflict, in whatever steps", () => {
  let d = change(untouched, icon("a"), { posx: 60, posy: 50 });
  d = change(d, icon("a", { posx: 60 }), { posx: 80, posy: 90 });
  const now = tree(icon("a", { posx: 400 }));
  const [c, ...more] = conflicts(now, d);
  assert.ok(c);
  assert.deepEqual(more, []);
  assert.equal(inWords(c.mine), "top 80, left 90");
  assert.equal(inWords(c.theirs), "top 400, left 50");
  // One moved it down, the other to the right: neither has meant what would come of both.
  assert.equal(conflicts(tree(icon("a", { posy: 300 })), change(untouched, icon("a"), { posx: 80 })).length, 1);
});

test("keep mine saves mine, unless it is moved once more", () => {
  const d = change(untouched, icon("a"), { posx: 80, posy: 90 });
  const now = tree(icon("a", { posx: 400 }));
  const kept = conflicts(now, d).reduce(keepMine, d);
  assert.deepEqual(conflicts(now, kept), []);
  assert.deepEqual(cells(now, kept), [{ name: "a", posx: "80", posy: "90" }]);
  assert.equal(conflicts(tree(icon("a", { posx: 500 })), kept).length, 1);
});

test("take theirs drops only what they have changed", () => {
  let d = change(untouched, label("Hall", "12"), { posx: 80, posy: 90, answers: { text: "My hall" } });
  d = change(d, icon("a"), { posx: 80, posy: 90 });
  const now = tree(label("Their hall", "20"), icon("a", { posx: 400 }));
  const found = conflicts(now, d);
  assert.deepEqual(
    found.map((c) => [c.item.name, inWords(c.mine), inWords(c.theirs)]),
    [
      ["L", "text “My hall”", "text “Their hall”"],
      ["a", "top 80, left 90", "top 400, left 50"],
    ],
  );
  const taken = found.reduce(takeTheirs, d);
  assert.deepEqual(conflicts(now, taken), []);
  assert.deepEqual(cells(now, taken), [{ name: "L", posx: "80", posy: "90" }]);
  assert.deepEqual(Object.keys(taken.base), ["element/label/L"]);
});

test("the background of the view is compared, too", () => {
  const t = tree(icon("a"));
  const d = changeView(untouched, t.view, { bg: "#222222" });
  assert.deepEqual(conflicts(t, d), []);
  const now = { ...t, view: { ...t.view, bg: "#333333" } };
  const found = conflicts(now, d);
  assert.equal(found.length, 1);
  assert.deepEqual(cells(now, found.reduce(takeTheirs, d)), []);
});

test("what was saved is forgotten, with what it was before", () => {
  const d = change(change(untouched, icon("a"), { posx: 80 }), icon("b"), { posx: 90 });
  const left = settle(d, new Set(["resource/a/a"]), "view//V");
  assert.deepEqual(Object.keys(left.base), ["resource/b/b"]);
});

test("what is edited while a save runs stays, and is compared with what was saved", () => {
  const t = tree(icon("a"), icon("b"), label("Hall", "12"));
  let sent = change(untouched, icon("a"), { posx: 80, posy: 90 });
  sent = change(sent, label("Hall", "12"), { answers: { text: "My hall" } });
  sent = changeView(add(sent, icon("new")), t.view, { bg: "#222222" });
  const keys = new Set(["resource/a/a", "element/label/L", "resource/new/new", "view//V"]);
  const saved = {
    ...tree(icon("a", { posx: 80, posy: 90 }), icon("b"), label("My hall", "12"), icon("new")),
    view: t.view,
  };
  saved.view = { ...t.view, bg: "#222222" };
  const left = (d: typeof untouched) => settleSaved(d, sent, keys, "view//V");
  assert.equal(countOf(left(sent)), 0);

  let later = change(sent, icon("a", { posx: 80, posy: 90 }), { posx: 100, posy: 90 });
  later = change(later, icon("b"), { posx: 10, posy: 20 });
  later = change(later, label("My hall", "12"), { answers: { size: "20" } });
  later = change(later, icon("new"), { posx: 70 });
  later = changeView(later, t.view, { bg: "#333333" });
  const rest = left(later);
  assert.deepEqual(rest.changes, {
    "resource/a/a": { posx: 100, posy: 90 }, // a place is saved whole, or it would end where no one put it
    "resource/b/b": { posx: 10, posy: 20 },
    "element/label/L": { answers: { size: "20" } },
    "resource/new/new": { posx: 70, posy: 50 },
  });
  assert.deepEqual([rest.view, rest.added], [{ bg: "#333333" }, []]);
  assert.deepEqual(conflicts(saved, rest), []);
  const theirs = tree(icon("a", { posx: 300 }), icon("b"), label("My hall", "12"), icon("new"));
  assert.deepEqual(
    conflicts({ ...theirs, view: saved.view }, rest).map((c) => c.item.name),
    ["a"],
  );

  // What was undone was saved all the same, so to undo it is a change.
  assert.deepEqual(left(untouched).changes["resource/a/a"], { posx: 50, posy: 50 });
  assert.deepEqual(left(remove(sent, icon("a"))).changes, {});
  assert.deepEqual(Object.keys(left(remove(sent, icon("a"))).removed), ["resource/a/a"]);
});

test("what one removes and another has changed meanwhile is asked, too", () => {
  const d = remove(untouched, label("Hall", "12"));
  assert.deepEqual(conflicts(tree(label("Hall", "12"), icon("a")), d), []);
  assert.deepEqual(conflicts(tree(icon("a")), d), []); // both have removed it
  const now = tree(label("Their hall", "12"));
  const [c] = conflicts(now, d);
  assert.ok(c?.removal);
  assert.deepEqual([inWords(c.theirs), inWords(c.mine)], ["text “Their hall”", "text “Hall”"]);
  const anyway = keepMine(d, c);
  assert.deepEqual(conflicts(now, anyway), []);
  assert.deepEqual(cells(now, anyway), [{ name: "L" }]);
  assert.equal(conflicts(tree(label("Once more", "12")), anyway).length, 1);
  const kept = takeTheirs(d, c);
  assert.equal(countOf(kept), 0);
  assert.deepEqual(kept.base, {});

  // One's own change before the removal is no change of another user.
  const moved = change(untouched, label("Hall", "12"), { posx: 80, posy: 90 });
  assert.deepEqual(conflicts(tree(label("Hall", "12")), remove(moved, { ...label("Hall", "12"), posx: 80 })), []);
  const saved = settleSaved(remove(moved, label("Hall", "12")), moved, new Set(["element/label/L"]), "view//V");
  const landed = { ...label("Hall", "12"), posx: 80, posy: 90 };
  assert.deepEqual(conflicts(tree(landed), saved), []);
  assert.equal(conflicts(tree({ ...landed, posx: 10 }), saved).length, 1);
});

test("something new is shown although another user has made something of the same name, and can get another name", () => {
  const [theirs, mine] = [label("Their hall", "12"), label("My hall", "12")];
  const d = add(untouched, mine);
  const t = tree(icon("a"), theirs);
  assert.deepEqual(apply(t, d).children, [icon("a"), mine]);
  const other = { ...mine, name: "M" };
  const renamed = replaceAdded(d, "element/label/L", other);
  assert.deepEqual(apply(t, renamed).children, [icon("a"), theirs, other]);
});
