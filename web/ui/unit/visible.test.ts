// Characters that are not seen are shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MantineProvider } from "@mantine/core";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { TreeItem } from "../src/api";
import { Icon } from "../src/pages/map/Icon";
import { jsx, jsxs } from "../src/shown/jsx-runtime";
import { visible } from "../src/shown/visible";

const unseen = /[\u202e\u200b]/;

test("what is not seen, or turns others around, gets a sign", () => {
  const f = (text: string, want: string) => assert.equal(visible(text), want);
  f("web01", "web01");
  f("a\u0000b\u001b[31m\u007f", "a␀b␛[31m␡");
  f("a\u0085b", "a⟨U+0085⟩b");
  f("invoice\u202egpj.exe", "invoice⟨U+202E⟩gpj.exe");
  f("\u2066a\u2069\u200f", "⟨U+2066⟩a⟨U+2069⟩⟨U+200F⟩");
  f("web\u200b01\ufeff\u00ad", "web⟨U+200B⟩01⟨U+FEFF⟩⟨U+00AD⟩");
  f("a\u2028b", "a⟨U+2028⟩b");
  // What words, lines and emoji are made of stays.
  f("شبكة المكتب", "شبكة المكتب");
  f("می\u200cخواهم", "می\u200cخواهم");
  f("👩\u200d💻 🏴\u{e0067}\u{e0062}\u{e007f}", "👩\u200d💻 🏴\u{e0067}\u{e0062}\u{e007f}");
  f("two\nlines\tand\r\na tab", "two\nlines\tand\r\na tab");
});

test("every element shows its texts so", () => {
  const props = (e: unknown) => (e as { props: Record<string, unknown> }).props;
  assert.deepEqual(props(jsx("b", { children: "a\u202eb", title: "\u202e", value: "\u202e" })), {
    children: "a⟨U+202E⟩b",
    title: "⟨U+202E⟩",
    value: "\u202e", // what is typed or sent stays as it is
  });
  assert.deepEqual(props(jsxs("b", { children: ["in ", "a\u202eb", 7, null] })).children, [
    "in ",
    "a⟨U+202E⟩b",
    7,
    null,
  ]);
  const plain = { children: ["in ", "b"], "aria-label": "c" };
  assert.equal(props(jsxs("b", plain)).children, plain.children); // and costs nothing else
});

test("icons of the map show their names so, at any zoom", () => {
  const item = { kind: "object", name: "abc\u202eexe.fdp and zero\u200bwidth", status: "0" } as TreeItem;
  const at = { left: 0, top: 0, width: 1, height: 1, homeless: false, chosen: false, editing: false, fixed: false };
  for (const detail of [1, 2, 3] as const)
    for (const kind of ["object", "view"]) {
      const props = { ...at, id: "1", item: { ...item, kind } as TreeItem, detail };
      assert.doesNotMatch(
        renderToStaticMarkup(createElement(MantineProvider, null, createElement(Icon, props))),
        unseen,
      );
    }
});
