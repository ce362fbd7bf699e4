// Changes cause few reads, however many there are.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import type { EventRow } from "../src/api";
import type { StatusChange } from "../src/live";
import { type ItemName, isEventOf, isProblemOf, partsAfterChanges, partsAfterEvents } from "../src/pages/item/changes";
import { Reads } from "../src/pages/item/reads";
import { changedRows } from "../src/parts/change";
import { Pacer } from "../src/parts/pacer";

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
});

const view: ItemName = { kind: "view", name: "Hall" };
const resource = (n: number, status: string) =>
  ({ kind: "resource", name: `r${n}`, resource: `r${n}`, view: "Hall", status, previous: "0" }) as StatusChange;

test("two changes a second cause one request in two seconds, and every part is read in turn", () => {
  const reads: string[] = [];
  const pacer = new Pacer(2000);
  for (let ms = 0; ms < 60_000; ms += 500) {
    const parts = partsAfterChanges([resource(ms, "3")], view);
    assert.deepEqual(parts, ["explain", "content"]);
    for (const part of parts) pacer.request(part, () => reads.push(part));
    mock.timers.tick(500);
  }
  assert.equal(reads.length, 30);
  for (const part of ["explain", "content"]) assert.equal(reads.filter((r) => r === part).length, 15);
});

test("a single change is read at once, a read of several pages holds the next one longer, and the last change counts", () => {
  const reads: [string, number][] = [];
  const pacer = new Pacer(2000);
  const begin = Date.now();
  const request = (part: string, pages = 1) => pacer.request(part, () => reads.push([part, Date.now() - begin]), pages);
  mock.timers.tick(1);
  request("content", 3);
  mock.timers.tick(1);
  assert.deepEqual(
    reads.map(([part]) => part),
    ["content"],
  );
  request("explain");
  request("explain");
  for (let ms = 0; ms < 30_000; ms += 100) mock.timers.tick(100);
  assert.equal(reads.length, 2);
  assert.equal((reads[1]?.[1] ?? 0) - (reads[0]?.[1] ?? 0), 6000);
  request("explain");
  pacer.end();
  for (let ms = 0; ms < 30_000; ms += 100) mock.timers.tick(100);
  assert.equal(reads.length, 2);
});

test("the head of an item's page does not wait for the rest", () => {
  const read: [string, number][] = [];
  const begin = Date.now();
  const reads = new Reads(2000, {
    read: (parts) => read.push([parts.join(" "), Date.now() - begin]),
    requests: (part) => (part === "content" ? 3 : 1),
  });
  reads.requestInTurn(["content"]);
  mock.timers.tick(1);
  const note = { id: "1", type: "note", source: "object", object: "cpu" } as EventRow;
  reads.request(partsAfterEvents([note], { kind: "object", name: "cpu" }));
  mock.timers.tick(1);
  assert.deepEqual(read, [
    ["content", 1],
    ["item explain", 2],
  ]);
  reads.request(["explain", "itemevents"]); // still not more often than every two seconds
  for (let ms = 0; ms < 30_000; ms += 1) mock.timers.tick(1);
  assert.deepEqual(read.slice(2), [
    ["item explain", 2002],
    ["content", 6001],
    ["itemevents", 12_001],
  ]);
  reads.request(["item"]);
  reads.end();
  mock.timers.tick(30_000);
  assert.equal(read.length, 5);
});

test("only the parts that a change is about are read", () => {
  assert.deepEqual(partsAfterChanges([{ ...resource(1, "3"), view: "Cellar" }], view), []);
  const own = { kind: "view", name: "Hall", parentview: "MAIN", status: "3" } as StatusChange;
  assert.deepEqual(partsAfterChanges([own], view), ["item", "explain"]);
  assert.deepEqual(partsAfterChanges([{ ...own, resource: "r1", parentview: "r1" }], view), []); // its namesake
  const object = { kind: "object", name: "cpu", resource: "r1", view: "r1", parentview: "Hall", status: "3" };
  assert.deepEqual(partsAfterChanges([object as StatusChange], view), ["explain"]);
  assert.deepEqual(partsAfterChanges([object as StatusChange], { kind: "resource", name: "r1" }), [
    "explain",
    "content",
  ]);
  const event = { id: "1", timestamp: "", source: "object", type: "alarm", ...object } as unknown as EventRow;
  assert.deepEqual(partsAfterEvents([{ ...event, view: "Hall" }], view), []);
  assert.deepEqual(partsAfterEvents([{ ...event, view: "Hall", type: "note" }], view), ["item", "explain", "content"]);
  assert.deepEqual(partsAfterEvents([{ ...event, type: "configuration", source: "configuration" }], view), [
    "item",
    "explain",
    "content",
    "contentcounts",
    "itemevents",
  ]);
});

test("a change is shown without reading", () => {
  const row = (n: number) => ({
    ...{ kind: "resource" as const, name: `r${n}`, resource: `r${n}`, status: "0" as const, note: "rack 4" },
    ...{ since: "then", info: "was", acknowledged: true, isunmanaged: false },
  });
  const rows = [row(1), row(2)];
  assert.equal(changedRows(rows, [resource(3, "3")]), rows);
  const [first, second] = changedRows(rows, [resource(2, "3")]);
  assert.equal(first, rows[0]);
  assert.deepEqual(
    [second?.status, second?.acknowledged, second?.info, second?.note],
    ["3", false, undefined, "rack 4"],
  );
});

test("events of the stream are listed where the query would list them", () => {
  const e = (more: Partial<EventRow>) =>
    ({ id: "1", timestamp: "", source: "object", type: "alarm", status: "3", ...more }) as EventRow;
  const object = e({ resource: "r", view: "v", object: "o" });
  assert.equal(isEventOf(object, { kind: "object", name: "o", resource: "r" }), true);
  assert.equal(isEventOf(object, { kind: "object", name: "o", resource: "s" }), false);
  assert.equal(isEventOf(object, { kind: "resource", name: "r" }), true);
  assert.equal(isEventOf(object, { kind: "view", name: "v", resource: "r" }), true);
  assert.equal(isEventOf(object, { kind: "view", name: "v" }), false);
  const below = e({ source: "resource", resource: "r", view: "v" });
  assert.equal(isEventOf(below, { kind: "view", name: "v" }), true);
  assert.equal(isProblemOf(below, { kind: "view", name: "v" }), true);
  assert.equal(isProblemOf({ ...below, status: "0" }, { kind: "view", name: "v" }), false);
  assert.equal(isProblemOf(below, { kind: "resource", name: "r" }), false);
  assert.equal(isProblemOf(object, { kind: "resource", name: "r" }), true);
});
