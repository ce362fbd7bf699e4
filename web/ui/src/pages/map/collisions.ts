// What two people save without having seen each other's. The API has no precondition for a row, so the later one replaces the earlier
// one. Both are in events, by which the page recognises it afterwards.
import { type EventRow, quote, sql, type Tree, type TreeItem } from "../../api";
import { byService } from "../../clock";
import type { Side } from "./conflicts";
import { add, type Batch, type Change, change, changeView, type Draft, groupOf, held, merge } from "./draft";
import { keyOf } from "./scene";

/** Sent is a row that was saved. */
export interface Sent {
  key: string;
  item: TreeItem;
  /** What the item had when the draft was last compared with it. */
  known: Record<string, string>;
  mine: Record<string, string>;
  /** It was removed. */
  removed?: boolean;
}

/** Saving is what one press of Save has changed. */
export interface Saving {
  sent: Sent[];
  /** The last event before the draft was compared with what is there. */
  after: string;
  /** The time of the service then. */
  from: string;
  by: string;
}

export interface Collision {
  key: string;
  item: TreeItem;
  /** Who has changed it, and when. */
  by: string;
  at: string;
  mine: Side;
  /** What mine has replaced, or what has replaced mine. */
  theirs: Side;
  /** Theirs replaced mine; otherwise mine replaced theirs. */
  lost: boolean;
  /** The later one has removed it. */
  removed?: boolean;
  /** Neither can have seen what the other was about to save. */
  together?: boolean;
}

export type ChangeEvent = Pick<EventRow, "id" | "timestamp" | "info" | "user">;

/** For so many milliseconds after a save the page reports who replaced it, as with notes. */
export const minute = 60_000;

/** Within such a time people save at the same time; it takes longer to see a change and to make another. */
const moment = 1000;

/** sentOf lists the rows of batches that have changed or removed items. */
export function sentOf(all: Batch[], saved: Set<string>): Sent[] {
  const out: Sent[] = [];
  for (const b of all) {
    const columns = b.columns.filter((c) => c !== "name" && c !== "resname" && c !== "view");
    for (const r of b.rows) {
      if (r.fresh || !saved.has(r.key)) continue;
      if (b.removal) {
        out.push({ key: r.key, item: r.item, known: {}, mine: {}, removed: true });
        continue;
      }
      const pick = (of: (c: string) => string) => Object.fromEntries(columns.map((c) => [c, of(c)]));
      out.push({ key: r.key, item: r.item, known: pick((c) => held(r.item, c)), mine: pick((c) => r.cells[c] ?? "") });
    }
  }
  return out;
}

/** value is the value that a text of an event shows. Long ones end in …, with less than was saved. */
function value(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}

const clipped = (text: string) => text.endsWith("…");

const same = (text: string, v: string) =>
  text === v || (clipped(text) ? v.startsWith(text.slice(0, -1)) : value(text) === v);

const numbers = ["posx", "posy", "width", "height"];

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** detailOf is what an event says about an item: after its name, or in a list of many; undefined if nothing. */
function detailOf(info: string, i: TreeItem, action: "changed" | "removed"): string | undefined {
  const inside = i.kind === "view" && i.resource ? ` of ${i.resource}` : "";
  const alone = `${i.kind === "element" ? i.package : i.kind} ${i.name}${inside} ${action}`;
  if (info === alone) return "";
  if (info.startsWith(`${alone}: `) || info.startsWith(`${alone}, `)) return info.slice(alone.length + 2);
  const of = i.kind === "view" ? inside : ` of package ${i.package}`;
  const list = new RegExp(`(?:^|; )\\d+ ${i.kind}s?${literal(of)} ${action}: `).exec(info);
  if (!list) return undefined;
  const rest = info.slice(list.index + list[0].length - 2); // every entry has a comma or a colon before it
  const entry = new RegExp(`[,:] ${literal(i.name)}(?: \\((.*?)\\))?(?:, |; |$)`).exec(rest);
  return entry ? (entry[1] ?? "") : undefined;
}

/** movesOf are the fields that an event says were changed, with what they were and are. */
export function movesOf(info: string, i: TreeItem): Map<string, [string, string]> {
  const moves = new Map<string, [string, string]>();
  const each = /(?:^|, )([a-z_0-9]+): (.*?) -> (.*?)(?=, [a-z_0-9]+: .* -> |…?$)/gs;
  for (const [, field = "", was = "", is = ""] of (detailOf(info, i, "changed") ?? "").matchAll(each))
    moves.set(field, [was, is]);
  return moves;
}

type Cells = Record<string, string>;

/** Step is an event about an item, with what the item had before and after it. */
interface Step {
  e: ChangeEvent;
  before: Cells;
  after: Cells;
}

/** groupsOf are the fields that were saved, with those that belong to them. */
const groupsOf = (s: Sent) => [...new Set(Object.keys(s.mine).map(groupOf))];

/**
 * stepsOf follows the fields of an item through the events. An event names only what differs: the rest was so before, also what
 * my own save has set to what it was.
 */
