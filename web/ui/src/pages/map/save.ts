// Saving a draft by the API that scripts use: a request for each package, each all or nothing.
import { provisioning, type Report } from "../../api";
import { type Batch, csv, type Row } from "./draft";
import { kindName } from "./scene";

export interface Wrong {
  /** What the message is about. */
  what: string;
  message: string;
}

export interface Outcome {
  /** Keys of what has been saved. */
  saved: Set<string>;
  wrong: Wrong[];
}

/** gone is said of a change of what another user has removed or moved away. */
export const gone = "It is no longer in this view, so its change was not saved; undo the change.";

const nameOf = (r?: Row) => (r ? `${kindName(r.item)} ${r.item.name}` : "");

/** Refused says that a request changed nothing, and which of its rows are wrong. */
class Refused extends Error {
  constructor(readonly report: Report) {
    super("nothing was saved");
  }
}

/** errorsOf says what is wrong with each row. Without a report, the error itself is all there is. */
function errorsOf(rows: Row[], e: unknown): Wrong[] {
  if (e instanceof Refused && e.report.errors.length) {
    return e.report.errors.map((x) => {
      const message = x.code === "not_found" && x.column === "name" ? gone : x.message;
      return { what: nameOf(rows[x.row - 1]), message };
    });
  }
  return [{ what: rows.length === 1 ? nameOf(rows[0]) : "", message: e instanceof Error ? e.message : String(e) }];
}

async function send(b: Batch, rows: Row[], dryrun: boolean): Promise<Report> {
  const options = { atomic: true, dryrun: dryrun || undefined };
  const report = await (b.removal
    ? provisioning.remove(b.package, csv(b, rows), options)
    : provisioning.post(b.package, csv(b, rows), { ...options, create: b.fresh }));
  if (report.rejected) throw new Refused(report);
  return report;
}

/** taken finds new things whose names are in use: to send them would move what has the name already. */
async function taken(b: Batch): Promise<Wrong[]> {
  const fresh = b.rows.filter((r) => r.fresh);
  if (!fresh.length) return [];
  const makes = async (rows: Row[]) => {
    const { created } = await send(b, rows, true);
    return created.elements + created.views;
  };
  if ((await makes(fresh)) === fresh.length) return [];
  const wrong: Wrong[] = [];
  for (const r of fresh) {
    if (await makes([r])) continue;
    const message = `There is a ${kindName(r.item)} named “${r.item.name}” already, perhaps in another view; choose another name.`;
    wrong.push({ what: nameOf(r), message });
  }
  return wrong;
}

/** check asks the service about everything before anything is changed, if it does not depend on another request. */
export async function check(all: Batch[]): Promise<Wrong[]> {
  const wrong: Wrong[] = [];
  for (const b of all) {
    try {
      const names = await taken(b);
      if (names.length) wrong.push(...names);
      else await send(b, b.rows, true);
    } catch (e) {
      wrong.push(...errorsOf(b.rows, e));
    }
    // What comes after new views may name them, and cannot be tried before they are there.
    if (b.package === "view" && !b.removal && b.rows.some((r) => r.fresh)) break;
  }
  return wrong;
}

/** save sends what check has found to be right. */
export async function save(all: Batch[]): Promise<Outcome> {
  const saved = new Set<string>();
  for (const b of all) {
    try {
      const names = await taken(b);
      if (names.length) return { saved, wrong: names };
      await send(b, b.rows, false);
      for (const r of b.rows) saved.add(r.key);
    } catch (e) {
      return { saved, wrong: errorsOf(b.rows, e) };
    }
  }
  return { saved, wrong: [] };
}
