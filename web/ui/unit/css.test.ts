// The styles of a page stay in a tab after another page is opened, so no two files may style the same class.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

/** styled are the classes with which the selectors of a file begin. */
function styled(file: string): Set<string> {
  const css = readFileSync(file, "utf8").replaceAll(/\/\*.*?\*\//gs, "");
  return new Set([...css.matchAll(/(?:^|[{},;])\s*\.([\w-]+)/g)].map((m) => m[1] ?? ""));
}

test("a class is styled by one file", () => {
  const by = new Map<string, string>();
  for (const file of readdirSync("src", { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".css")))
    for (const name of styled(`src/${file}`)) {
      assert.equal(by.get(name) ?? file, file, `.${name}`);
      by.set(name, file);
    }
  assert.ok(by.has("status-rows"), "the files were not found");
});