function stepsOf(s: Sent, by: string, events: ChangeEvent[]): { steps: Step[]; own: number } {
  const names = groupsOf(s).flat();
  const moved = events.flatMap((e) => {
    const moves = [...movesOf(e.info ?? "", s.item)].filter(([f]) => names.includes(f));
    return moves.length ? [{ e, moves }] : [];
  });
  const own = moved.findLastIndex(
    ({ e, moves }) => e.user === by && moves.every(([f, [, is]]) => same(is, s.mine[f] ?? "")),
  );
  const first = new Map(moved.toReversed().flatMap(({ moves }) => moves.map(([f, [was]]) => [f, value(was)])));
  let now: Cells = Object.fromEntries(names.map((f) => [f, first.get(f) ?? s.known[f] ?? held(s.item, f)]));
  const steps = moved.map(({ e, moves }, at) => {
    const sent = at === own ? s.mine : {};
    const before = { ...now, ...sent, ...Object.fromEntries(moves.map(([f, [was]]) => [f, value(was)])) };
    now = { ...before, ...Object.fromEntries(moves.map(([f, [, is]]) => [f, value(is)])), ...sent };
    return { e, before, after: now };
  });
  return { steps, own };
}

/** differ reports whether some of the fields are not the same. Either side may be shortened. */
const differ = (a: Cells, b: Cells, fields: string[]) =>
  fields.some((f) => !same(a[f] ?? "", b[f] ?? "") && !same(b[f] ?? "", a[f] ?? ""));

const side = (of: Cells, fields: string[]): Side =>
  Object.fromEntries(fields.map((f) => [f, numbers.includes(f) && of[f] ? Number(of[f]) : of[f]]));

const cellsOf = (i: TreeItem, fields: string[]): Cells => Object.fromEntries(fields.map((f) => [f, held(i, f)]));

const removes = (e: ChangeEvent, i: TreeItem) => detailOf(e.info ?? "", i, "removed") !== undefined;

const apart = (a: ChangeEvent, b: ChangeEvent) => Date.parse(b.timestamp) - Date.parse(a.timestamp);

/** removedUnseen is what another user had saved of an item that I have removed. */
function removedUnseen(s: Sent, by: string, events: ChangeEvent[]): Collision | undefined {
  const at = events.findLastIndex((e) => e.user === by && removes(e, s.item));
  const before = events.slice(0, Math.max(at, 0)).map((e) => ({ e, moves: movesOf(e.info ?? "", s.item) }));
  const last = before.findLast(({ moves }) => moves.size);
  if (!last) return undefined;
  const theirs = Object.fromEntries(before.flatMap(({ moves }) => [...moves].map(([f, [, is]]) => [f, value(is)])));
  const fields = Object.keys(theirs).filter((f) => differ(theirs, cellsOf(s.item, [f]), [f]));
  if (!fields.length) return undefined;
  return {
    ...{
      key: s.key,
      item: s.item,
      by: last.e.user ?? "another user",
      at: last.e.timestamp,
      lost: false,
      removed: true,
    },
    ...{ mine: {}, theirs: side(theirs, fields) },
  };
}

/** removedBy reports that another user has removed what was saved; after is the event by which it was, if there is one. */
function removedBy(s: Sent, events: ChangeEvent[], after?: ChangeEvent): Collision | undefined {
  const from = after ? events.indexOf(after) + 1 : 0;
  const e = events.slice(from).findLast((e) => removes(e, s.item));
  if (!e || (after && apart(after, e) > minute)) return undefined;
  return {
    ...{ key: s.key, item: s.item, by: e.user ?? "another user", at: e.timestamp, lost: true, removed: true },
    ...{ together: !!after && apart(after, e) < moment, mine: side(s.mine, Object.keys(s.mine)), theirs: {} },
  };
}

function collisionOf(s: Sent, by: string, events: ChangeEvent[]): Collision | undefined {
  if (s.removed) return removedUnseen(s, by, events);
  const { steps, own } = stepsOf(s, by, events);
  const gone = removedBy(s, events, steps[own]?.e);
  if (gone) return gone;
  // A save that changes nothing has no event: it was made when everything was so already.
  const at = own >= 0 ? own : steps.findLastIndex((x) => !differ(x.after, s.mine, Object.keys(s.mine)));
  const saved = steps[at];
  if (!saved) return undefined;
  const collision = (theirs: Cells, fields: string[], e: ChangeEvent | undefined, lost: boolean): Collision => ({
    ...{ key: s.key, item: s.item, lost, by: e?.user ?? "another user", at: e?.timestamp ?? "" },
    ...{ mine: side(saved.after, fields), theirs: side(theirs, fields) },
    ...(lost && { together: own >= 0 && !!e && apart(saved.e, e) < moment }),
  });
  const last = steps.slice(at + 1).findLast((x) => own < 0 || apart(saved.e, x.e) <= minute);
  const lost = groupsOf(s).filter((g) => last && differ(last.after, saved.after, g));
  if (last && lost.length) return collision(last.after, lost.flat(), last.e, true);
  if (own < 0) return undefined;
  const known = { ...cellsOf(s.item, groupsOf(s).flat()), ...s.known };
  const met = groupsOf(s).filter((g) => differ(saved.before, known, g) && differ(saved.before, saved.after, g));
  const before = steps.slice(0, at).findLast((x) => differ(x.before, x.after, met.flat()));
  return met.length ? collision(saved.before, met.flat(), before?.e, false) : undefined;
}

