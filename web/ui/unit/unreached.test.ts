// What is said when the service cannot be reached: only what a page asks for by itself is asked again.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { act, actDry, csvPage, version } from "../src/api";
import { client } from "../src/client";

const item = { kind: "object", name: "one", resource: "r" } as const;

before(() => {
  globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
});

test("what changes something is not said to be tried again", async () => {
  const says = /cannot be reached\. Nothing is sent again by itself; try again when the service is back/;
  await assert.rejects(act({ note: "kept", items: [item] }), { status: 0, message: says });
});

test("nor is a file that somebody asked for", async () => {
  await assert.rejects(csvPage("SELECT timestamp, id FROM event", {}), {
    message: "The service cannot be reached. Try again when it is back.",
  });
});

test("what a page shows is, also when it asks with a body", async () => {
  const says = /this page tries again/;
  await assert.rejects(client.fetchQuery({ queryKey: ["version"], queryFn: version }), { message: says });
  const dry = () => actDry(item, { isunmanaged: true });
  await assert.rejects(client.fetchQuery({ queryKey: ["window"], queryFn: dry }), { message: says });
});
