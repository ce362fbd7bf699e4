// Somebody who is limited to views notices that items were moved in or out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readSeen, Seen } from "../src/parts/seen";

test("items that come or go are noticed, another order or status is not", async () => {
  let ids = ["1", "2"];
  let q = "";
  globalThis.fetch = async (_, init) => {
    q = (JSON.parse(String(init?.body)) as { q: string }).q;
    return Response.json({ rows: ids.map((id) => ({ id })), more: false });
  };
  const seen = new Seen();
  const changed = async (...now: string[]) => {
    ids = now;
    return seen.changed(await readSeen());
  };
  assert.equal(await changed("1", "2"), false); // what the page was read with
  assert.match(q, /kind IN \('resource', 'view'\)$/);
  assert.equal(await changed("2", "1"), false);
  assert.equal(await changed("1", "3"), true); // as many as before
  assert.equal(await changed("1", "3"), false);
  assert.equal(await changed("3"), true);
  assert.equal(await changed(), true);
});

test("what came in since may be about something that was there only for a moment", () => {
  const seen = new Seen();
  seen.add(); // the page was read before it was known what can be seen
  assert.equal(seen.changed("1"), false);
  assert.equal(seen.changed("1"), true);
  assert.equal(seen.changed("1"), false);
  seen.add(); // an event of 2, which was moved in and out again
  assert.equal(seen.changed("1"), true);
  assert.equal(seen.changed("1"), false);
});
