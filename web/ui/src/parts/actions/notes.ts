// Notes that two people write at the same time. The API has no precondition for a note, so the later one replaces the
// earlier one. Both are in events, by which the page recognises it afterwards.
import { type EventRow, quote, sql } from "../../api";
import { local } from "../Time";
import type { ActionItem } from "./item";
import type { SavedNote } from "./saved";

/** NoteDraft is a note while it is edited. */
export interface NoteDraft {
  text: string;
  /** The note of the item when editing began. */
  base: string;
  /** The note of another user that was put before the text. */
  merged?: string;
}

/** isNews reports whether the note of the item is one that the draft does not take into account. */
export const isNews = (d: NoteDraft, current: string): boolean =>
  current !== d.base && current !== d.merged && (!current || !d.text.includes(current));

/** putBefore puts a note of another user before the text, once. */
export const putBefore = (d: NoteDraft, current: string): NoteDraft =>
  d.merged === current ? d : { ...d, text: [current, d.text].filter(Boolean).join("\n"), merged: current };

export type NoteEvent = Pick<EventRow, "timestamp" | "user" | "info">;

/** An event of a note that was removed has this text. */
const removed = "note removed";

const quoted = (e: NoteEvent) => (e.info === removed ? "that removed the note" : `“${e.info ?? ""}”`);
const writer = (e: NoteEvent) => `${e.user ?? "another user"} at ${local(e.timestamp)}`;
const textOf = (e: NoteEvent) => (e.info === removed ? "" : (e.info ?? ""));

/** said is who wrote a note, when, and what. */
export const said = (e: NoteEvent) => `${writer(e)}: ${quoted(e)}`;

/**
 * collision compares the last two note events of an item, newest first, with the note that was just saved and the one that
 * was known before. It says what was replaced without having been seen.
 */
export function collision(events: NoteEvent[], saved: string, known: string): string | undefined {
  const [last, before] = events;
  if (last && textOf(last) !== saved) return `but replaced right afterwards by ${said(last)}`;
  if (before && textOf(before) !== known && textOf(before) !== saved)
    return `replacing a note that you had not seen, by ${said(before)}`;
  return undefined;
}

function aboutItem(i: ActionItem): string {
  const inside = i.resource ? `resource = ${quote(i.resource)}` : "resource IS NULL";
  const named = { object: `${inside} AND object`, view: `${inside} AND view`, resource: "resource" }[i.kind];
  return `type = 'note' AND source = ${quote(i.kind)} AND ${named} = ${quote(i.name)}`;
}

/** findCollision reads the notes of an item after one was saved. Only notes since the form was opened count. */
export async function findCollision(
  item: ActionItem,
  saved: string,
  known: string,
  opened: number,
): Promise<string | undefined> {
  const q = `SELECT timestamp, user, info FROM events WHERE ${aboutItem(item)}`;
  try {
    const { rows } = await sql<EventRow>(q, { rows: 2, from: new Date(opened).toISOString() });
    return collision(rows, saved, known);
  } catch {
    return undefined; // the note is saved; who else wrote one is in events
  }
}

/** replacing is the last note event of an item, newest first, unless that is the note that was saved. */
export function replacing(events: NoteEvent[], saved: string): NoteEvent | undefined {
  const own = events.findIndex((e) => textOf(e).trim() === saved.trim());
  return own > 0 ? events[0] : undefined;
}

/** readReplacing reads who has replaced a note since it was saved; null if no one has. */
export async function readReplacing(n: SavedNote, signal?: AbortSignal): Promise<NoteEvent | null> {
  const q = `SELECT timestamp, user, info FROM events WHERE ${aboutItem(n.item)}`;
  const { rows } = await sql<EventRow>(q, { rows: 50, from: new Date(n.opened).toISOString(), signal });
  return replacing(rows, n.text) ?? null;
}
