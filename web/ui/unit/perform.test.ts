// What is done with many rows is one call, and what became of each is told.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { ActBody } from "../src/api";
import type { ActionItem } from "../src/parts/actions/item";
import { calls, perform } from "../src/parts/actions/perform";

let asked: ActBody[];
let answer: (body: ActBody) => Response;

beforeEach(() => {
  asked = [];
  globalThis.fetch = async (_, init) => {
    const body = JSON.parse(String(init?.body)) as ActBody;
    asked.push(body);
    return answer(body);
  };
});

const items: ActionItem[] = [
  { kind: "object", name: "same", resource: "one" },
  { kind: "object", name: "same", resource: "two" },
  { kind: "view", name: "same", resource: "two" },
  { kind: "resource", name: "one" },
  { kind: "view", name: "Site" },
];

const go = (list: ActionItem[]) => perform(list, { ack: "seen" }, new AbortController().signal, () => undefined);

test("items of every kind and resource go into one call", async () => {
  answer = (body) =>
    Response.json(
      {
        items: body.items.slice(0, 3).map((i) => ({ ...i, resource: i.resname, result: "acknowledged", content: 0 })),
        errors: body.items
          .slice(3)
          .map((i) => ({ name: i.name, kind: i.kind, resource: i.resname, code: "not_in_error", message: "is well" })),
      },
      { status: 207 },
    );
  const got = await go(items);
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0], {
    ack: "seen",
    items: [
      { name: "same", kind: "object", resname: "one" },
      { name: "same", kind: "object", resname: "two" },
      { name: "same", kind: "view", resname: "two" },
      { name: "one", kind: "resource" },
      { name: "Site", kind: "view" },
    ],
  });
  assert.deepEqual(
    got.map((o) => [o.item.kind, o.item.resource, o.item.name, o.done?.result ?? o.error]),
    [
      ["object", "one", "same", "acknowledged"],
      ["object", "two", "same", "acknowledged"],
      ["view", "two", "same", "acknowledged"],
      ["resource", undefined, "one", "is well"],
      ["view", undefined, "Site", "is well"],
    ],
  );
});

test("a report beside an error is one, too; a refusal is told for each", async () => {
  answer = (body) =>
    Response.json(
      {
        error: { code: "not_in_error", message: "none" },
        items: [],
        errors: body.items.map((i) => ({
          ...i,
          resource: i.resname,
          code: "not_in_error",
          message: `${i.kind} is well`,
        })),
      },
      { status: 409 },
    );
  assert.deepEqual(
    (await go(items)).map((o) => o.error),
    ["object is well", "object is well", "view is well", "resource is well", "view is well"],
  );
  answer = () => Response.json({ error: { code: "insufficient_level", message: "no" } }, { status: 403 });
  assert.deepEqual(new Set((await go(items)).map((o) => o.error)), new Set(["no"]));
});

test("a hundred thousand rows are one call; what the service does not take at once is parted", () => {
  const many = (n: number, name: string): ActionItem[] =>
    Array.from({ length: n }, (_, i) => ({ kind: "object", name: `${name}${i}`, resource: `r${i % 50}` }));
  assert.equal(calls(many(100_000, "disk ")).length, 1);
  assert.deepEqual(
    calls(many(300_000, "o")).map((c) => c.length),
    [200_000, 100_000],
  );
  const long = calls(many(150_000, "ü".repeat(240)));
  for (const c of long) assert.ok(JSON.stringify(c).length < 32 << 20);
  assert.equal(
    long.reduce((n, c) => n + c.length, 0),
    150_000,
  );
});
