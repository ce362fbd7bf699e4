// What another user has saved in a view since a draft changed the same. The API would let the later one overwrite the
// earlier one, so the page compares what is there now with what was there when the draft began to change it.
import type { Tree, TreeItem } from "../../api";
import { type Base, baseOf, type Change, type Draft, groupOf } from "./draft";
import { keyOf } from "./scene";

/** Side is what an item has, or would have, in the fields of a conflict. */
export type Side = Record<string, string | number | undefined>;

export interface Conflict {
  key: string;
  /** As it is now. */
  item: TreeItem;
  mine: Side;
  theirs: Side;
  /** The draft removes it; mine is what it was when it was removed. */
  removal?: boolean;
}

/** flat puts the answers beside the other fields. */
function flat(c: Change | Base | Draft["view"]): Side {
  const { answers = {}, ...rest } = c as Change;
  return { ...rest, ...Object.fromEntries(Object.entries(answers).map(([k, v]) => [`answers.${k}`, v])) };
}

const same = (a: Side[string], b: Side[string]) => (a ?? "") === (b ?? "");

/** removalOf compares what a draft removes with what there was when it was removed. */
function removalOf(item: TreeItem, base: Base): Conflict | undefined {
  const [before, now] = [flat(base), flat(baseOf(item))];
  const fields = Object.keys({ ...before, ...now }).filter((f) => !same(before[f], now[f]));
  const of = (side: Side) => Object.fromEntries(fields.map((f) => [f, side[f]]));
  return fields.length ? { key: keyOf(item), item, mine: of(before), theirs: of(now), removal: true } : undefined;
}

function conflictOf(item: TreeItem, wanted: Side, base: Base): Conflict | undefined {
  const [before, now] = [flat(base), flat(baseOf(item))];
  const mine: Side = {};
  const theirs: Side = {};
  for (const field of Object.keys(wanted)) {
    const together = groupOf(field);
    const moved = together.some((f) => !same(before[f], now[f]));
    const agreed = together.every((f) => same(f in wanted ? wanted[f] : before[f], now[f]));
    if (!moved || agreed) continue;
    for (const f of together) {
      mine[f] = f in wanted ? wanted[f] : now[f];
      theirs[f] = now[f];
    }
  }
  return Object.keys(mine).length ? { key: keyOf(item), item, mine, theirs } : undefined;
}

/** conflicts compares a draft with the view as it is now. What was removed is for strays. */
export function conflicts(t: Tree, d: Draft): Conflict[] {
  const of = (item: TreeItem, wanted?: Change | Draft["view"]) => {
    const base = d.base[keyOf(item)];
    if (base && d.removed[keyOf(item)]) return removalOf(item, base);
    return base && wanted ? conflictOf(item, flat(wanted), base) : undefined;
  };
  return [of(t.view, d.view), ...t.children.map((i) => of(i, d.changes[keyOf(i)]))].filter((c) => c !== undefined);
}

/** keepMine keeps what the draft says although another user has changed it. */
export const keepMine = (d: Draft, c: Conflict): Draft => ({ ...d, base: { ...d.base, [c.key]: baseOf(c.item) } });

/** takeTheirs drops from a draft what another user has changed. */
export function takeTheirs(d: Draft, c: Conflict): Draft {
  const kept = <V>(of: Record<string, V>, prefix = "") =>
    Object.fromEntries(Object.entries(of).filter(([field]) => !(prefix + field in c.theirs)));
  const { [c.key]: was, ...changes } = d.changes;
  const { [c.key]: _, ...base } = d.base;
  if (c.removal) {
    const { [c.key]: _, ...removed } = d.removed;
    return { ...d, removed, base };
  }
  if (!was) return { ...d, view: kept(d.view), base };
  const { answers, ...rest } = was;
  const left: Change = kept(rest);
  const leftAnswers = kept(answers ?? {}, "answers.") as Record<string, string>;
  if (Object.keys(leftAnswers).length) left.answers = leftAnswers;
  if (!Object.keys(left).length) return { ...d, changes, base };
  return { ...d, changes: { ...changes, [c.key]: left }, base: { ...base, [c.key]: baseOf(c.item) } };
}

const names: Record<string, string> = { posx: "top", posy: "left", bg: "background", autoarrange: "arrangement" };

/** inWords says what one side has, as top 80, left 90. */
export const inWords = (s: Side): string =>
  Object.entries(s)
    .map(([field, value]) => {
      const name = names[field] ?? field.replace(/^answers\./, "");
      return typeof value === "number" ? `${name} ${value}` : `${name} ${value ? `“${value}”` : "empty"}`;
    })
    .join(", ");
