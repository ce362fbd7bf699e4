// The list by keyboard. Nothing is heard while somebody types or a dialog is open.
import { useEffect, useRef } from "react";
import type { Operation } from "../../parts/actions/operations";

export interface Keys {
  move: (by: number) => void;
  to: (end: "first" | "last") => void;
  select: (range: boolean) => void;
  open: () => void;
  act: (o: Operation) => void;
  escape: () => void;
}

const acts: Record<string, Operation> = { a: "acknowledge", u: "unmanage", m: "manage", n: "note" };

function typing(at: HTMLElement): boolean {
  if (at.isContentEditable) return true;
  if (at instanceof HTMLInputElement) return at.type !== "checkbox";
  return /^(TEXTAREA|SELECT)$/.test(at.tagName);
}

export function useListKeys(keys: Keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let g = Number.NEGATIVE_INFINITY; // g and a letter go to another page
    const down = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement;
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(at)) return;
      if (document.querySelector("[role=dialog], [role=menu], [data-opening]")) return;
      const going = e.timeStamp - g < 1500;
      g = e.key === "g" ? e.timeStamp : Number.NEGATIVE_INFINITY;
      if (going || e.key === "g") return;
      const inGrid = at === document.body || !!at.closest("[role=grid]");
      if (heard(e, latest.current, inGrid, at)) e.preventDefault();
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, []);
}

function heard(e: KeyboardEvent, k: Keys, inGrid: boolean, at: HTMLElement): boolean {
  const act = acts[e.key];
  if (act) k.act(act);
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
