// Whether the page is being printed. Browsers say so just before they lay the page out for paper, so what hears it draws at once.
import { useSyncExternalStore } from "react";
import { flushSync } from "react-dom";

let printing = false;
const readers = new Set<() => void>();
const paper = globalThis.matchMedia?.("print");

function set(is: boolean) {
  if (is === printing) return;
  printing = is;
  flushSync(() => {
    for (const again of [...readers]) again();
  });
}

paper?.addEventListener("change", (e) => set(e.matches));
globalThis.window?.addEventListener("beforeprint", () => set(true));
globalThis.window?.addEventListener("afterprint", () => set(!!paper?.matches));

const subscribe = (again: () => void) => {
  readers.add(again);
  return () => readers.delete(again);
};

export const usePrinting = () => useSyncExternalStore(subscribe, () => printing);
