import type { Kind, Status } from "../../api";

/** ActionItem is what an operator does something with. */
export interface ActionItem {
  kind: Kind;
  name: string;
  resource?: string;
  status?: Status;
  acknowledged?: boolean;
  isunmanaged?: boolean;
  /** Armed: unmanaged whenever it is unavailable. */
  unmanageifred?: boolean;
  /** Of a window that is open or planned. */
  unmanagefrom?: string;
  note?: string;
}
