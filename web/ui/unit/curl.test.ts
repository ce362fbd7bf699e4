// The lines for a shell that a new key is shown with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { queryLine } from "../src/pages/parameters/curl";

const asked = (sent: boolean) =>
  /q=([^"]*?)'$/.exec(queryLine("http://127.0.0.1:1", "k", sent).replaceAll("'\\''", "`"))?.[1];

test("a key that cannot send asks for all objects, not for those of an example that may not be there", () => {
  assert.equal(asked(false), "SELECT resource, object, status, i1 FROM objectstatus WHERE kind=`object`");
});

test("a key that sends asks for what its lines have sent, however many objects there are", () => {
  assert.equal(
    asked(true),
    "SELECT resource, object, status, i1 FROM objectstatus WHERE kind=`object` AND resource=`first-steps`",
  );
});
