// Rows of a file that name what an earlier row names.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Package } from "../src/api";
import { Existing } from "../src/pages/provisioning/existing";
import { duplicatesOf, earlierRows, repeats } from "../src/pages/provisioning/repeated";
import { Sheet } from "../src/pages/provisioning/sheet";

const pkg = (kind: Package["kind"]) => ({ name: "p", kind, columns: [], parts: [] }) as unknown as Package;

async function found(kind: Package["kind"], text: string, change = (s: Sheet) => s) {
  const sheet = await Sheet.read("f.csv", text);
  assert.ok(sheet);
  const now = change(sheet);
  return (await duplicatesOf(now, pkg(kind))).map((d) => `${repeats(now, d)}: ${d.name}, ${d.same ? "same" : "other"}`);
}

test("are named with the lines of both", async () => {
  assert.deepEqual(await found("resource", 'name,view\nweb01,MAIN\nweb02,MAIN\n\n" web01",MAIN\nweb01,Site\n'), [
    "Line 5 names the same as line 2: web01, same",
    "Line 6 names the same as line 2: web01, other",
  ]);
});

test("are those of one resource, where names repeat between resources", async () => {
  const text = "name,resname\ncpu,a\ncpu,b\ncpu,a\n";
  assert.deepEqual(await found("object", text), ["Line 4 names the same as line 2: cpu, same"]);
});

test("do not count when they are left out, have no name, or mean everything in a view", async () => {
  const text = "name,view\na,MAIN\na,MAIN\n,x\n,x\n*,V\n*,W\n";
  assert.deepEqual(await found("resource", text, (s) => s.leaveOutAll([1])), []);
  assert.deepEqual(await found("resource", text), ["Line 3 names the same as line 2: a, same"]);
});

test("what each row does is what the service counts", async () => {
  const columns = [{ name: "name" }, { name: "view" }, { name: "ip" }, { name: "port", default: "161" }];
  const p = { ...pkg("resource"), columns } as unknown as Package;
  const there = await Sheet.read("export", "name,view,ip,port\nold,MAIN,192.0.2.1,161\n");
  const text = [
    "name,view,ip,port",
    "web,,192.0.2.2,",
    "web,MAIN,192.0.2.2,161", // the same
    "web,MAIN,192.0.2.3,",
    "web,MAIN,192.0.2.2,", // back again
    "old,,192.0.2.9,",
    " old,,192.0.2.9,",
    "bad,,x,",
    "bad,,192.0.2.4,",
  ];
  const sheet = await Sheet.read("f.csv", `${text.join("\n")}\n`);
  assert.ok(there && sheet);
  const existing = Existing.of(p, there);
  const earlier = earlierRows(await duplicatesOf(sheet, p));
  const wrong = new Set([6]);
  const effects = text.slice(1).map((_, i) =>
    existing.effect(
      sheet,
      i,
      earlier(i).filter((row) => !wrong.has(row)),
    ),
  );
  assert.deepEqual(
    effects.map((e) => e.kind),
    ["new", "same", "changes", "changes", "changes", "same", "new", "new"],
  );
  assert.deepEqual(effects[3]?.was, [undefined, undefined, "192.0.2.3", undefined]);
});
