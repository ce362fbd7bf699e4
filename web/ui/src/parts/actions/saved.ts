// Notes that were saved on this page in the last minute. Whoever replaces one of them may not have seen it, so that is shown, with
// what was written. The list is apart from what shows it, which comes with the dialog of the first note.
import type { ComponentType } from "react";
import { pageNow } from "../../clock";
import type { ActionItem } from "./item";
import { itemKey } from "./operations";

/** So long, in milliseconds, whoever saved a note is notified that it was replaced. */
export const minute = 60_000;

export interface SavedNote {
  item: ActionItem;
  text: string;
  /** When its form was opened. */
  opened: number;
  at: number;
}

interface State {
  notes: SavedNote[];
  Shown?: ComponentType;
}

let state: State = { notes: [] };
const readers = new Set<() => void>();

function set(next: State) {
  state = next;
  for (const again of [...readers]) again();
}

export const savedNotes = {
  get: () => state,
  subscribe: (again: () => void) => {
    readers.add(again);
    return () => readers.delete(again);
  },
};

/** forgetNotes removes the notices about notes, as of those that are about to be saved again. */
export function forgetNotes(items: ActionItem[]) {
  if (!state.notes.length) return;
  const keys = new Set(items.map(itemKey));
  set({ ...state, notes: state.notes.filter((n) => !keys.has(itemKey(n.item))) });
}

/** keepNote begins to watch a note that was saved. */
export const keepNote = (item: ActionItem, text: string, opened: number, Shown: ComponentType) =>
  set({ notes: [...state.notes, { item, text, opened, at: pageNow() }], Shown });
