// The list of statuses keeps itself up to date with few questions to the service.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import type { StatusChange } from "../src/live";
import { Feed } from "../src/pages/status/feed";
import { read } from "../src/pages/status/filter";

let asked: string[]; // queries for rows, without those that count
let held: (() => void)[]; // answers that wait, while hold is set
let hold = false;
let broken = false;
let statuses: string[]; // of the items 0, 1, ... as the service has them

const row = (n: number) => ({ id: `${n}`, name: `o${n}`, kind: "object", resource: "r", status: statuses[n] });

/** answer is what the service would say to a query. */
function answer(q: string) {
  if (q.includes("COUNT(*)"))
    return [...new Set(statuses)].map((s) => ({
      kind: "object",
      status: s,
      n: statuses.filter((x) => x === s).length,
    }));
  asked.push(q);
  const [, limit, offset] = /LIMIT (\d+) OFFSET (\d+)$/.exec(q) ?? [];
  return statuses.map((_, n) => row(n)).slice(Number(offset), Number(offset) + Number(limit));
}

beforeEach(() => {
  asked = [];
  held = [];
  hold = broken = false;
  statuses = Array.from({ length: 1000 }, () => "0");
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  globalThis.fetch = async (_, init) => {
    const { q } = JSON.parse(String(init?.body)) as { q: string };
    if (broken) return new Response(JSON.stringify({ error: { code: "internal", message: "no" } }), { status: 500 });
    const rows = answer(q);
    if (hold && !q.includes("COUNT(*)"))
      await new Promise<void>((go, stop) => {
        held.push(go);
        init?.signal?.addEventListener("abort", () => stop(new DOMException("aborted", "AbortError")));
      });
    return Response.json({ rows, more: false });
  };
});

/** settled lets everything happen that waits for nothing but its turn. */
const settled = async () => {
  for (let i = 0; i < 20; i++) await new Promise((go) => setImmediate(go));
};
const later = async (ms: number) => {
  mock.timers.tick(ms);
  await settled();
};
const feedOf = (search = "") => new Feed(read(new URLSearchParams(search)));
const change = (n: number, status: string) =>
  ({ ...row(n), status, since: "now", info: "worse" }) as unknown as StatusChange;

test("asks for what is in sight, once scrolling pauses", async () => {
  const f = feedOf();
  await f.start();
  assert.equal(f.total, 1000);
  assert.equal(f.row(99)?.name, "o99");
  assert.equal(f.row(100), undefined);
  for (let at = 0; at < 900; at += 10) f.look(at, at + 20);
  assert.equal(asked.length, 1);
  await later(60);
  assert.equal(asked.length, 2);
  assert.match(asked[1] ?? "", /LIMIT 200 OFFSET 800$/);
  assert.equal(f.row(905)?.name, "o905");
  f.look(810, 830); // is here already
  await later(60);
  assert.equal(asked.length, 2);
  f.end();
});

test("a change shows at once, and the order is asked for once in a while", async () => {
  const f = feedOf();
  await f.start();
  for (let i = 0; i < 50; i++) {
    statuses[7] = i % 2 ? "0" : "3";
    f.apply([change(7, statuses[7])]);
    assert.equal(f.row(7)?.status, statuses[7]);
    await later(100);
  }
  assert.equal(asked.length, 1 + 2); // 5 seconds, one question in two
  f.end();
});

test("sorted by name, changes show at once, and are asked for once more together", async () => {
  const f = feedOf("sort=name asc");
  await f.start();
  f.apply([change(7, "3")]);
  f.apply([{ ...change(7, "3"), info: "still" }]);
  assert.deepEqual([f.row(7)?.status, f.counts.get("0"), f.counts.get("3")], ["3", 999, 1]);
  statuses[7] = "3";
  await later(10_000);
  assert.equal(asked.length, 2);
  assert.deepEqual([f.counts.get("0"), f.counts.get("3")], [999, 1]);
  f.end();
});

test("a change that the counts do not have and the rows do is counted within seconds", async () => {
  const f = feedOf("sort=name asc");
  await f.start();
  f.apply([change(7, "3")]);
  f.apply([change(7, "0")]);
  f.counts.set("0", 998); // an answer from between the two
  f.counts.set("3", 2);
  await later(2500);
  assert.deepEqual([f.counts.get("0"), f.counts.get("3") ?? 0], [1000, 0]);
  f.end();
});

test("what is told while a question is on its way is not lost", async () => {
  const f = feedOf();
  hold = true;
  const started = f.start();
  await settled();
  f.apply([change(3, "3")]); // the answer on its way has the old status
  held.shift()?.();
  await started;
  assert.equal(f.row(3)?.status, "3");
  statuses[3] = "3";
  hold = false;
  await later(2500); // and what it counts is read once more
  assert.deepEqual([f.counts.get("0"), f.counts.get("3")], [999, 1]);
  f.end();
});

test("who scrolls on does not wait for what is out of sight again", async () => {
  const f = feedOf();
  await f.start();
  hold = true;
  f.look(300, 320);
  await later(60);
  f.look(700, 720);
  await later(60);
  assert.equal(held.length, 2);
  for (const go of held) go();
  await settled();
  assert.equal(f.row(710)?.name, "o710");
  assert.equal(f.row(310), undefined); // was given up
  f.end();
});

test("old rows stay when the service fails, and are asked for again", async () => {
  const f = feedOf();
  await f.start();
  broken = true;
  await f.refresh();
  assert.equal(f.row(0)?.name, "o0");
  assert.equal(f.error, undefined);
  broken = false;
  statuses[0] = "2";
  await later(2000);
  assert.equal(f.row(0)?.status, "2");
  f.end();
});

test("rows far away are forgotten, and nothing is asked after the end", async () => {
  statuses = Array.from({ length: 20_000 }, () => "0");
  const f = feedOf();
  await f.start();
  for (let page = 1; page <= 70; page++) {
    f.look(page * 100, page * 100 + 20);
    await later(60);
  }
  assert.equal(f.row(0), undefined);
  assert.equal(f.row(7000)?.name, "o7000");
  const n = asked.length;
  f.end();
  f.apply([change(7000, "3")]);
  f.look(0, 20);
  await later(60_000);
  assert.equal(asked.length, n);
});
