// Filters: what stands in the address, and the question that is made of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditions, newerThan } from "../src/pages/events/filter";
import { contentQuery } from "../src/pages/item/contentQuery";
import { type Filter, inWords, narrows, order, read, where, write } from "../src/pages/status/filter";

const status = (search: string): Filter => read(new URLSearchParams(search));

test("a plain address stays plain, and nothing is lost on the way", () => {
  for (const search of [
    "",
    "text=a+b",
    "status=3%2C1",
    "kind=object%2Cview",
    "kind=all",
    "kind=resource",
    "class=c&view=v&acknowledged=yes&unmanaged=no",
    "sort=name+desc",
    "sort=since+asc",
    "sort=status+asc",
  ]) {
    const once = status(search);
    assert.deepEqual(read(write(once)), once, search);
  }
  assert.equal(write(status("")).toString(), "");
  assert.equal(write(status("sort=status+desc")).toString(), "");
  assert.equal(write(status("kind=object")).toString(), "");
  assert.equal(write(status("kind=object,resource,view")).toString(), "kind=all");
});

test("what an address says wrongly is left out", () => {
  const f = status("status=9,3,x&kind=house&acknowledged=perhaps&sort=colour+up");
  assert.deepEqual([f.status, f.kind, f.acknowledged, f.sort], [["3"], ["object"], "", "status"]);
});

test("a filter becomes a condition in which texts are only texts", () => {
  assert.equal(where(status("")), " WHERE kind IN ('object')"); // a fault is one line
  assert.equal(where(status("kind=all&status=3")), " WHERE status IN ('3')");
  assert.equal(where(status("kind=all&status=3"), false), "");
  assert.equal(where(status("kind=object,resource,view")), ""); // all of them
  assert.equal(where(status("kind=all&class=it's")), " WHERE class = 'it''s'");
  assert.equal(where(status("kind=all&view=v")), " WHERE (view = 'v' OR parentview = 'v' OR resource = 'v')");
  const text = where(status("kind=all&text=50%25_'+x"));
  assert.ok(text.includes("name LIKE '%50__''%'"), text); // no wildcard of its own
  assert.equal(text.match(/ AND /g)?.length, 1);
  assert.equal((where(status(`kind=all&text=${"a+".repeat(50)}`)).match(/ AND /g) ?? []).length, 7); // eight words
});

test("rows have one order, whatever they are sorted by", () => {
  assert.equal(order(status("")), " ORDER BY status DESC, name ASC, resource ASC");
  assert.equal(order(status("sort=name+asc")), " ORDER BY name ASC, resource ASC");
  assert.equal(order(status("sort=class+asc")), " ORDER BY class ASC, name ASC");
});

test("which filters narrow the list", () => {
  assert.equal(narrows(status("sort=name+asc")), false);
  assert.equal(narrows(status("text=+")), false);
  assert.equal(narrows(status("view=v")), true);
});

test("events: exact values are quoted, several are a list", () => {
  const f = { type: ["alarm"], status: ["3", "1"], source: [], exact: { user: "o'neill" }, words: "disk" };
  const [, ...rest] = conditions(f, { key: "1h", span: 3600 });
  assert.deepEqual(rest, ["type = 'alarm'", "status IN ('3', '1')", "user = 'o''neill'"]);
  const newer = newerThan({ select: "id", from: "events", where: ["a = 'b'"] }, "7'");
  assert.match(newer, /WHERE a = 'b'\s+AND id > '7'{3}$/);
});

test("a filter is told in words, for paper", () => {
  const f = (search: string, want: string) => assert.equal(inWords(status(search)), want);
  f("", "Shown: objects; the worst first");
  f(
    "text=web&status=3,1&kind=all&class=c&view=v&acknowledged=no&unmanaged=yes&sort=name",
    "Shown: objects and resources and views; status Critical or Warning; with “web”; of the class c; in v; not acknowledged; unmanaged; by Name, rising",
  );
});

test("content is asked for with the worst first, of the right place", () => {
  const f = (kind: "view" | "resource", name: string, resource: string | undefined, want: RegExp) => {
    const q = contentQuery({ kind, name, resource }, 200);
    assert.match(q, want);
    assert.match(q, /ORDER BY status DESC, name ASC, kind ASC LIMIT 100 OFFSET 200$/);
  };
  f("resource", "it's", "it's", /resource = 'it''s' AND \(\(kind = 'object' AND view = 'it''s'\) OR /);
  f(
    "view",
    "V",
    "r",
    /resource = 'r' AND \(\(kind = 'object' AND view = 'V'\) OR \(kind = 'view' AND parentview = 'V'\)\)/,
  );
  f("view", "V", undefined, /\(kind = 'resource' AND view = 'V'\) OR .* AND resource IS NULL\)/);
});
