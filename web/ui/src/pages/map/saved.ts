// What was saved on maps in the last minute, and by whom it was replaced since. It outlives the page of the map, because
// users also leave it right after saving.
import type { Tree } from "../../api";
import {
  type Collision,
  findCollisions,
  minute,
  presentOf,
  replaced,
  type Saving,
  type Sent,
  without,
} from "./collisions";

/** Place is the view of a map. */
export interface Place {
  key: string;
  name: string;
  resource?: string;
}

export interface Found extends Collision {
  place: Place;
}

interface Watch {
  saving: Saving;
  place: Place;
  until: number;
}

/** Shown is the map on the screen. */
interface Shown {
  key: string;
  reread: () => Promise<Tree>;
}

export interface State {
  found: Found[];
  shown?: Shown;
}

let state: State = { found: [] };
let watches: Watch[] = [];
const readers = new Set<() => void>();

function set(next: State) {
  state = next;
  for (const again of [...readers]) again();
}

const same = (a: Found, b: Found) => a.key === b.key && a.place.key === b.place.key;

/** add tells of collisions: of two of an item the later one counts. */
function add(news: Found[]) {
  if (news.length) set({ ...state, found: [...state.found.filter((c) => !news.some((n) => same(c, n))), ...news] });
}

function watched(): Watch[] {
  watches = watches.filter((w) => Date.now() < w.until);
  return watches;
}

async function lookAt(w: Watch): Promise<void> {
  const { saving } = w;
  const all = await findCollisions(saving);
  if (!all.length) return;
  // On the map what is there now is shown, too.
  const now = state.shown?.key === w.place.key ? await state.shown.reread().catch(() => undefined) : undefined;
  if (w.saving !== saving) return lookAt(w);
  add(all.filter((c) => !now || presentOf(c, now)).map((c) => ({ ...c, place: w.place })));
}

let last = Promise.resolve();

export const saved = {
  get: () => state,
  subscribe: (again: () => void) => {
    readers.add(again);
    return () => readers.delete(again);
  },
  /** show says which map is on the screen, until the function it returns is called. */
  show: (shown: Shown) => {
    set({ ...state, shown });
    return () => {
      if (state.shown === shown) set({ ...state, shown: undefined });
    };
  },
  /** look reads who has saved the same. */
  look: () => {
    last = last.then(async () => {
      for (const w of watched()) await lookAt(w);
    });
    return last;
  },
  /** compare finds what is not as it was saved, for those who do not hear of changes. */
  compare: (place: Place, t: Tree) => {
    for (const w of watched()) if (w.place.key === place.key) add(replaced(w.saving, t).map((c) => ({ ...c, place })));
  },
  /** present forgets what is there again as it was saved. */
  present: (place: Place, t: Tree) => {
    const left = state.found.filter((c) => c.place.key !== place.key || presentOf(c, t));
    if (left.length < state.found.length) set({ ...state, found: left });
  },
  /** begin forgets what is about to be saved again. */
  begin: (place: Place, sent: Sent[]) => {
    const keys = new Set(sent.map((s) => s.key));
    for (const w of watches) if (w.place.key === place.key) w.saving = without(w.saving, sent);
    set({ ...state, found: state.found.filter((c) => c.place.key !== place.key || !keys.has(c.key)) });
  },
  /** watch watches for a minute what was saved. */
  watch: (place: Place, saving: Saving) => {
    watches.push({ saving, place, until: Date.now() + minute });
  },
  /** close ends what is said about collisions. */
  close: (these: Found[]) => {
    for (const w of watches)
      w.saving = {
        ...w.saving,
        sent: w.saving.sent.filter((s) => !these.some((c) => c.key === s.key && c.place.key === w.place.key)),
      };
    set({ ...state, found: state.found.filter((c) => !these.includes(c)) });
  },
};
