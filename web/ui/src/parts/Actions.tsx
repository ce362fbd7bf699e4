// What operators do about items: acknowledge, manage, unmanage in its five ways, note. Used by the status list, the map and
// the item pages.
import type { Kind, Status } from "../api";

export interface ActionItem {
  kind: Kind;
  name: string;
  resource?: string;
  status?: Status;
  acknowledged?: boolean;
  isunmanaged?: boolean;
}

/** ActionButtons are the operations that fit the items, as buttons (or, compact, as a menu). onDone is called after each. */
export function ActionButtons(_: { items: ActionItem[]; compact?: boolean; onDone?: () => void }) {
  return null;
}
