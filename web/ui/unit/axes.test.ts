// The times below a chart are written in full, also at its right edge.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labelWidth, timeTicks } from "../src/parts/chart/axes";
import { optionsOf, type Paint, type Wants } from "../src/parts/chart/options";

const letter = 6; // pixels, as wide as most in the font of charts

test("there is room for every time", () => {
  for (const step of [5, 3600, 86400]) {
    const times = Array.from({ length: 48 }, (_, i) => 1_790_000_000 + i * step);
    for (const line of timeTicks(times, step).flatMap((t) => t.split("\n")))
      assert.ok(line.length * letter <= labelWidth(step), `${line} in ${labelWidth(step)} pixels`);
  }
});

test("the last time of a chart is not cut off", () => {
  const o = optionsOf([], [], { width: 800, height: 200 }, "", {} as Paint, {} as Wants);
  const right = o.padding?.[1];
  assert.ok(typeof right === "number" && right >= labelWidth(5) / 2 && right >= labelWidth(3600) / 2);
});
