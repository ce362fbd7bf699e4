// The keys of the operations, the same in the status list and on the page of an item.
import { useEffect, useRef } from "react";
import type { Operation } from "./operations";

export const operationKeys: Record<string, Operation> = {
  a: "acknowledge",
  A: "unacknowledge",
  u: "unmanage",
  m: "manage",
  n: "note",
};

function typing(at: HTMLElement): boolean {
  if (at.isContentEditable) return true;
  if (at instanceof HTMLInputElement) return at.type !== "checkbox";
  return /^(TEXTAREA|SELECT)$/.test(at.tagName);
}

/**
 * usePageKeys calls on for keys that are meant for the page: not while a field has the focus, a dialog or menu is open, or
 * after g, which with a letter opens another page. A key that on handles does nothing else.
 */
export function usePageKeys(on: (e: KeyboardEvent) => boolean) {
  const latest = useRef(on);
  latest.current = on;
  useEffect(() => {
    let g = Number.NEGATIVE_INFINITY;
    const down = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement;
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(at)) return;
      if (document.querySelector("[role=dialog], [role=menu], [data-opening]")) return;
      const afterG = e.timeStamp - g < 1500;
      g = e.key === "g" ? e.timeStamp : Number.NEGATIVE_INFINITY;
      if (afterG || e.key === "g") return;
      if (latest.current(e)) e.preventDefault();
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, []);
}

/** useOperationKeys calls start for the key of an operation. */
export const useOperationKeys = (start: (o: Operation) => void) =>
  usePageKeys((e) => {
    const operation = operationKeys[e.key];
    if (operation) start(operation);
    return !!operation;
  });
