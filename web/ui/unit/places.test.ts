// Over HTTP/1.1 four windows of a browser listen, and no more: the others would take the last connections.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { most, Places } from "../src/places";

/** shared is what the windows of a browser share, as a browser keeps it: texts by name. */
function shared() {
  const kept = new Map<string, string>();
  return {
    getItem: (k: string) => kept.get(k) ?? null,
    setItem: (k: string, v: string) => void kept.set(k, v),
    removeItem: (k: string) => void kept.delete(k),
    kept,
  };
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
});

test("four windows have a place, the fifth gets one when another is closed", () => {
  const storage = shared();
  const windows = Array.from({ length: most + 2 }, (_, n) => new Places(storage, `w${n}`));
  const who = () => windows.map((w) => w.take());
  assert.deepEqual(who(), [true, true, true, true, false, false]);
  for (let s = 0; s < 60; s++) {
    mock.timers.tick(1000);
    assert.deepEqual(who(), [true, true, true, true, false, false]); // they stay
  }
  windows[1]?.leave();
  assert.deepEqual([windows[5]?.take(), windows[4]?.take(), windows[1]?.take()], [true, false, false]);
  assert.equal(storage.kept.size, most);
});

test("the place of a window that has ended without a word is free after some seconds", () => {
  const storage = shared();
  const windows = Array.from({ length: most + 1 }, (_, n) => new Places(storage, `w${n}`));
  const [last, ...others] = windows.toReversed();
  for (const w of others) w.take();
  assert.equal(last?.take(), false);
  for (let s = 0; s < 10; s++) {
    mock.timers.tick(1000);
    for (const w of others.slice(1)) w.keep();
  }
  assert.equal(last?.take(), true);
  assert.equal(others[0]?.keep(), false); // it wakes up, and finds another one there
  assert.equal(others[0]?.take(), false);
});

test("of windows that take a place at the same moment one keeps it, and the others take others", () => {
  const storage = shared();
  const windows = Array.from({ length: 6 }, (_, n) => new Places(storage, `w${n}`));
  // None of them sees what the others write.
  const real = storage.getItem;
  storage.getItem = () => null;
  for (const w of windows) assert.equal(w.take(), true);
  storage.getItem = real;
  mock.timers.tick(1000);
  assert.equal(windows.filter((w) => w.keep()).length, 1);
  assert.equal(windows.filter((w) => w.take()).length, most);
  assert.equal(windows.filter((w) => w.keep()).length, most);
});

test("what is no holder is a free place", () => {
  const storage = shared();
  storage.setItem("belfry.listening.0", "{");
  storage.setItem("belfry.listening.1", JSON.stringify({ by: "w", at: Date.now() + 86_400_000 })); // the clock was put back
  const windows = Array.from({ length: most }, (_, n) => new Places(storage, `w${n}`));
  assert.ok(windows.every((w) => w.take()));
});
