// Maintenance windows: their order, and what is said of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListedWindow } from "../src/api";
import { noWindow, windowBody } from "../src/parts/actions/Window";
import { byTime, inItsZone, noteOf, ofItem, ofList, repeatOf } from "../src/parts/windows/windows";

const unmanaged = { isunmanaged: true, unmanageifred: false, collectunmanage: true, collectorunmanage: true };

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
  const from = "2098-03-01T23:30:00Z"; // a Saturday, in Tokyo Sunday
  const said = (rule?: string, zone = "UTC") => repeatOf({ rule, from, zone });
  assert.equal(said(), "Once");
  assert.equal(said(""), "Once");
  assert.equal(said("FREQ=DAILY"), "Every day");
  assert.equal(said("FREQ=WEEKLY"), "Every week on Saturday");
  assert.equal(said("FREQ=WEEKLY", "Asia/Tokyo"), "Every week on Sunday");
  assert.equal(said("FREQ=WEEKLY;BYDAY=SU"), "Every week on Sunday");
  assert.equal(said("FREQ=WEEKLY;BYDAY=MO,WE,FR"), "Every week on Monday, Wednesday and Friday");
  assert.equal(said("FREQ=WEEKLY;BYDAY=XX"), "FREQ=WEEKLY;BYDAY=XX");
  assert.equal(said("FREQ=MONTHLY", "Asia/Tokyo"), "Every month on day 2");
  assert.equal(said("FREQ=MONTHLY;BYDAY=1SU"), "FREQ=MONTHLY;BYDAY=1SU");
});

test("both answers say the same of a window", () => {
  const one = { name: "w", mode: "m", open: true, from: "f", to: "t", rule: "r", zone: "z", by: "u" };
  const said = { mode: "m", open: true, from: "f", to: "t", rrule: "r", timezone: "z" };
  assert.deepEqual(ofItem({ ...said, name: "w", by: "u" }), one);
  const listed = { ...said, id: "1:", name: "item", kind: "object" as const, ...unmanaged };
  assert.deepEqual(ofList({ ...listed, id: "1:w", window: "w", user: "u" }), one);
  assert.equal(ofItem(said).name, "");
  assert.equal(ofList(listed).name, "");
});

test("a window is sent with its name, without one as before", () => {
  const w = { ...noWindow, from: "2098-01-01T00:00", to: "2098-01-01T01:00", zone: "UTC" };
  const body = { fromdatetime: w.from, todatetime: w.to, timezone: "UTC" };
  assert.deepEqual(windowBody(w), body);
  assert.deepEqual(windowBody({ ...w, name: " backup " }), { ...body, window: "backup" });
  assert.deepEqual(windowBody({ ...noWindow, name: "backup" }), {}); // at once is no window
});

test("times are also said in the zone of the window, unless that has the browser's", () => {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [from, to] = ["2098-03-01T08:00:00Z", "2098-03-01T09:00:00Z"];
  assert.match(
    inItsZone({ from, to, zone: "Pacific/Kiritimati" }) ?? "",
    /10:00.* – .*11:00.* in Pacific\/Kiritimati$/,
  );
  assert.match(inItsZone({ from, zone: "Pacific/Kiritimati" }) ?? "", /10:00.* – in Pacific/);
  assert.equal(inItsZone({ from, to, zone: own }), undefined);
  assert.equal(inItsZone({ from, to }), undefined);
  assert.equal(inItsZone({ from, to, zone: "No/Where" }), undefined);
});

test("why an item is unmanaged stands beside the window that it is about", () => {
  const w = (id: string, open = false, isunmanaged = true): ListedWindow => ({
    ...{ ...unmanaged, id, open, isunmanaged, name: "item", kind: "object", mode: "", from: "", unmanagenote: "why" },
  });
  const beside = (...all: ListedWindow[]) => all.filter((o) => noteOf(o, all)).map((o) => o.id);
  assert.deepEqual(beside(w("1:")), ["1:"]);
  assert.deepEqual(beside(w("1:a"), w("2:a"), w("2:b", true)), ["1:a", "2:b"]);
  assert.deepEqual(beside(w("1:a"), w("1:b")), []); // nobody knows which
  assert.deepEqual(beside(w("1:a"), w("1:b", false, false)), ["1:a"]); // the other manages it
});