/** collisions compares what was saved with the events since, in the order of the service. */
export const collisions = (s: Saving, events: ChangeEvent[]): Collision[] =>
  s.sent.map((one) => collisionOf(one, s.by, events)).filter((c) => c !== undefined);

/** replaced compares what was saved with the view as it is now, for users who may not see who has changed it. */
export const replaced = (s: Saving, t: Tree): Collision[] =>
  s.sent.flatMap((one) => {
    const item = itemOf(t, one.key);
    if (!item && !one.removed) {
      const mine = side(one.mine, Object.keys(one.mine));
      return [
        { key: one.key, item: one.item, lost: true, removed: true, by: "another user", at: "", mine, theirs: {} },
      ];
    }
    const now = item && cellsOf(item, groupsOf(one).flat());
    const lost = now ? groupsOf(one).filter((g) => differ(now, { ...now, ...one.mine }, g)) : [];
    if (!now || !lost.length) return [];
    const fields = lost.flat();
    const mine = side({ ...cellsOf(one.item, fields), ...one.mine }, fields);
    return [{ key: one.key, item, lost: true, by: "another user", at: "", mine, theirs: side(now, fields) }];
  });

const itemOf = (t: Tree, key: string) => [t.view, ...t.children].find((i) => keyOf(i) === key);

/** presentOf is what an item of a collision has now; undefined when it has what was replaced again, or is gone. */
export function presentOf(c: Collision, t: Tree): Side | undefined {
  const item = itemOf(t, c.key);
  const fields = Object.keys(c.mine);
  if (!item || c.removed) return !item && c.removed ? {} : undefined;
  const now = cellsOf(item, fields);
  const gone = c.lost ? c.mine : c.theirs;
  return fields.some((f) => !same(String(gone[f] ?? ""), now[f] ?? "")) ? side(now, fields) : undefined;
}

/** without leaves out of a save what a later one of the same page sets again or removes. */
export function without(s: Saving, later: Sent[]): Saving {
  const again = new Map(later.map((l) => [l.key, l]));
  if (!s.sent.some((one) => again.has(one.key))) return s;
  const sent = s.sent.map((one) => {
    const now = again.get(one.key);
    const mine = Object.entries(one.mine).filter(([f]) => !now?.removed && now?.mine[f] === undefined);
    return { ...one, mine: Object.fromEntries(mine) };
  });
  return { ...s, sent: sent.filter((one) => (one.removed ? !again.has(one.key) : Object.keys(one.mine).length)) };
}

/** begin notes the last change of the configuration before a save. */
export async function begin(by: string): Promise<Omit<Saving, "sent">> {
  const from = new Date(byService(Date.now()) - 60_000).toISOString();
  const q = "SELECT id FROM events WHERE type = 'configuration'";
  const { rows } = await sql<ChangeEvent>(q, { rows: 1, from }).catch(() => ({ rows: [] }));
  return { after: rows[0]?.id ?? "", from, by };
}

/** findCollisions reads the changes of the configuration since a save began. */
export async function findCollisions(s: Saving): Promise<Collision[]> {
  if (!s.sent.length) return [];
  const behind = s.after && ` AND id > ${quote(s.after)}`;
  const q = `SELECT id, timestamp, info, user FROM events WHERE type = 'configuration'${behind}`;
  try {
    const { rows } = await sql<ChangeEvent>(q, { rows: 1000, from: s.from });
    rows.sort((a, b) => (a.id < b.id ? -1 : 1)); // ids grow in the order of the service
    return collisions(s, rows);
  } catch {
    return []; // it is saved; who else saved the same is in events
  }
}

/** changeOf turns a side of a collision into a change. What events show only in part is left out. */
function changeOf(side: Side): Change {
  const place: Record<string, number> = {};
  const answers: Record<string, string> = {};
  for (const [f, v] of Object.entries(side)) {
    const text = String(v ?? "");
    if (clipped(text)) continue;
    if (!numbers.includes(f)) answers[f] = text;
    else if (text) place[f] = Number(text);
  }
  return { ...place, ...(Object.keys(answers).length && { answers }) };
}

/** restorable reports whether what a collision has replaced can be put back. Of what was removed, only what is drawn can. */
export const restorable = (c: Collision) => !c.removed || c.item.kind === "element";

/** restore puts into the draft of a view what a collision has replaced. */
export function restore(d: Draft, t: Tree, c: Collision): Draft {
  const wanted = c.lost ? c.mine : c.theirs;
  if (c.removed) return add(d, merge(c.item, changeOf(wanted)));
  if (keyOf(t.view) === c.key) return changeView(d, t.view, wanted as Draft["view"]);
  const item = itemOf(t, c.key);
  return item ? change(d, item, changeOf(wanted)) : d;
}
