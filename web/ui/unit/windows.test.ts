// Maintenance windows: their order, and what is said of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { noWindow, windowBody } from "../src/parts/actions/Window";
import { byTime, ofItem, ofList, repeatOf } from "../src/parts/windows/windows";

const planned = (name: string, from: string, open = false) => ofItem({ name, mode: "unmanaged", open, from });

test("windows that are open come first, then those that open next", () => {
  const list = [
    planned("c", "2098-02"),
    planned("b", "2098-01"),
    planned("a", "2097-12", true),
    planned("d", "2096-01", true),
  ];
  assert.deepEqual(
    list.sort(byTime).map((w) => w.name),
    ["d", "a", "b", "c"],
  );
});

test("a rule is said in words where it is a usual one", () => {
  assert.equal(repeatOf(), "Once");
  assert.equal(repeatOf(""), "Once");
  assert.equal(repeatOf("FREQ=DAILY"), "Every day");
  assert.equal(repeatOf("FREQ=MONTHLY;BYDAY=1SU"), "FREQ=MONTHLY;BYDAY=1SU");
});

test("both answers say the same of a window", () => {
  const one = { name: "w", mode: "m", open: true, from: "f", to: "t", rule: "r", zone: "z", by: "u" };
  const said = { mode: "m", open: true, from: "f", to: "t", rrule: "r", timezone: "z" };
  assert.deepEqual(ofItem({ ...said, name: "w", by: "u" }), one);
  assert.deepEqual(ofList({ ...said, id: "1:w", name: "item", kind: "object", window: "w", user: "u" }), one);
  assert.equal(ofItem(said).name, "");
  assert.equal(ofList({ ...said, id: "1:", name: "item", kind: "object" }).name, "");
});

test("a window is sent with its name, without one as before", () => {
  const w = { ...noWindow, from: "2098-01-01T00:00", to: "2098-01-01T01:00", zone: "UTC" };
  const body = { fromdatetime: w.from, todatetime: w.to, timezone: "UTC" };
  assert.deepEqual(windowBody(w), body);
  assert.deepEqual(windowBody({ ...w, name: " backup " }), { ...body, window: "backup" });
  assert.deepEqual(windowBody({ ...noWindow, name: "backup" }), {}); // at once is no window
});
