// Saving a draft by the API that scripts use: a request for each package, each all or nothing.
import { provisioning, type Report } from "../../api";
import { type Batch, csv, type Row } from "./draft";
import { kindName } from "./scene";

export interface Wrong {
  /** What the message is about. */
  what: string;
  message: string;
  /** The key of something new whose name is in use. */
  taken?: string;
}

export interface Outcome {
  /** Keys of what has been saved. */
  saved: Set<string>;
  wrong: Wrong[];
}

/** gone is said of a change of what another user has removed or moved away. */
export const gone = "It is no longer in this view, so its change was not saved; undo the change.";

/** taken is said of something new whose name is in use. */
const taken = (dryrun: boolean) =>
  `${dryrun ? "This name is in use already" : "Another user has just created something with this name"}, perhaps in another view; choose another name.`;

const nameOf = (r?: Row) => (r ? `${kindName(r.item)} ${r.item.name}` : "");

/** Refused says that a request changed nothing, and which of its rows are wrong. */
class Refused extends Error {
  constructor(
    readonly report: Report,
    readonly dryrun: boolean,
  ) {
    super("nothing was saved");
  }
}

/** errorsOf says what is wrong with each row. Without a report, the error itself is all there is. */
function errorsOf(rows: Row[], e: unknown): Wrong[] {
  if (!(e instanceof Refused && e.report.errors.length))
    return [{ what: rows.length === 1 ? nameOf(rows[0]) : "", message: e instanceof Error ? e.message : String(e) }];
  return e.report.errors.map((x) => {
    const row = rows[x.row - 1];
    const about = x.column === "name" ? x.code : "";
    if (about === "not_found") return { what: nameOf(row), message: gone };
    if (about !== "name_in_use" || !row?.fresh) return { what: nameOf(row), message: x.message };
    return { what: nameOf(row), message: taken(e.dryrun), taken: row.key };
  });
}

async function send(b: Batch, dryrun: boolean): Promise<void> {
  const options = { atomic: true, dryrun: dryrun || undefined };
  const only = b.fresh ? { update: false } : { create: false }; // what it was when it was drawn may be otherwise by now
  const report = await (b.removal
    ? provisioning.remove(b.package, csv(b), options)
    : provisioning.post(b.package, csv(b), { ...options, ...only }));
  if (report.rejected) throw new Refused(report, dryrun);
}

/** check asks the service about everything before anything is changed, if it does not depend on another request. */
export async function check(all: Batch[]): Promise<Wrong[]> {
  const wrong: Wrong[] = [];
  for (const b of all) {
    try {
      await send(b, true);
    } catch (e) {
      wrong.push(...errorsOf(b.rows, e));
    }
    // What comes after new views may name them, and cannot be tried before they are there.
    if (b.package === "view" && b.fresh) break;
  }
  return wrong;
}

/** save sends what check has found to be right. */
export async function save(all: Batch[]): Promise<Outcome> {
  const saved = new Set<string>();
  for (const b of all) {
    try {
      await send(b, false);
      for (const r of b.rows) saved.add(r.key);
    } catch (e) {
      return { saved, wrong: errorsOf(b.rows, e) };
    }
  }
  return { saved, wrong: [] };
}
