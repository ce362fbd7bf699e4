// What pages leave behind: it is shown above whatever page follows, and listens on. It comes with the page that leaves it.
import type { ComponentType } from "react";

let shown: ComponentType[] = [];
const readers = new Set<() => void>();

export const above = {
  get: () => shown,
  subscribe: (again: () => void) => {
    readers.add(again);
    return () => readers.delete(again);
  },
  /** add shows a component from now on, once. */
  add: (component: ComponentType) => {
    if (shown.includes(component)) return;
    shown = [...shown, component];
    for (const again of [...readers]) again();
  },
};
