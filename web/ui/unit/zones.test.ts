// Zones to choose from, and ends to choose with a click.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ends } from "../src/parts/actions/ends";
import { described } from "../src/parts/actions/Outcomes";
import { zoneNamed, zones, zonesWith } from "../src/parts/actions/zones";
import { local, localTimes } from "../src/parts/Time";

test("a zone is found by a part of it, in any case and with blanks", () => {
  for (const text of ["new york", "New_York", "NEW YORK", " america/new york "])
    assert.equal(zonesWith(text)[0], "America/New_York", text);
  assert.equal(zonesWith("vienna")[0], "Europe/Vienna");
  assert.equal(zonesWith("kolkata")[0], "Asia/Kolkata");
  assert.deepEqual(zonesWith("no such place"), []);
  for (const z of zones()) assert.ok(zonesWith(z).slice(0, 60).includes(z), z);
});

test("only a whole name is a zone", () => {
  assert.equal(zoneNamed("america/new york"), "America/New_York");
  assert.equal(zoneNamed("utc"), "UTC");
  assert.equal(zoneNamed("Europe/ViennaNew_York"), undefined);
  assert.equal(zoneNamed("new york"), undefined);
  assert.equal(zoneNamed(""), undefined);
});

test("ends are written by the clock of the browser", () => {
  const said = (hour: number) => ends(new Date(2026, 11, 31, hour, 5, 40).getTime()).map((e) => `${e.label}: ${e.at}`);
  assert.deepEqual(said(21), ["1 h: 2026-12-31T22:05", "4 h: 2027-01-01T01:05", "Tomorrow 8:00: 2027-01-01T08:00"]);
  assert.deepEqual(said(2).slice(2), ["Today 8:00: 2026-12-31T08:00", "Tomorrow 8:00: 2027-01-01T08:00"]);
});

test("what the service says of a time is told by the clock of the browser", () => {
  const [at, now] = ["2020-01-01T07:00:00.000Z", "2098-03-01T08:00:00Z"];
  const item = { kind: "object" as const, name: "a", status: "3" as const };
  const error = `ackuntil: ${at} is over, it is ${now} now; give a later time`;
  assert.equal(
    described({ item, error } as Parameters<typeof described>[0]),
    `ackuntil: ${local(at)} is over, it is ${local(now)} now; give a later time`,
  );
});

test("times in the text of an event are written by the clock of the browser, other numbers stay", () => {
  const at = "2026-03-01T08:00:00.123456Z";
  assert.equal(localTimes(`down, until ${at}`), `down, until ${local(at)}`);
  assert.equal(localTimes(`no data since ${at}, 4711`), `no data since ${local(at)}, 4711`);
  for (const text of ["version 2026-03-01", "2026-03-01T08:00", "10.0.0.1"]) assert.equal(localTimes(text), text);
});
