// What the forms of classes and policies make of a definition and back: nothing may be lost on the way.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Class } from "../src/api";
import * as classes from "../src/pages/parameters/classDraft";
import { parse, recovers } from "../src/pages/parameters/condition";
import * as policies from "../src/pages/parameters/policyDraft";

const plain = (v: unknown) => JSON.parse(JSON.stringify(v));

test("a class comes back as it was", () => {
  const all: Class[] = [
    { name: "c" },
    {
      name: "c",
      indicators: [
        { n: 1, name: "Used", unit: "%", thresholds: [{ when: ">= 80", status: 1, recover: "< 70", after: 3 }] },
        { n: 2, type: "string", thresholds: [{ when: "<> ok", status: 3 }] },
      ],
      log: { separator: ";", columns: ["who", "what"] },
      interval: "60s",
    },
  ];
  for (const c of all) assert.deepEqual(plain(classes.definition("c", classes.draftOf(c))), c);
});

test("the faults of a class are told at their fields", () => {
  const draft = classes.draftOf({
    name: "c",
    indicators: [
      {
        n: 1,
        thresholds: [
          { when: "much", status: 1 },
          { when: ">= 80", status: 1, recover: "> 70" },
        ],
      },
      { n: 1, type: "string", thresholds: [{ when: "> ok", status: 1 }] },
    ],
    log: { columns: ["who", "WHO"] },
    interval: "soon",
  });
  assert.deepEqual(Object.keys(classes.faults(draft)), [
    "indicators[0].thresholds[0].when",
    "indicators[0].thresholds[1].recover",
    "indicators[1].n",
    "indicators[1].thresholds[0].when",
    "log.columns",
    "interval",
  ]);
  assert.deepEqual(classes.faults(classes.draftOf({ name: "c" })), {});
});

test("what the service says about a class finds its field", () => {
  const d = classes.draftOf({ name: "c", indicators: [{ n: 4 }] });
  assert.deepEqual(classes.faultOf("class: indicators[0].thresholds[1].when is wrong", d), {
    "indicators[0].thresholds[1].when": "is wrong",
  });
  assert.deepEqual(classes.faultOf("class, line 3: indicators[0] is odd", d), { "indicators[0].n": "is odd" });
  assert.deepEqual(Object.keys(classes.faultOf("indicator i4 is a number and cannot become a string", d)), [
    "indicators[0].type",
  ]);
  assert.deepEqual(classes.faultOf("something else", d), {});
});

test("conditions are read as the service reads them", () => {
  assert.deepEqual(parse(" >= 80 ", false), { op: ">=", value: 80 });
  assert.deepEqual(parse("<>-1e3", false), { op: "<>", value: -1000 });
  assert.deepEqual(parse("= 'it''s'", true), { op: "=", value: "it's" });
  for (const [text, isText] of [
    ["80", false],
    [">= much", false],
    [">= 0x10", false],
    ["> ok", true],
    ["=", true],
    ["= 'open", true],
  ] as const)
    assert.equal(typeof parse(text, isText), "string", text);
  const c = (text: string) => parse(text, false) as Exclude<ReturnType<typeof parse>, string>;
  assert.equal(recovers(c(">= 80"), c("< 70")), true);
  assert.equal(recovers(c(">= 80"), c("< 90")), false);
});

test("a policy comes back as it was, also what the form does not know", () => {
  for (const p of [
    { kind: "view", item: "MAIN", rollup: "2 of m" },
    {
      kind: "resource",
      item: "r",
      thresholds: [{ class: "c", n: 1, why: "a", thresholds: [{ when: "> 1", status: 5, note: { deep: [1] } }] }],
      interval: "5m",
      intervals: [{ class: "c", interval: "1m", jitter: 3 }],
      rollup: "most",
      period: {
        timezone: "Europe/Vienna",
        times: ["mon", { from: "2026-01-05T08:00", to: "2026-01-05T18:00", zone: "x" }],
        holidays: ["xmas"],
      },
      comment: ["of a later version"],
    },
  ])
    assert.deepEqual(plain(policies.definition(policies.draftOf(p))), p);
});

test("a policy that the form cannot show is refused with the place", () => {
  for (const [p, message] of [
    [{ thresholds: "none" }, "thresholds is no list"],
    [{ item: {} }, "item is no text"],
    [{ period: { times: [[]] } }, "period.times[0] has no fields"],
    [[], "the policy has no fields"],
  ] as const)
    assert.throws(() => policies.draftOf(p), { message });
});
