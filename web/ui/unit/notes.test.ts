// Notes that two people write at the same time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collision, findCollision, isNews, type NoteDraft, putBefore, replacing } from "../src/parts/actions/notes";
import { described, inShort } from "../src/parts/actions/Outcomes";
import { local } from "../src/parts/Time";

const at = "2026-11-18T10:00:00.123456Z";
const event = (info: string, user = "kim") => ({ timestamp: at, user, info });

test("a note of somebody else is put before mine once, however often it is asked for", () => {
  const draft: NoteDraft = { text: "mine", base: "old" };
  assert.equal(isNews(draft, "theirs"), true);
  const once = putBefore(draft, "theirs");
  assert.equal(once.text, "theirs\nmine");
  assert.deepEqual(putBefore(once, "theirs"), once);
  const edited = { ...once, text: "the two of us\nmine" }; // theirs is known, whatever becomes of its words
  assert.equal(isNews(edited, "theirs"), false);
  assert.deepEqual(putBefore(edited, "theirs"), edited);
  assert.equal(isNews(edited, "theirs again"), true);
  assert.equal(isNews(edited, ""), true);
});

test("two notes at the same moment are recognised by both writers", () => {
  assert.equal(collision([event("mine", "me"), event("old")], "mine", "old"), undefined);
  assert.equal(collision([event("mine", "me")], "mine", "old"), undefined);
  assert.equal(collision([event("mine", "me"), event("note removed")], "mine", ""), undefined);
  assert.equal(collision([event("note removed", "me"), event("old")], "", "old"), undefined);
  assert.equal(
    collision([event("mine", "me"), event("theirs"), event("old")], "mine", "old"),
    `replacing a note that you had not seen, by kim at ${local(at)}: “theirs”`,
  );
  assert.equal(
    collision([event("theirs"), event("mine", "me")], "mine", "old"),
    `but replaced right afterwards by kim at ${local(at)}: “theirs”`,
  );
  assert.match(collision([event("note removed"), event("mine", "me")], "mine", "old") ?? "", /that removed the note$/);
});

test("the notes of the item since the form was opened are read, and shown with the outcome", async () => {
  let body: { q: string; from: string } | undefined;
  globalThis.fetch = async (_, init) => {
    body = JSON.parse(String(init?.body));
    return Response.json({ rows: [event("mine", "me"), event("theirs")], more: false });
  };
  const item = { kind: "object" as const, name: "it's", resource: "r" };
  const found = await findCollision(item, "mine", "", Date.parse("2026-11-18T09:59:00Z"));
  assert.match(body?.q ?? "", /type = 'note' AND source = 'object' AND resource = 'r' AND object = 'it''s'$/);
  assert.equal(body?.from, "2026-11-18T09:59:00.000Z");
  const done = { name: "it's", kind: "object" as const, result: "note_set" as const, content: 0 };
  assert.match(described({ item, done, collision: found }), /^note set, replacing a note .* by kim .*: “theirs”$/);

  globalThis.fetch = async () => Response.json({ error: { code: "internal", message: "no" } }, { status: 500 });
  assert.equal(await findCollision(item, "mine", "", 0), undefined);
});

test("results are counted in a sentence", () => {
  const item = { kind: "object" as const, name: "o", resource: "r" };
  const done = (result: "note_set" | "note_removed" | "acknowledged") => ({
    item,
    done: { name: "o", kind: "object" as const, result, content: 0 },
  });
  assert.equal(inShort([done("note_set")]), "Note set on 1 item");
  assert.equal(inShort([done("note_removed"), done("note_removed")]), "Note removed from 2 items");
  assert.equal(
    inShort([done("acknowledged"), { item, skipped: "it is OK" }]),
    "1 item acknowledged, 1 item left alone",
  );
  assert.equal(inShort([{ item, error: "no" }]), "1 item not done");
});

test("whoever has saved a note is told when somebody replaces it afterwards, at whatever time", () => {
  assert.equal(replacing([event("mine", "me"), event("theirs")], "mine"), undefined);
  assert.equal(replacing([], "mine"), undefined);
  const theirs = event("theirs");
  assert.equal(replacing([theirs, event("mine", "me"), event("old")], "mine"), theirs);
  assert.equal(replacing([theirs, event("second"), event("mine", "me")], "mine\n"), theirs);
  assert.equal(replacing([theirs, event("note removed", "me")], ""), theirs);
  assert.equal(replacing([event("mine"), theirs, event("mine", "me")], "mine"), undefined); // put back
});
