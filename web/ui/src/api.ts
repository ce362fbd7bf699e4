// The one place that talks to the service. Everything here is the public API: what the interface can do, a script can do.

export type Status = "0" | "1" | "2" | "3" | "-" | "?";
export type Kind = "object" | "resource" | "view";

/** What an answer other than 2xx says. `body` is all of it: reports of bulk calls stand beside the error. */
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
  let answer: Response;
  try {
    answer = await fetch(address(path, call.params), {
      method: call.method ?? (body === undefined ? "GET" : "POST"),
      headers,
      body,
      signal: call.signal,
      credentials: "same-origin",
    });
  } catch (e) {
    if (call.signal?.aborted) throw e;
    throw new ApiError(
      0,
      "unreachable",
      "The service cannot be reached. It may be restarting; this page tries again.",
      null,
    );
  }
  if (answer.ok) return answer;
  const err = await failure(answer);
  if (err.status === 401 && err.code === "invalid_key") expired();
  throw err;
}

async function call<T>(path: string, c?: Call): Promise<T> {
  const answer = await send(path, c);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

async function text(path: string, c?: Call): Promise<string> {
  return (await send(path, c)).text();
}

/** item makes a path of a name that may hold anything. */
function named(path: string, name: string): string {
  return `${path}/${name.split("/").map(encodeURIComponent).join("/")}`;
}

// Sessions

export type Role = "viewer" | "operator" | "administrator" | "instance administrator";

export interface Person {
  user: string;
  role: Role;
  customer: string;
  expires: string;
}

export const session = {
  who: () => call<Person>("/api/session"),
  logIn: (user: string, password: string, customer?: string) =>
    call<Person>("/api/session", { json: customer ? { user, password, customer } : { user, password } }),
  logOut: () => call<void>("/api/session", { method: "DELETE" }),
};

/** mayWrite: acknowledge, manage, note, provision, send. */
export const mayWrite = (p: Person) => p.role !== "viewer";
export const mayAdminister = (p: Person) => p.role === "administrator" || p.role === "instance administrator";

// Queries

export interface Answer<Row> {
  rows: Row[];
  count: number;
  more: boolean;
}

export interface Ask {
  rows?: number;
  fq?: string;
  from?: string;
  to?: string;
  span?: string;
  tz?: string;
  signal?: AbortSignal;
}

export function sql<Row>(q: string, ask: Ask = {}): Promise<Answer<Row>> {
  const { signal, ...rest } = ask;
  return inTurn(() => call<Answer<Row>>("/api/sql", { json: { q, ...rest }, signal }));
}

// The service runs four queries of a customer at a time and refuses what waits for long, so a page asks for three at a time.
const lanes = 3;
const waiting: (() => void)[] = [];
let asking = 0;

async function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  while (asking >= lanes) await new Promise<void>((go) => waiting.push(go));
  asking++;
  try {
    return await ask();
  } finally {
    asking--;
    waiting.shift()?.();
  }
}

/** csvAddress is where an answer can be had as CSV, for a link. */
export const csvAddress = (q: string, ask: Omit<Ask, "signal"> = {}) =>
  address("/api/sql", { q, wt: "csv", rows: 100_000, ...ask });

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

export interface TreeItem {
  name: string;
  kind: Kind | "element";
  resource?: string;
  parentview?: string;
  class?: string;
  package?: string;
  status?: Status;
  statusname?: string;
  since?: string;
  lastdata?: string;
  info?: string;
  counts?: Record<Status, number>;
  acknowledged?: boolean;
  isunmanaged?: boolean;
  note?: string;
  /** From the top. */
  posx?: number;
  /** From the left. */
  posy?: number;
  width?: number;
  height?: number;
  autoarrange?: string;
  bg?: string;
  answers?: Record<string, string>;
}

export interface Tree {
  view: TreeItem;
  content: Record<Kind | "element", number>;
  children: TreeItem[];
  more: boolean;
  next?: string;
}

export const tree = (at: { view?: string; resource?: string; limit?: number; after?: string }, signal?: AbortSignal) =>
  call<Tree>("/api/tree", { params: at, signal });

// Why an item has its status. The fields are described in docs/guide/explain.md.

export interface ExplainedItem {
  kind: Kind;
  name: string;
  resource?: string;
  view?: string;
  class?: string;
  status: Status;
  statusname: string;
  since: string;
  info?: string;
  acknowledged: boolean;
}

export interface ExplainedRule {
  when: string;
  status: Status;
  statusname: string;
  recover?: string;
  met: boolean;
  count: number;
  after: number;
  inforce: boolean;
  decides: boolean;
  source: string;
}

export interface ExplainedValue {
  n: number;
  name: string;
  unit?: string;
  value?: number | string;
  thresholds: ExplainedRule[];
}

export interface ExplainedStep extends ExplainedItem {
  asbad?: ExplainedItem[];
  asbadmore?: number;
}

