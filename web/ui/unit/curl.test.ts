// The lines for a shell that a new key is shown with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { queryLine } from "../src/pages/parameters/curl";

test("a read key asks for all objects, not for those of an example that may not be there", () => {
  const q = /q=([^"]*?)'$/.exec(queryLine("http://127.0.0.1:1", "k").replaceAll("'\\''", "`"))?.[1];
  assert.equal(q, "SELECT resource, object, status, i1 FROM objectstatus WHERE kind=`object`");
});
