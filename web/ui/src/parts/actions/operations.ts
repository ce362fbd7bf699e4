// What can be done about items, which of it fits which, and what it is called.
import type { ActBody, Kind } from "../../api";
import { inError } from "../StatusIcon";
import type { ActionItem } from "./item";

export type Operation = "acknowledge" | "unacknowledge" | "unmanage" | "manage" | "note";

export const operations: Operation[] = ["acknowledge", "unacknowledge", "unmanage", "manage", "note"];

export const operationName: Record<Operation, string> = {
  acknowledge: "Acknowledge",
  unacknowledge: "Unacknowledge",
  unmanage: "Unmanage",
  manage: "Manage",
  note: "Note",
};

/** fits reports whether an operation has a meaning for an item, going by what is known of it. The service decides. */
export function fits(o: Operation, i: ActionItem): boolean {
  switch (o) {
    case "acknowledge":
      return !i.isunmanaged && (i.status === undefined || inError(i.status));
    case "unacknowledge":
      return !!i.acknowledged;
    case "manage":
      // What is armed or planned shows as managed; who does not know about it lets the service decide.
      return i.isunmanaged !== false || i.unmanageifred !== false || !!i.unmanagefrom;
    default:
      return true;
  }
}

export type Way = "while unavailable" | "stored" | "discarded" | "stopped";

interface WayText {
  way: Way;
  label: string;
  about: string;
  kinds: Kind[];
  flags: Pick<ActBody, "isunmanaged" | "unmanageifred" | "collectunmanage" | "collectorunmanage">;
}

const flags = (ifRed: boolean, collect: boolean, collector: boolean) => ({
  isunmanaged: true,
  unmanageifred: ifRed,
  collectunmanage: collect,
  collectorunmanage: collector,
});

/** The ways to unmanage. Each is one combination of the four flags, for the kinds it is meant for. */
export const ways: WayText[] = [
  {
    way: "stored",
    label: "Keep the data",
    about: "Status is Unknown (Unmanaged); data are stored and shown.",
    kinds: ["object", "view", "resource"],
    flags: flags(false, true, true),
  },
  {
    way: "while unavailable",
    label: "Only while unavailable",
    about:
      "Unmanaged as long as it is Unavailable, then managed again automatically. Stays in force until you manage it.",
    kinds: ["object", "view", "resource"],
    flags: flags(true, true, true),
  },
  {
    way: "discarded",
    label: "Discard the data",
    about: "New data are neither stored nor shown.",
    kinds: ["object", "view"],
    flags: flags(false, false, true),
  },
  {
    way: "stopped",
    label: "Stop collecting",
    about: "Everything in the resource is unmanaged, its collector stops, data that are sent are discarded.",
    kinds: ["resource"],
    flags: flags(false, false, false),
  },
];

export const wayOf = (w: Way): WayText => ways.find((t) => t.way === w) as WayText;

const plurals: Record<Kind, string> = { object: "objects", view: "views", resource: "resources" };

/** kindsText lists kinds as a sentence does. */
export const kindsText = (kinds: Kind[]) => kinds.map((k) => plurals[k]).join(" and ");

/** counted writes a number of things. */
export const counted = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString()} ${n === 1 ? one : many}`;

/** itemKey names an item in this tab: names repeat between resources and between kinds. */
export const itemKey = (i: { kind: Kind; name: string; resource?: string }) =>
  `${i.kind}\n${i.kind === "resource" ? "" : (i.resource ?? "")}\n${i.name}`;
