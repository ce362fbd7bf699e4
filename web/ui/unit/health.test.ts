// What the health page makes of its figures.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Health } from "../src/api";
import { fileSystems } from "../src/pages/parameters/filesystems";
import { bytes } from "../src/parts/bytes";

test("sizes have at most three digits before the unit", () => {
  const f = (n: number, want: string) => assert.equal(bytes(n), want);
  f(0, "0 B");
  f(999, "999 B");
  f(1000, "1.0 kB");
  f(99_960, "100 kB");
  f(999_600, "1.0 MB");
  f(1.1e15, "1.1 PB");
  f(9.2e18, "9.2 EB");
  f(9.2e21, "9200 EB");
});

test("folders on one file system are put together", () => {
  const disk = { free: 5, total: 10 };
  const all: Health["disk"]["folders"] = [
    { name: "data", path: "/data", ...disk },
    { name: "rows", path: "/mnt/rows", free: 7, total: 90 },
    { name: "metadata", path: "/data", ...disk },
    { name: "journal", path: "/data/journal", ...disk },
    { name: "spool", path: "/data2", ...disk },
  ];
  assert.deepEqual(fileSystems(all), [
    { names: ["data", "metadata", "journal", "spool"], paths: ["/data", "/data2"], ...disk },
    { names: ["rows"], paths: ["/mnt/rows"], free: 7, total: 90 },
  ]);
  assert.deepEqual(fileSystems([]), []);
});
