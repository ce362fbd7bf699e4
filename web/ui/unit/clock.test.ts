// The time of a page: that of the service, however wrong the clock of the browser is, and one moment for all that is shown.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { session } from "../src/api";
import { byService, heardTime, pageNow, stopClock } from "../src/clock";
import { ago } from "../src/parts/Time";

const there = Date.parse("2026-11-17T12:00:00.700Z"); // by the service's clock
const hours = 3_600_000;
let wrong: number; // by how much the browser's clock is ahead of it

/** serviceNow is what the service's clock says. */
const serviceNow = () => Date.now() - wrong;

function browserIs(ahead: number) {
  wrong = ahead;
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: there + ahead });
}

/** answered is an answer that takes so long to come and goes back as fast; the service stamps it in whole seconds. */
function answered(takes: number) {
  const asked = Date.now();
  mock.timers.tick(takes);
  const stamp = new Date(serviceNow()).toUTCString();
  mock.timers.tick(takes);
  heardTime(stamp, asked, Date.now());
}

const off = () => pageNow() - serviceNow();

beforeEach(() => {
  stopClock();
  browserIs(0);
  answered(1); // whatever was before
});

test("a clock that is right is left alone", () => {
  for (let i = 0; i < 20; i++) {
    mock.timers.tick(330);
    answered(15);
    assert.equal(pageNow(), Date.now());
  }
});

for (const ahead of [3 * hours, -3 * hours, 90_000, -1500])
  test(`ages are right with a browser ${ahead / 1000} s ahead`, () => {
    browserIs(ahead);
    answered(20);
    assert.ok(Math.abs(off()) < 1050, `${off()} ms off after one answer`);
    for (let i = 0; i < 30; i++) {
      mock.timers.tick(370);
      answered(10);
    }
    assert.ok(Math.abs(off()) <= 400, `${off()} ms off after many`);
    assert.equal(ago(serviceNow() - 5 * 60_000), "5 min");
    assert.equal(byService(Date.now()) - pageNow(), 0);
  });

test("when a clock is set, the last answer counts", () => {
  browserIs(0);
  for (let i = 0; i < 10; i++) answered(100);
  browserIs(-2 * hours);
  answered(10);
  assert.ok(Math.abs(off()) < 1050, `${off()} ms off`);
});

test("answers without a usable time change nothing", () => {
  const before = pageNow();
  heardTime(null, before, before);
  heardTime("yesterday", before, before);
  heardTime(new Date(before + hours).toUTCString(), before + 10, before); // the clock went back in between
  assert.equal(pageNow(), before);
});

test("every answer of the service is heard", async () => {
  browserIs(5 * hours);
  globalThis.fetch = async () =>
    Response.json({ user: "admin" }, { headers: { Date: new Date(serviceNow()).toUTCString() } });
  await session.who();
  assert.ok(Math.abs(off()) < 1050, `${off()} ms off`);
});

test("while the service is away its time stands still", () => {
  browserIs(3 * hours);
  answered(10);
  const then = pageNow();
  stopClock(Date.now());
  mock.timers.tick(60_000);
  assert.equal(pageNow(), then);
  stopClock();
  assert.equal(pageNow(), then + 60_000);
});
