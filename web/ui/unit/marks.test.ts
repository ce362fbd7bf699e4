// The words of thresholds in a chart stand beside their lines, and never on each other.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Level } from "../src/parts/chart/line";
import { marksOf, wordHeight } from "../src/parts/chart/marks";

const level = (value: number, status: string): Level => ({ value, status, label: `${status} >= ${value}` });

/** of places levels in a chart from 0 to 100 that is 120 pixels high and begins at 10. */
const of = (...levels: Level[]) => marksOf(levels, (v) => 130 - v * 1.2, 10, 120);

test("far from each other, they stand beside their lines", () => {
  assert.deepEqual(
    of(level(20, "1"), level(80, "3")).map((m) => [m.label, m.top]),
    [
      ["3 >= 80", 34],
      ["1 >= 20", 106],
    ],
  );
});

test("none stands on another, nor outside of the chart", () => {
  for (const values of [
    [90, 91],
    [90, 90.1, 90.2, 90.3],
    [100, 99, 98],
    [0, 1, 2, 3],
    [100, 0, 50, 50, 50.5, 51],
    [10, 95, 96, 97, 98, 99, 100],
  ]) {
    const marks = of(...values.map((v, i) => level(v, String(1 + (i % 3)))));
    for (const [i, m] of marks.entries()) {
      assert.ok(m.top >= 10 + wordHeight / 2 && m.top <= 130 - wordHeight / 2, `${values}: ${m.top}`);
      const next = marks[i + 1];
      if (next) assert.ok(next.top - m.top >= wordHeight, `${values}: ${m.top}, ${next.top}`);
      if (next) assert.ok(next.value <= m.value); // in the order of their lines
    }
  }
});

test("where there is no room for all, the worst have it", () => {
  const many = Array.from({ length: 20 }, (_, i) => level(50 + i / 10, i === 7 ? "-" : i % 2 ? "1" : "3"));
  const marks = of(...many);
  assert.equal(marks.length, 7);
  assert.ok(marks.some((m) => m.status === "-"));
  assert.ok(!marks.some((m) => m.status === "1"));
});

test("what is outside of what is shown, and what is said twice, has no place", () => {
  assert.deepEqual(
    of(level(300, "3"), level(50, "1"), level(50, "1")).map((m) => m.label),
    ["1 >= 50"],
  );
});
