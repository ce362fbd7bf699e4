// The list by keyboard.
import { operationKeys, usePageKeys } from "../../parts/actions/keys";
import type { Operation } from "../../parts/actions/operations";

export interface Keys {
  move: (by: number) => void;
  to: (end: "first" | "last") => void;
  select: (range: boolean) => void;
  open: () => void;
  act: (o: Operation) => void;
  escape: () => void;
}

export function useListKeys(keys: Keys) {
  usePageKeys((e) => {
    const at = e.target as HTMLElement;
    const inGrid = at === document.body || !!at.closest("[role=grid]");
    return handle(e, keys, inGrid, at);
  });
}

function handle(e: KeyboardEvent, k: Keys, inGrid: boolean, at: HTMLElement): boolean {
  const operation = operationKeys[e.key];
  if (operation) k.act(operation);
  else if (e.key === "j" || (inGrid && e.key === "ArrowDown")) k.move(1);
  else if (e.key === "k" || (inGrid && e.key === "ArrowUp")) k.move(-1);
  else if (e.key === "x" || e.key === "X") k.select(e.shiftKey);
  else if (e.key === "Escape") k.escape();
  else if (!inGrid) return false;
  else if (e.key === "PageDown") k.move(20);
  else if (e.key === "PageUp") k.move(-20);
  else if (e.key === "Home") k.to("first");
  else if (e.key === "End") k.to("last");
  else if (e.key === "Enter" && !/^(A|BUTTON|INPUT)$/.test(at.tagName)) k.open();
  else if (e.key === " " && !/^(A|BUTTON|INPUT)$/.test(at.tagName)) k.select(e.shiftKey);
  else return false;
  return true;
}
