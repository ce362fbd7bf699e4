// Maintenance windows: the order in which they are listed, and what is said of them.
import type { ExplainedWindow, Kind, ListedWindow } from "../../api";

/** OneWindow is what lists say of a window, of whichever answer it is. */
export interface OneWindow {
  /** Empty for the one without a name. */
  name: string;
  mode: string;
  open: boolean;
  from: string;
  to?: string;
  rule?: string;
  zone?: string;
  by?: string;
}

/** Whose says to which item a window belongs. */
export interface Whose {
  kind: Kind;
  name: string;
  resource?: string;
}

export const ofItem = (w: ExplainedWindow): OneWindow => ({
  name: w.name ?? "",
  mode: w.mode,
  open: w.open,
  from: w.from,
  to: w.to,
  rule: w.rrule,
  zone: w.timezone,
  by: w.by,
});

export const ofList = (w: ListedWindow): OneWindow => ({
  name: w.window ?? "",
  mode: w.mode,
  open: w.open,
  from: w.from,
  to: w.to,
  rule: w.rrule,
  zone: w.timezone,
  by: w.user,
});

/** byTime puts those that are open first, and then those that open next. */
export function byTime(a: OneWindow, b: OneWindow): number {
  if (a.open !== b.open) return a.open ? -1 : 1;
  return a.from < b.from ? -1 : a.from > b.from ? 1 : 0;
}

export const repeats = [
  { value: "", label: "Once" },
  { value: "FREQ=DAILY", label: "Every day" },
  { value: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", label: "From Monday to Friday" },
  { value: "FREQ=WEEKLY", label: "Every week on that day" },
  { value: "FREQ=MONTHLY", label: "Every month on that date" },
];

/** repeatOf says how a window comes again: in words where it is one of the usual ways, else by its rule. */
export const repeatOf = (rule?: string) => repeats.find((r) => r.value === (rule ?? ""))?.label ?? rule ?? "";
