// The connection of a page: a loss is told within three seconds, however the service goes, and so is its return.
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { pageNow } from "../src/clock";
import { connection, heardWhile, type Listener, listen } from "../src/live";
import { parser } from "../src/sse";

type Way = "fine" | "gone" | "frozen" | "busy" | "silent";

let way: Way; // how the service is
let streams: ReadableStreamDefaultController<Uint8Array>[]; // that are open
let asked: string[];
let leave: () => void;

const bytes = (text: string) => new TextEncoder().encode(text);

/** hang never answers, like a service whose process or network stands still. */
const hang = (signal?: AbortSignal | null) =>
  new Promise<Response>((_, stop) =>
    signal?.addEventListener("abort", () => stop(new DOMException("aborted", "AbortError"))),
  );

function open(signal?: AbortSignal | null): Response {
  const body = new ReadableStream<Uint8Array>({
    start(c) {
      streams.push(c);
      c.enqueue(bytes("retry: 2000\nid: 1.1\n\n"));
      signal?.addEventListener("abort", () => {
        streams = streams.filter((s) => s !== c);
        c.error(new DOMException("aborted", "AbortError"));
      });
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

/** go lets the service be so from now on. */
function go(to: Way) {
  way = to;
  if (to !== "gone") return;
  for (const s of streams) s.error(new TypeError("network error"));
  streams = [];
}

/** later lets time pass, in steps in which everything happens that waits for nothing else. */
async function later(ms: number) {
  for (let t = 0; t < ms; t += 50) {
    mock.timers.tick(50);
    if (way === "fine" && Date.now() % 1000 === 0) for (const s of streams) s.enqueue(bytes(": still here\n\n"));
    for (let i = 0; i < 8; i++) await new Promise((done) => setImmediate(done));
  }
}

const start = Date.parse("2026-11-17T12:00:00Z");

function listening(l: Listener = {}) {
  leave = listen(l);
}

beforeEach(async () => {
  way = "fine";
  streams = [];
  asked = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: start });
  globalThis.fetch = async (to, init) => {
    const path = String(to);
    asked.push(path);
    if (way === "gone") throw new TypeError("Failed to fetch");
    if (way === "frozen") return hang(init?.signal);
    if (path.startsWith("/api/version")) return Response.json({ version: "1" });
    if (way === "busy")
      return Response.json({ error: { code: "rate_limited", message: "200 streams are open." } }, { status: 429 });
    return open(init?.signal);
  };
});

afterEach(() => leave());

for (const how of ["gone", "frozen"] as const)
  test(`a service that is ${how} is told to be so within three seconds, and to be back within three`, async () => {
    let again = 0;
    listening({ resync: () => again++ });
    await later(2000);
    assert.equal(connection.get(), undefined);
    again = 0;
    go(how);
    await later(3000);
    const since = connection.get()?.since ?? 0;
    assert.ok(since >= start + 1000 && since <= start + 2050, new Date(since).toISOString()); // the last sign of life
    assert.equal(connection.get()?.why, undefined);

    const then = pageNow();
    await later(30_000);
    assert.equal(pageNow(), then); // what was so then does not grow older
    assert.equal(again, 0);
    go("fine");
    await later(3000);
    assert.equal(connection.get(), undefined);
    assert.equal(again, 1);
    assert.ok(pageNow() > then + 30_000);
  });

test("tries are quick at first, then fewer, and not all at the same moment", async () => {
  listening();
  await later(1000);
  go("gone");
  asked = [];
  await later(1000);
  const first = asked.length;
  assert.ok(first >= 3, `${first} tries in the first second`);
  await later(20_000);
  const rest = (asked.length - first) / 20;
  assert.ok(rest > 0.7 && rest < 1.5, `${rest} tries per second`);
});

test("what happened before the first connection is read, once", async () => {
  let again = 0;
  listening({ resync: () => again++ });
  await later(5000);
  assert.equal(again, 1);
});

test("what is told while something is read is put into it", async () => {
  listening();
  await later(1000);
  let answer = (_: string[]) => {};
  let missed = 0;
  const got = heardWhile(
    () => new Promise<string[]>((done) => (answer = done)),
    (t, changes) => [...t, ...changes.map((c) => `${c.name} ${c.status}`)],
    () => missed++,
  );
  for (const s of streams) s.enqueue(bytes('id: 1.2\nevent: status\ndata: {"name":"fan","status":"3"}\n\n'));
  await later(1000);
  answer(["fan 0"]);
  assert.deepEqual(await got, ["fan 0", "fan 3"]);
  assert.equal(missed, 1);
  assert.deepEqual(
    await heardWhile(
      async () => 1,
      () => 2,
      () => missed++,
    ),
    1,
  );
  assert.equal(missed, 1);
});

test("a break that is soon over is not worth a word, and nothing is lost in it", async () => {
  let again = 0;
  listening({ resync: () => again++ });
  await later(1000);
  again = 0;
  go("gone");
  await later(1000);
  go("fine");
  await later(3000);
  assert.equal(connection.get(), undefined);
  assert.ok(asked.at(-1)?.includes("lasteventid=1.1"), asked.at(-1)); // the service goes on from there
  assert.equal(again, 0);
});

test("a stream that hangs while the service answers is opened again", async () => {
  listening();
  await later(1000);
  const before = asked.length;
  const hung = streams.splice(0); // nothing arrives on it any more
  assert.equal(hung.length, 1);
  let told = 0;
  const stop = connection.subscribe(() => told++);
  await later(3000);
  stop();
  assert.equal(told, 0);
  assert.deepEqual(
    asked.slice(before, before + 2).map((p) => p.split("?")[0]),
    ["/api/version", "/api/stream"],
  );
  assert.equal(connection.get(), undefined);
});

test("a service that answers and has no stream for the page is not away", async () => {
  let again = 0;
  way = "busy";
  listening({ resync: () => again++ });
  await later(3000);
  assert.equal(connection.get()?.why, "200 streams are open.");
  const then = pageNow();
  await later(50_000);
  assert.ok(pageNow() > then + 40_000); // the page is read again, so its ages go on
  assert.ok(again >= 1 && again <= 3, `${again} times`);
  assert.ok(asked.length < 20, `${asked.length} tries`);
});

test("messages are read as they come, in whatever pieces", () => {
  const text =
    'retry: 2000\n: still here\n\nid: 7\nevent: status\ndata: {"a":"b: c"}\n\nid: 8\n\nevent: resync\ndata: {}\n\n';
  const want = [
    { id: "7", event: "status", data: '{"a":"b: c"}' },
    { id: "8", event: "message", data: "" },
    { event: "resync", data: "{}" },
  ];
  for (const size of [1, 3, 1000]) {
    const got: unknown[] = [];
    const take = parser((m) => got.push(m));
    for (let i = 0; i < text.length; i += size) take(text.slice(i, i + size));
    assert.deepEqual(got, want);
  }
});

test("a tab that is not seen gives its connection back, and hears what it missed when it is", async () => {
  const seen: string[] = [];
  listening({ status: (c) => seen.push(...c.map((x) => x.name)) });
  const look = (hidden: boolean) => Object.assign(globalThis, { document: { hidden } });
  try {
    await later(1000);
    look(true);
    await later(2500);
    assert.equal(streams.length, 1); // somebody who looks at another tab for a moment
    await later(2500);
    assert.equal(streams.length, 0);
    asked = [];
    await later(60_000);
    assert.deepEqual(asked, []);
    assert.equal(connection.get(), undefined);
    look(false);
    await later(1500);
    assert.equal(streams.length, 1);
    assert.equal(connection.get(), undefined);
    streams[0]?.enqueue(bytes('event: status\nid: 1.2\ndata: {"name":"web01"}\n\n'));
    await later(500);
    assert.deepEqual(seen, ["web01"]);
    look(true);
    await later(10_000);
    go("gone");
    await later(60_000);
    look(false);
    await later(4000);
    assert.ok(connection.get(), "a service that went away meanwhile is told to be away");
  } finally {
    look(false);
  }
});