export interface Explanation {
  text: string;
  item: ExplainedItem;
  own: { status: Status; statusname: string; info?: string; shown: boolean };
  hidden?: "management" | "monitoring period";
  management: {
    mode: string;
    own: string;
    inheritedfrom?: { kind: Kind; name: string };
    from?: string;
    note?: string;
    window?: {
      mode: string;
      open: boolean;
      from: string;
      to?: string;
      next?: string;
      schedule?: string;
      by?: string;
    };
  };
  acknowledgment?: {
    text?: string;
    by?: string;
    time: string;
    until?: string;
    sticky?: string;
    untilworse: boolean;
    waitssince?: string;
  };
  note?: string;
  lastdata?: string;
  indicators?: ExplainedValue[];
  staleness?: { interval: string; heard?: string; unknownat?: string; overdue: boolean };
  rollup?: { rule: string; counts: Record<string, number>; items: number; count: number };
  chain?: ExplainedStep[];
}

const plural = (kind: Kind) => `${kind}s`;

export const explain = (kind: Kind, name: string, resource?: string) =>
  call<Explanation>(named(`/api/explain/${plural(kind)}`, name), { params: { resname: resource } });

// What operators do

export interface ActBody {
  items: string[];
  resname?: string;
  isunmanaged?: boolean;
  unmanageifred?: boolean;
  collectunmanage?: boolean;
  collectorunmanage?: boolean;
  unmanagenote?: string;
  fromdatetime?: string;
  todatetime?: string;
  ack?: string;
  note?: string;
  [more: string]: unknown;
}

export interface ActAnswer {
  items: {
    name: string;
    kind: Kind;
    resource?: string;
    result: string;
    content: number;
    from?: string;
    to?: string;
    unmanagedby?: string;
  }[];
  errors: { name: string; code: string; message: string }[];
}

export const act = (kind: Kind, body: ActBody) => call<ActAnswer>(`/api/ackmanagenote/${plural(kind)}`, { json: body });

// Bulk calls

export interface Report {
  rows: number;
  accepted: number;
  rejected: number;
  discarded: number;
  created: { resources: number; views: number; objects: number; elements: number };
  updated: number;
  unchanged: number;
  removed: number;
  errors: { row: number; line: number; column?: string; code: string; message: string }[];
  errors_truncated: boolean;
}

export interface BulkOptions {
  dryrun?: boolean;
  atomic?: boolean;
  recursive?: boolean;
}

export const provisioning = {
  post: (pkg: string, csv: string | Blob, o: BulkOptions = {}) =>
    call<Report>(named("/api/provisioning", pkg), { csv, params: { ...o } }),
  remove: (pkg: string, csv: string, o: BulkOptions = {}) =>
    call<Report>(named("/api/provisioning", pkg), { method: "DELETE", csv, params: { ...o } }),
  export: (pkg: string) => text(named("/api/provisioning", pkg)),
};

// Packages and classes

export interface Question {
  name: string;
  type?: string;
  required?: boolean;
  default?: string;
  secret?: boolean;
  help?: string;
  [more: string]: unknown;
}

export interface Package {
  type: string;
  title?: string;
  description?: string;
  questions: Question[];
  [more: string]: unknown;
}

export const packages = {
  list: () => call<{ packages: Package[] }>("/api/packages"),
  get: (type: string) => call<Package>(named("/api/packages", type)),
};

export interface Threshold {
  when: string;
  status: number | string;
  recover?: string;
  after?: number;
}

export interface Indicator {
  n: number;
  name?: string;
  unit?: string;
  type?: string;
  thresholds?: Threshold[];
}

export interface Class {
  name: string;
  indicators?: Indicator[];
  log?: { separator?: string; columns?: string[] };
  interval?: string;
  inferred?: boolean;
  [more: string]: unknown;
}

interface Page {
  limit?: number;
  after?: string;
}

export const classes = {
  list: (p: Page = {}) => call<{ classes: Class[]; more?: boolean }>("/api/classes", { params: { ...p } }),
  get: (name: string) => call<Class>(named("/api/classes", name)),
  put: (name: string, body: unknown) => call<Class>(named("/api/classes", name), { method: "PUT", json: body }),
  remove: (name: string) => call<void>(named("/api/classes", name), { method: "DELETE" }),
};

// Keys

export type Level = "read" | "readwrite" | "readwritedelete";

export interface Key {
  name: string;
  level: Level;
  created?: string;
  creator?: string;
  expires?: string;
  lastuse?: string;
  last4?: string;
  [more: string]: unknown;
}

export const keys = {
  list: (p: Page = {}) => call<{ keys: Key[]; more?: boolean }>("/api/keys", { params: { ...p } }),
  create: (k: { name: string; level: Level; expires?: string }) =>
    call<Key & { key: string }>("/api/keys", { json: k }),
  revoke: (name: string) => call<void>(named("/api/keys", name), { method: "DELETE" }),
};

export const version = () => call<{ version: string }>("/api/version");
