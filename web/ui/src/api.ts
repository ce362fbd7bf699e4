// The one place that talks to the service. Everything here is the public API: what the interface can do, a script can do.
import type * as gen from "./api.gen";
import { heardTime } from "./clock";

export type Status = gen.ExplainedItem["status"];
export type Kind = gen.ExplainedItem["kind"];

/** What an answer other than 2xx says. `body` is all of it: bulk calls have the report there as well as the error. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: unknown,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

type Params = Record<string, string | number | boolean | undefined>;

interface Call {
  method?: string;
  params?: Params;
  json?: unknown;
  csv?: string | Blob;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

let expired: () => void = () => {};

/** onExpired says what to do when the session is no longer good. */
export function onExpired(f: () => void) {
  expired = f;
}

function address(path: string, params?: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

// What is being read. A connection that died may let a question hang for minutes.
let reading = new AbortController();

/** giveUpReading ends all questions that are under way: the service is not there to answer them. */
export function giveUpReading() {
  reading.abort();
  reading = new AbortController();
}

async function failure(answer: Response): Promise<ApiError> {
  const text = await answer.text();
  let body: unknown = text;
  let code = "unreadable";
  let message = `The service answered ${answer.status}.`;
  try {
    const read = JSON.parse(text) as { error?: { code?: string; message?: string } };
    body = read;
    code = read.error?.code ?? code;
    message = read.error?.message ?? message;
  } catch {
    // Not ours: a proxy on the way, perhaps.
  }
  const wait = Number(answer.headers.get("Retry-After"));
  return new ApiError(answer.status, code, message, body, wait > 0 ? wait : undefined);
}

export const unreached = "The service cannot be reached.";

/** readsOnly distinguishes reads from changes. */
function readsOnly(path: string, c: Call): boolean {
  const has = c.json !== undefined || c.csv !== undefined || c.body !== undefined;
  return (c.method ?? (has ? "POST" : "GET")) === "GET" || path === "/api/sql";
}

/** unreachable says what is so of one call. client.ts puts another text where a page asks again by itself. */
const unreachable = (path: string, c: Call) =>
  new ApiError(
    0,
    "unreachable",
    readsOnly(path, c)
      ? `${unreached} Try again when it is back.`
      : `${unreached} Nothing is sent again by itself; try again when the service is back. If the connection broke only now, it may have been done.`,
    null,
  );

/** body reads an answer, which may break off in the middle. */
async function body<T>(path: string, c: Call, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (e) {
    if (c.signal?.aborted || e instanceof SyntaxError) throw e;
    throw unreachable(path, c);
  }
}

async function send(path: string, call: Call = {}): Promise<Response> {
  const headers: Record<string, string> = { ...call.headers };
  let body = call.body;
  if (call.json !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(call.json);
  } else if (call.csv !== undefined) {
    headers["Content-Type"] = "text/csv";
    body = call.csv;
  }
  const method = call.method ?? (body === undefined ? "GET" : "POST");
  // What changes something is not given up: no one would know whether it was done.
  const reads = readsOnly(path, call) && path !== "/api/stream";
  const given = reads ? [reading.signal] : [];
  let answer: Response;
  const asked = Date.now();
  try {
    answer = await fetch(address(path, call.params), {
      method,
      headers,
      body,
      signal: AbortSignal.any([...given, ...(call.signal ? [call.signal] : [])]),
      credentials: "same-origin",
    });
  } catch (e) {
    if (call.signal?.aborted) throw e;
    throw unreachable(path, call);
  }
  heardTime(answer.headers.get("Date"), asked, Date.now());
  if (answer.ok) return answer;
  const err = await failure(answer);
  if (err.status === 401 && err.code === "invalid_key") expired();
  throw err;
}

async function call<T>(path: string, c: Call = {}): Promise<T> {
  const answer = await send(path, c);
  return (answer.status === 204 ? undefined : await body(path, c, () => answer.json())) as T;
}

async function text(path: string, c: Call = {}): Promise<string> {
  const answer = await send(path, c);
  return body(path, c, () => answer.text());
}

/** named makes a path of a name that may hold anything; a slash in it is not one of the path. */
function named(path: string, name: string): string {
  return `${path}/${encodeURIComponent(name)}`;
}

// Sessions

export type Role = gen.Session["role"];

export type Person = gen.Session;

/** A place where the user is logged in. The id names it and lets no one in. */
export type OwnSession = gen.OwnSession;

export const session = {
  who: () => call<Person>("/api/session"),
  logIn: (user: string, password: string, customer?: string) =>
    call<Person>("/api/session", { json: customer ? { user, password, customer } : { user, password } }),
  logOut: (everywhere?: boolean) => call<void>("/api/session", { method: "DELETE", params: { everywhere } }),
  all: async () => (await call<gen.SessionList>("/api/sessions")).sessions,
  end: (id: string) => call<gen.SessionEnded>(named("/api/sessions", id), { method: "DELETE" }),
  /** How one can log in beside user and password. */
  options: () => call<gen.LoginOptions>("/api/session/options"),
  changePassword: (old: string, password: string) =>
    call<Person>("/api/session", { method: "PUT", json: { password: old, new: password } }),
  /** actIn lets the session of an instance administrator act in another customer, or in its own again. */
  actIn: (customer: string) => call<Person>("/api/session/customer", { json: { customer } }),
};

/** mayWrite: acknowledge, manage, note, provision, send. */
export const mayWrite = (p: Person) => p.role !== "viewer";
/** mayAdminister: what holds for the whole customer is not for those who see a part of it. */
export const mayAdminister = (p: Person) =>
  (p.role === "administrator" || p.role === "instance administrator") && !p.views?.length;

// Queries

export type Answer<Row> = Omit<gen.QueryAnswer, "rows"> & { rows: Row[] };

export interface Ask {
  rows?: number;
  fq?: string;
  from?: string;
  to?: string;
  span?: string;
  tz?: string;
  /** It does not wait for what other parts of the page ask for. */
  first?: boolean;
  signal?: AbortSignal;
}

/** sql asks for what there is: days that cannot be read are noted in missingDays, and every page shows them. */
export async function sql<Row>(q: string, ask: Ask = {}): Promise<Answer<Row>> {
  const { first, signal, ...rest } = ask;
  const read = () => call<Answer<Row>>("/api/sql", { json: { q, partial: true, ...rest }, signal });
  const answer = await inTurn(read, first);
  if (answer.missing) missingDays.note(answer.missing);
  return answer;
}

let missing: readonly string[] = [];
const missingReaders = new Set<() => void>();
const setMissing = (days: readonly string[]) => {
  missing = days;
  for (const again of missingReaders) again();
};

/** missingDays are the days that answers were without, until the reader has taken note of them. */
export const missingDays = {
  note: (days: string[]) => {
    if (days.some((d) => !missing.includes(d))) setMissing([...new Set([...missing, ...days])].sort());
  },
  clear: () => setMissing([]),
  get: () => missing,
  subscribe: (again: () => void) => {
    missingReaders.add(again);
    return () => missingReaders.delete(again);
  },
};

// The service runs four queries of a customer at a time and refuses what waits for long, so a page asks for three at a time.
const lanes = 3;
const waiting: (() => void)[] = [];
let asking = 0;

async function inTurn<T>(ask: () => Promise<T>, first = false): Promise<T> {
  while (asking >= lanes) await new Promise<void>((go) => (first ? waiting.unshift(go) : waiting.push(go)));
  asking++;
  try {
    return await ask();
  } finally {
    asking--;
    waiting.shift()?.();
  }
}

/** csvPage is an answer as CSV, which begins after a row if that is given; limit is how many rows it has at most. People open it in
 * a spreadsheet, so no cell is a formula. */
export async function csvPage(
  q: string,
  ask: Omit<Ask, "first"> & { after?: string },
): Promise<{ csv: string; limit: number }> {
  const { signal, ...rest } = ask;
  const params = { q, wt: "csv", safe: true, rows: 100_000, ...rest };
  const answer = await inTurn(() => send("/api/sql", { params, signal }));
  return {
    csv: await body("/api/sql", { signal }, () => answer.text()),
    limit: Number(answer.headers.get("X-Limit")) || 100_000,
  };
}

/** quote makes a text a string of the query language. */
export const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** An item as objectstatus shows it. */
export interface StatusRow {
  id: string;
  name: string;
  kind: Kind;
  resource?: string;
  view?: string;
  parentview?: string;
  object?: string;
  class?: string;
  package?: string;
  status: Status;
  statusname: string;
  info?: string;
  since?: string;
  lastdata?: string;
  acknowledged: boolean;
  isunmanaged: boolean;
  unmanageifred?: boolean;
  collectunmanage?: boolean;
  collectorunmanage?: boolean;
  ack?: string;
  ackby?: string;
  acktime?: string;
  unmanagefrom?: string;
  unmanageto?: string;
  unmanagenote?: string;
  note?: string;
  ip?: string;
  host?: string;
  [indicator: `i${number}`]: number | string | undefined;
}

export interface EventRow {
  id: string;
  timestamp: string;
  source: string;
  type: string;
  status?: Status;
  previous?: Status;
  resource?: string;
  view?: string;
  object?: string;
  class?: string;
  info?: string;
  user?: string;
}

// The tree

export type TreeItem = gen.TreeItem;

export type Tree = gen.Tree;

export const tree = (at: { view?: string; resource?: string; limit?: number; after?: string }, signal?: AbortSignal) =>
  call<Tree>("/api/tree", { params: at, signal });

// Why an item has its status. The fields are described in docs/guide/explain.md.

export type ExplainedItem = gen.ExplainedItem;

export type ExplainedRule = gen.ExplainedRule;

export type ExplainedValue = gen.ExplainedValue;

export type ExplainedStep = gen.ExplainedStep;

export type ExplainedWindow = gen.ExplainedWindow;

export type Explanation = gen.StatusExplanation;

const plural = (kind: Kind) => `${kind}s`;

export const explain = (kind: Kind, name: string, resource?: string) =>
  call<Explanation>(named(`/api/explain/${plural(kind)}`, name), { params: { resname: resource } });

// Receivers

export type Trial = Omit<gen.Trial, "sample"> & { sample: unknown };

type Fields = Record<string, string | number | string[]>;

export type Tried = Omit<gen.Tried, "received" | "stored"> & { received: Fields; stored?: Fields };

export const tryReceiver = (resource: string, trial: Trial) =>
  call<Tried>(`${named("/api/receivers", resource)}/try`, { json: trial });

// What operators do

/** What is to be done. Which fields belong together, docs/guide/managing.md says. */
export type ActWish = Omit<gen.Action, "items" | "resname">;

export type ActBody = ActWish & { items: { name: string; kind: Kind; resname?: string }[] };

export type ActAnswer = gen.Acted;

/** act does something with items of any kind: the kind in the path is for items that do not say theirs. */
export const act = (body: ActBody) => call<ActAnswer>("/api/ackmanagenote/objects", { json: body });

/** actDry returns what an action would do to one item, without doing it. */
export const actDry = (item: { kind: Kind; name: string; resource?: string }, body: ActWish) =>
  call<ActAnswer>(`/api/ackmanagenote/${plural(item.kind)}`, {
    json: { ...body, items: [item.name], resname: item.kind === "resource" ? undefined : item.resource },
    params: { dryrun: true },
  });

/** A maintenance window that is open or planned, with its item. */
export type ListedWindow = gen.Window;

export const windows = {
  /** The first ones, and whether there are more. */
  first: async (most: number) => {
    const list: ListedWindow[] = [];
    for (let after: string | undefined; ; after = list.at(-1)?.id) {
      const page = await call<gen.WindowList>("/api/windows", {
        params: { limit: 200, after },
      });
      list.push(...page.windows);
      if (!page.more || list.length >= most) return { list, more: page.more };
    }
  },
};

// Bulk calls

export type Report = gen.Report;

export interface BulkOptions {
  dryrun?: boolean;
  atomic?: boolean;
  recursive?: boolean;
  /** false: what does not exist is refused. */
  create?: boolean;
  /** false: what exists is refused. */
  update?: boolean;
  /** Under the same key the same request is applied once, however often it is sent. */
  key?: string;
  signal?: AbortSignal;
}

/** bulk sends rows. If every row was wrong, the body has the report as well as the error: that is an answer, too. */
async function bulk(method: string, path: string, csv: string | Blob, o: BulkOptions): Promise<Report> {
  const { key, signal, ...params } = o;
  try {
    return await call<Report>(path, { method, csv, params, signal, headers: key ? { "Idempotency-Key": key } : {} });
  } catch (e) {
    if (e instanceof ApiError && (e.code === "all_rows_rejected" || e.code === "atomic_rejected"))
      return e.body as Report;
    throw e;
  }
}

export const provisioning = {
  post: (pkg: string, csv: string | Blob, o: BulkOptions = {}) => bulk("POST", named("/api/provisioning", pkg), csv, o),
  remove: (pkg: string, csv: string | Blob, o: BulkOptions = {}) =>
    bulk("DELETE", named("/api/provisioning", pkg), csv, o),
  export: (pkg: string, signal?: AbortSignal) => text(named("/api/provisioning", pkg), { signal }),
};

/** sendRows stores values and log lines: docs/guide/sending.md has the columns. */
export const sendRows = (csv: string, o: BulkOptions = {}) => bulk("POST", "/api/send", csv, o);

// Pictures

export type Picture = gen.Picture;

export const pictures = {
  list: (p: Page = {}) => call<gen.PictureList>("/api/pictures", { params: { ...p } }),
  put: (name: string, file: Blob) =>
    call<gen.PictureAnswer>(named("/api/pictures", name), {
      method: "PUT",
      body: file,
      headers: { "Content-Type": file.type || "application/octet-stream" },
    }),
  /** For the browser, which reads pictures by itself. */
  address: (name: string) => named("/api/pictures", name),
};

// Packages and classes

/** A column of a package: what it asks, and which answers it takes. */
export type Question = gen.Column;

export type Package = gen.Package;

export const packages = {
  list: () => call<gen.PackageList>("/api/packages"),
  get: (type: string) => call<Package>(named("/api/packages", type)),
};

/** Where a definition comes from. */
export type Source = gen.ListedClass["source"];

export type Threshold = gen.Threshold;

export type Indicator = gen.Indicator;

export type Class = gen.Class & { name: string };

interface Page {
  limit?: number;
  after?: string;
}

/** A definition as it is sent: text as someone wrote it, or a value that is sent as JSON. */
export type Definition = { yaml: string } | { json: unknown };

const written = (d: Definition): Call =>
  "yaml" in d
    ? { method: "PUT", body: d.yaml, headers: { "Content-Type": "application/yaml" } }
    : { method: "PUT", json: d.json };

/** everything reads all pages of a list that goes by name. */
async function everything<T extends { name: string }>(page: (p: Page) => Promise<{ list: T[]; more?: boolean }>) {
  const all: T[] = [];
  for (let after: string | undefined; ; after = all.at(-1)?.name) {
    const { list, more } = await page({ limit: 1000, after });
    all.push(...list);
    if (!more || !list.length) return all;
  }
}

export const classes = {
  list: (p: Page = {}) => call<gen.ClassList>("/api/classes", { params: { ...p } }),
  all: () => everything((p) => classes.list(p).then((a) => ({ list: a.classes, more: a.more }))),
  get: (name: string) => call<Class>(named("/api/classes", name)),
  put: (name: string, d: Definition) => call<gen.ClassAnswer>(named("/api/classes", name), written(d)),
  remove: (name: string) => call<unknown>(named("/api/classes", name), { method: "DELETE" }),
};

// Policies

export type Policy = gen.Policy;

export const policies = {
  list: (p: Page = {}) => call<gen.PolicyList>("/api/policies", { params: { ...p } }),
  all: () => everything((p) => policies.list(p).then((a) => ({ list: a.policies, more: a.more }))),
  get: (name: string) => call<Policy>(named("/api/policies", name)),
  put: (name: string, d: Definition) => call<gen.PolicyAnswer>(named("/api/policies", name), written(d)),
  remove: (name: string) => call<unknown>(named("/api/policies", name), { method: "DELETE" }),
};

// Keys

export type Level = gen.Key["level"];

export type Key = gen.Key;

/** Narrowing restricts a key to less than its level allows. */
export type Narrowing = Pick<gen.NewKey, "only" | "views" | "addresses">;

export type MadeKey = Key & { key: string };

export const keys = {
  list: (p: Page = {}) => call<gen.KeyList>("/api/keys", { params: { ...p } }),
  all: () => everything((p) => keys.list(p).then((a) => ({ list: a.keys, more: a.more }))),
  create: (k: gen.NewKey) => call<MadeKey>("/api/keys", { json: k }),
  rotate: (name: string, overlap: string) => call<MadeKey>(`${named("/api/keys", name)}/rotate`, { json: { overlap } }),
  revoke: (name: string) => call<unknown>(named("/api/keys", name), { method: "DELETE" }),
};

// Users and customers

export type User = gen.User;

export type UserChange = gen.UserChange;

export const users = {
  all: () =>
    everything<User>((p) =>
      call<gen.UserList>("/api/users", { params: { ...p } }).then((a) => ({
        list: a.users,
        more: a.more,
      })),
    ),
  /** A password that was made at random is in the answer, this once. */
  create: (u: { name: string } & UserChange) => call<User & { password?: string }>("/api/users", { json: u }),
  change: (name: string, to: UserChange) => call<User>(named("/api/users", name), { method: "PUT", json: to }),
  remove: (name: string) => call<unknown>(named("/api/users", name), { method: "DELETE" }),
};

export type Customer = gen.Customer;

export const customers = {
  all: () =>
    everything<Customer>((p) =>
      call<gen.CustomerList>("/api/customers", { params: { ...p } }).then((a) => ({
        list: a.customers,
        more: a.more,
      })),
    ),
  /** With the first administrator of the customer, whose password is shown only once. */
  create: (name: string) => call<Customer & { user: string; password?: string }>("/api/customers", { json: { name } }),
  change: (name: string, to: gen.CustomerChange) =>
    call<Customer>(named("/api/customers", name), { method: "PUT", json: to }),
  remove: (name: string) =>
    call<unknown>(named("/api/customers", name), { method: "DELETE", params: { confirm: name } }),
};

// Settings

export type Setting = gen.Setting;

export const settings = {
  list: () => call<gen.SettingList>("/api/settings"),
  /** null takes a setting back. */
  put: (changes: Record<string, string | null>) =>
    call<gen.SettingList>("/api/settings", { method: "PUT", json: changes }),
};

// Health

export type Health = gen.Health;

export const health = () => call<Health>("/api/health");

/** confirmFault says that an administrator knows of a fault, which ends it. */
export const confirmFault = (id: string) => call<void>(named("/api/health/faults", id), { method: "POST" });

/** stream opens the stream of changes, after the message that was heard last. The service says something every second. */
export async function stream(after: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { body } = await send("/api/stream", { params: { alive: "1s", lasteventid: after }, signal });
  if (!body) throw new ApiError(0, "unreachable", "The stream has no body.", null);
  return body;
}

/** isThere reports whether the service answers within so many milliseconds. */
export async function isThere(within: number): Promise<boolean> {
  const stop = new AbortController();
  const t = setTimeout(() => stop.abort(), within);
  try {
    return (await fetch("/api/version", { cache: "no-store", signal: stop.signal })).ok;
  } catch {
    return false;
  } finally {
    clearTimeout(t);
  }
}

export const version = () => call<gen.Version>("/api/version");
