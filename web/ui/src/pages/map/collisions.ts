// Places that two people save at the same moment. The API has no precondition for a row, so the later one replaces the earlier
// one. Both are in events, by which the page recognises it afterwards.
import { type EventRow, quote, sql, type TreeItem } from "../../api";
import { byService } from "../../clock";
import { groups, type Side } from "./conflicts";
import { type Batch, type Change, change, changeView, type Draft, held } from "./draft";
import { keyOf } from "./scene";

/** Sent is a row that was saved. */
export interface Sent {
  key: string;
  item: TreeItem;
  /** What the item had when the draft was last compared with it. */
  known: Record<string, string>;
  mine: Record<string, string>;
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
  theirs: Side;
  /** Theirs replaced mine; otherwise mine replaced theirs. */
  lost: boolean;
}

type ChangeEvent = Pick<EventRow, "id" | "timestamp" | "info" | "user">;

/** Later changes are made by people who have seen what was saved. */
const moment = 5000;

/** How long after a save its items are watched, in milliseconds: events take a while to arrive. */
export const watched = moment + 5000;

/** sentOf lists the rows of batches that have changed items. */
export function sentOf(all: Batch[], saved: Set<string>): Sent[] {
  const out: Sent[] = [];
  for (const b of all) {
    const columns = b.columns.filter((c) => c !== "name" && c !== "resname" && c !== "view");
    for (const r of b.rows) {
      if (b.removal || r.fresh || !saved.has(r.key)) continue;
      const pick = (of: (c: string) => string) => Object.fromEntries(columns.map((c) => [c, of(c)]));
      out.push({ key: r.key, item: r.item, known: pick((c) => held(r.item, c)), mine: pick((c) => r.cells[c] ?? "") });
    }
  }
  return out;
}

/** value is what a text of an event stands for. Long ones end in …, with less than was saved. */
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

/** detailOf is what an event says about an item: after its name, or in a list of many. */
function detailOf(info: string, i: TreeItem): string {
  const inside = i.kind === "view" && i.resource ? ` of ${i.resource}` : "";
  const alone = `${i.kind === "element" ? i.package : i.kind} ${i.name}${inside} changed: `;
  if (info.startsWith(alone)) return info.slice(alone.length);
  const of = i.kind === "view" ? inside : ` of package ${i.package}`;
  const list = new RegExp(`(?:^|; )\\d+ ${i.kind}s?${literal(of)} changed: `).exec(info);
  if (!list) return "";
  const rest = info.slice(list.index + list[0].length - 2); // every entry has a comma or a colon before it
  const entry = new RegExp(`[,:] ${literal(i.name)} \\((.*?)\\)(?:, |; |$)`).exec(rest);
  return entry?.[1] ?? "";
}

/** movesOf are the fields that an event says were changed, with what they were and are. */
export function movesOf(info: string, i: TreeItem): Map<string, [string, string]> {
  const moves = new Map<string, [string, string]>();
  const each = /(?:^|, )([a-z_0-9]+): (.*?) -> (.*?)(?=, [a-z_0-9]+: .* -> |…?$)/gs;
  for (const [, field = "", was = "", is = ""] of detailOf(info, i).matchAll(each)) moves.set(field, [was, is]);
  return moves;
}

/** meets looks for changes of a field that met mine: one that mine replaced, or one that replaced mine. */
function meets(s: Sent, by: string, field: string, events: ChangeEvent[]) {
  const all = events.flatMap((e) => {
    const move = movesOf(e.info ?? "", s.item).get(field);
    return move ? [{ e, was: move[0], is: move[1] }] : [];
  });
  const mine = s.mine[field] ?? "";
  const own = all.findLastIndex((m) => m.e.user === by && same(m.is, mine));
  const saved = all[own];
  if (!saved) return undefined;
  const until = Date.parse(saved.e.timestamp) + moment;
  const last = all.slice(own + 1).findLast((m) => Date.parse(m.e.timestamp) <= until);
  if (last && !same(last.is, mine)) return { e: last.e, theirs: value(last.is), lost: true };
  if (last || same(saved.was, s.known[field] ?? "")) return undefined;
  const before = all.slice(0, own).findLast((m) => m.is === saved.was);
  return { e: before?.e, theirs: value(saved.was), lost: false };
}

function collisionOf(s: Sent, by: string, events: ChangeEvent[]): Collision | undefined {
  const fields = Object.keys(s.mine);
  const found = fields.flatMap((f) => {
    const m = meets(s, by, f, events);
    return m ? [{ f, ...m }] : [];
  });
  const first = found.find((m) => m.lost) ?? found[0];
  if (!first) return undefined;
  const met = found.filter((m) => m.lost === first.lost);
  const names = [...new Set(met.flatMap((m) => groups.find((g) => g.includes(m.f)) ?? [m.f]))];
  const mine = (f: string) => s.mine[f] ?? held(s.item, f);
  const rest = (f: string) => (first.lost ? mine(f) : held(s.item, f));
  const typed = (f: string, v: string) => (numbers.includes(f) && v ? Number(v) : v);
  const side = (of: (f: string) => string): Side => Object.fromEntries(names.map((f) => [f, typed(f, of(f))]));
  return {
    ...{ key: s.key, item: s.item, lost: first.lost },
    ...{ by: first.e?.user ?? "somebody", at: first.e?.timestamp ?? "" },
    mine: side(mine),
    theirs: side((f) => met.find((m) => m.f === f)?.theirs ?? rest(f)),
  };
}

/** collisions compares what was saved with the events since, the oldest first. */
export const collisions = (s: Saving, events: ChangeEvent[]): Collision[] =>
  s.sent.map((one) => collisionOf(one, s.by, events)).filter((c) => c !== undefined);

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
    return collisions(s, rows.reverse());
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

/** restore puts into the draft of a view what a collision has replaced. */
export function restore(d: Draft, view: TreeItem, c: Collision): Draft {
  const [wanted, present] = c.lost ? [c.mine, c.theirs] : [c.theirs, c.mine];
  if (keyOf(view) === c.key) return changeView(d, { ...view, ...present } as TreeItem, wanted as Draft["view"]);
  const { answers, ...place } = changeOf(present);
  const item = { ...c.item, ...place, answers: { ...c.item.answers, ...answers } };
  return change(d, item, changeOf(wanted));
}
