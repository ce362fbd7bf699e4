// A CSV of any length is read page after page, without a row missing or coming twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeCsv } from "../src/parts/wholeCsv";

const header = "timestamp,id,info";

/** serve gives pages of some rows, as the service does, and notes what was asked. */
function serve(rows: string[], limit: number, breakAt = -1) {
  const asked: string[] = [];
  globalThis.fetch = async (to) => {
    const p = new URL(String(to), "http://x").searchParams;
    asked.push(p.get("after") ?? "");
    if (asked.length === breakAt)
      return Response.json({ error: { code: "overloaded", message: "too much to do" } }, { status: 503 });
    const after = p.get("after");
    const from = after ? rows.findIndex((r) => r.startsWith(`${after},`)) + 1 : 0;
    return new Response(`${[header, ...rows.slice(from, from + limit)].join("\n")}\n`, {
      headers: { "Content-Type": "text/csv", "X-Limit": String(limit) },
    });
  };
  return asked;
}

const row = (n: number) => `2026-11-17T12:00:00.00000${n % 3}Z,00${n},"line ${n}\nwith ""more"", and more"`;

async function all(rows: string[], limit: number) {
  const asked = serve(rows, limit);
  const told: number[] = [];
  const got = await wholeCsv("SELECT", {}, new AbortController().signal, (n) => told.push(n));
  assert.equal(await got.text(), `${[header, ...rows].join("\n")}\n`);
  return { asked, told };
}

test("all pages become one file", async () => {
  const rows = Array.from({ length: 7 }, (_, n) => row(n));
  const { asked, told } = await all(rows, 3);
  assert.deepEqual(asked, ["", "2026-11-17T12:00:00.000002Z,002", "2026-11-17T12:00:00.000002Z,005"]);
  assert.deepEqual(told, [3, 6, 7]);
  await all(rows.slice(0, 6), 3); // the last page is empty
  await all(rows.slice(0, 2), 3);
  await all([], 3);
});

test("a page that fails leaves no part of a file", async () => {
  serve(
    Array.from({ length: 7 }, (_, n) => row(n)),
    3,
    2,
  );
  await assert.rejects(
    wholeCsv("SELECT", {}, new AbortController().signal, () => undefined),
    /too much to do/,
  );
});
