// Generated from the schemas of api/openapi.json; make gen writes it.

export interface Acted {
  /** Why nothing was done. */
  error?: ActedFault;
  /** Nothing was changed. */
  dryrun?: boolean;
  /** In a dry run: when the window would be open next. */
  occurrences?: Occurrence[];
  items: ActedItem[];
  errors: ActedError[];
}

export interface ActedError {
  name: string;
  /** As given in the list. */
  kind?: "object" | "view" | "resource";
  /** As given in resname of the list. */
  resource?: string;
  code: "unknown_item" | "ambiguous_name" | "not_in_error" | "bad_parameter" | "limit_reached";
  message: string;
}

export interface ActedFault {
  /** For programs; the meaning of a code never changes. */
  code: "bad_csv" | "bad_json" | "bad_header" | "bad_query" | "bad_parameter" | "time_span_required" | "all_rows_rejected" | "atomic_rejected" | "invalid_key" | "invalid_login" | "insufficient_level" | "cross_site" | "unknown_path" | "unknown_package" | "unknown_kind" | "unknown_collection" | "read_only_collection" | "unknown_item" | "method_not_allowed" | "idempotency_mismatch" | "not_in_error" | "ambiguous_name" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "overloaded" | "storage_unavailable" | "internal" | "unknown_resource" | "unknown_view" | "unknown_object" | "unknown_class" | "unknown_type" | "missing_value" | "bad_value" | "bad_name" | "bad_row" | "name_in_use" | "class_mismatch" | "cycle" | "not_empty" | "not_found" | "not_allowed" | "too_late" | "too_early" | "limit_reached";
  /** For human readers. */
  message: string;
}

export interface ActedItem {
  name: string;
  kind: "object" | "view" | "resource";
  /** Of an object, and of a view inside a resource. */
  resource?: string;
  result: "managed" | "unmanaged" | "scheduled" | "acknowledged" | "unacknowledged" | "note_set" | "note_removed";
  /** Number of items inside it that were affected. */
  content: number;
  /** Name of the requested window. */
  window?: string;
  /** Beginning of the window; without a window, since when the item is unmanaged. */
  from?: string;
  /** End of the window, or of the acknowledgment at the latest. */
  to?: string;
  /** Parent that keeps a managed item unmanaged. */
  unmanagedby?: string;
}

export interface Action {
  /** Names, separated by bars, or as a list in which each may have its resource and kind. */
  items: string | (string | {
    name: string;
    /** Resource of the item; default: that of the body. */
    resname?: string | null;
    /** Kind that is searched first; default: that of the path. */
    kind?: "object" | "view" | "resource" | "" | null;
  })[];
  /** Resource of the items, if several have the same name; in a list, of those without a resource. */
  resname?: string;
  /** true unmanages, and needs the three other flags; false manages. */
  isunmanaged?: boolean;
  /** Only while the item is unavailable. */
  unmanageifred?: boolean;
  /** Whether data are still stored and shown. */
  collectunmanage?: boolean;
  /** Whether the collector keeps running. Only resources accept false. */
  collectorunmanage?: boolean;
  /** Note on the management; an empty one removes it. */
  unmanagenote?: string;
  /** YYYY-MM-DDTHH:MM[:SS], in the zone of the server or in timezone, or with Z or an offset. Without it: now. */
  fromdatetime?: string;
  /** End, in the same form. Without it: no end. */
  todatetime?: string;
  /** Recurrence rule of the window, RFC 5545; needs both times. */
  rrule?: string;
  /** Time zone of times that are written without one. */
  timezone?: string;
  /** Name of the window; an item may have 100 named windows. A window replaces an earlier one of the same name. With isunmanaged false and without times only this window is cancelled; an empty name means the window without a name. Without this field all are cancelled. */
  window?: string;
  /** Text of the acknowledgment; may be empty. */
  ack?: string;
  /** When the acknowledgment ends at the latest, in the form of fromdatetime. */
  ackuntil?: string;
  /** Shorter recoveries do not end the acknowledgment. */
  acksticky?: string;
  /** A worse status ends the acknowledgment. */
  ackuntilworse?: boolean;
  /** Removes the acknowledgments of the items and of their content; not together with ack. */
  unack?: true;
  /** An empty one removes the note. */
  note?: string;
}

export interface AuditAnswer {
  rows: AuditRow[];
  count: number;
  /** There are older rows. */
  more: boolean;
  /** The value of after for the next page. */
  next?: string;
}

export interface AuditRow {
  id: string;
  timestamp: string;
  /** Name of the user or key; shell for commands on the machine itself. */
  user?: string;
  via: "key" | "session" | "socket" | "receiver" | "signal" | "service";
  /** Address from which the request came. */
  address?: string;
  /** The request's id, as in X-Request-Id. */
  request?: string;
  action: string;
  kind: string;
  name?: string;
  resource?: string;
  view?: string;
  /** The fields that differ, before the change: a JSON object as a text. */
  before?: string;
  /** The same fields after the change. */
  after?: string;
  /** Where one request changed many items: a JSON list, as a text, with names, resource, before and after; items that agree share an entry. */
  items?: string;
  /** The change in words. */
  info?: string;
}

export interface BackupDays {
  /** Absolute path of the folder of the backup. */
  backup: string;
  collection: string;
  /** Only this day, such as 2026-11-15; or month, such as 2026-11, of collections with a file for each month. */
  day?: string;
  /** Absolute path of the file with the private key of an encrypted backup. */
  identity?: string;
}

/** A class definition. The name may be left out where the path has it. */
export interface Class {
  /** Inferred from rows that used it. Ignored in requests. */
  inferred?: boolean;
  indicators?: Indicator[];
  /** Time between two rows, as 60s. */
  interval?: string;
  /** Indicators that the class once had; their types are still fixed. Maintained by the service. */
  former?: Former[];
  /** Where the definition comes from. Ignored in requests. */
  source?: "builtin" | "file" | "customer" | "inferred";
  /** Number of objects of the class. Ignored in requests. */
  objects?: number;
  name?: string;
  log?: Log;
}

export interface ClassAnswer {
  result: "created" | "updated" | "unchanged";
  class: ListedClass;
}

export interface ClassList {
  classes: ListedClass[];
  more: boolean;
}

export interface Column {
  name: string;
  type: "bool" | "choice" | "colour" | "duration" | "host" | "integer" | "ip" | "listen" | "name" | "number" | "text";
  /** On rows that create something. */
  required: boolean;
  /** Meaning of an empty cell. */
  default?: string;
  /** Never shown again. */
  secret: boolean;
  /** Of a choice. */
  values?: string[];
  min?: number;
  max?: number;
  /** What the number must be divisible by. */
  step?: number;
  help: string;
}

export interface Contents {
  target: string;
  /** Complete backups. */
  count: number;
  /** When the newest of them began. */
  newest?: string;
  /** Why the folder cannot be read. */
  error?: string;
  /** What has the name of a backup and cannot be used, with the reason. */
  passed?: string[];
}

export interface Created {
  resources: number;
  views: number;
  objects: number;
  elements: number;
}

export interface Customer {
  name: string;
  created: string;
  /** What it may listen on, HOST:PORT or HOST:PORT-PORT each. The customer default may listen on every port. */
  listen?: string[];
  /** Its first administrator; only in the answer to its creation. */
  user?: string;
  /** Password of that user; only there, and only if it was generated. */
  password?: string;
}

export interface CustomerChange {
  /** New list of what it may listen on, HOST:PORT or HOST:PORT-PORT each; receivers that listen elsewhere are switched off. */
  listen?: string[];
  /** What it may listen on as well. */
  add?: string[];
  /** What it may no longer listen on, as it is listed. */
  remove?: string[];
}

export interface CustomerChoice {
  /** Customer to act in; the user's own customer ends it. */
  customer: string;
}

export interface CustomerList {
  customers: Customer[];
  more: boolean;
}

export interface Error {
  error: ErrorDetail;
}

export interface ErrorDetail {
  /** For programs; the meaning of a code never changes. */
  code: "bad_csv" | "bad_json" | "bad_header" | "bad_query" | "bad_parameter" | "time_span_required" | "all_rows_rejected" | "atomic_rejected" | "invalid_key" | "invalid_login" | "insufficient_level" | "cross_site" | "unknown_path" | "unknown_package" | "unknown_kind" | "unknown_collection" | "read_only_collection" | "unknown_item" | "method_not_allowed" | "idempotency_mismatch" | "not_in_error" | "ambiguous_name" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "overloaded" | "storage_unavailable" | "internal" | "unknown_resource" | "unknown_view" | "unknown_object" | "unknown_class" | "unknown_type" | "missing_value" | "bad_value" | "bad_name" | "bad_row" | "name_in_use" | "class_mismatch" | "cycle" | "not_empty" | "not_found" | "not_allowed" | "too_late" | "too_early" | "limit_reached";
  /** For human readers. */
  message: string;
  /** Id of the request, as in the header; only with status 500. */
  request?: string;
}

export interface ExplainedAck {
  text?: string;
  by?: string;
  time: string;
  until?: string;
  /** Recoveries shorter than this do not end it, as 10m0s. */
  sticky?: string;
  untilworse: boolean;
  /** Since when the item is not in error, while the acknowledgment is kept for a relapse. */
  waitssince?: string;
}

export interface ExplainedInterval {
  /** Expected between two rows, as 1m0s. */
  interval: string;
  /** Time of the newest data, or of the newest report of no response. */
  heard?: string;
  /** When it becomes Unknown if no more data arrive. */
  unknownat?: string;
  /** Whether the data are overdue. */
  overdue: boolean;
}

export interface ExplainedItem {
  kind: "object" | "resource" | "view";
  name: string;
  resource?: string;
  /** Its parent view or resource. */
  view?: string;
  class?: string;
  status: "?" | "0" | "1" | "2" | "3" | "-";
  statusname: string;
  since: string;
  /** Why its own status is what it is. */
  info?: string;
  acknowledged: boolean;
}

export interface ExplainedLine {
  part: string;
  text: string;
}

export interface ExplainedMode {
  /** Its own mode or the inherited one, whichever is stronger. */
  mode: string;
  /** Set on the item itself. */
  own: string;
  inheritedfrom?: ExplainedPlace;
  from?: string;
  note?: string;
  window?: ExplainedWindow;
  /** All windows of the item itself that are open or planned, sorted by name, without next. */
  windows?: ExplainedWindow[];
}

export interface ExplainedOrder {
  field: string;
  descending: boolean;
}

export interface ExplainedOwn {
  status: "?" | "0" | "1" | "2" | "3" | "-";
  statusname: string;
  info?: string;
  /** Nothing hides it. */
  shown: boolean;
}

export interface ExplainedPlace {
  kind: "object" | "resource" | "view";
  name: string;
}

export interface ExplainedPlan {
  collection: string;
  historical: boolean;
  /** Absent when the span has no beginning. */
  from?: string;
  /** Absent when the span has no end. */
  to?: string;
  /** How many rows are read, the most recent ones that meet the conditions, before they are grouped or put in order; absent when it is all of the span, and when the rows come newest first, where the limit says it. */
  latest?: number;
  /** How many items have the names that the query gives. */
  items?: number;
  order: ExplainedOrder[];
  limit: number;
  offset: number;
  /** Assumptions of the plan. */
  notes: string[];
  /** The whole plan for human readers, and what would be read for it. New versions may add parts. */
  lines: ExplainedLine[];
}

export interface ExplainedRollup {
  /** worst, best, or a number: how many items must be at least that bad. */
  rule: string;
  /** Items directly in it, by the name of their status. */
  counts: Record<string, number>;
  items: number;
  /** Items that are not Unknown. */
  count: number;
}

export interface ExplainedRule {
  when: string;
  status: "1" | "2" | "3";
  statusname: string;
  recover?: string;
  /** Whether the last value meets it. */
  met: boolean;
  /** Number of consecutive values that met it, at most the number needed. */
  count: number;
  /** Number of consecutive values needed. */
  after: number;
  /** Whether it was reached and has not ended. */
  inforce: boolean;
  /** Whether it determines the status of the object. */
  decides: boolean;
  /** Where the threshold comes from. */
  source: string;
}

export interface ExplainedStep {
  kind: "object" | "resource" | "view";
  name: string;
  resource?: string;
  /** Its parent view or resource. */
  view?: string;
  class?: string;
  status: "?" | "0" | "1" | "2" | "3" | "-";
  statusname: string;
  since: string;
  /** Why its own status is what it is. */
  info?: string;
  acknowledged: boolean;
  /** Other items at the same level with the same status. */
  asbad?: ExplainedItem[];
  /** Number of further such items. */
  asbadmore?: number;
}

export interface ExplainedValue {
  n: number;
  name: string;
  unit?: string;
  /** The last one; absent when there was none. */
  value?: number | string;
  thresholds: ExplainedRule[];
}

export interface ExplainedWindow {
  name?: string;
  /** Inside the window. */
  mode: string;
  open: boolean;
  from: string;
  to?: string;
  /** When it opens again after that. */
  next?: string;
  schedule?: string;
  /** Recurrence rule of the window. */
  rrule?: string;
  /** Time zone of its times: UTC for times with an offset; absent for the local time of a server whose zone has no name. */
  timezone?: string;
  by?: string;
}

export interface Explanation {
  /** Days that would be missing from a partial answer. */
  missing?: string[];
  plan: ExplainedPlan;
}

export interface Former {
  n: number;
  type: "number" | "string";
}

export interface Health {
  version: Version;
  started: string;
  /** Seconds. */
  uptime: number;
  ready: boolean;
  /** Why it is not ready. */
  why?: string;
  /** Open faults, the oldest first. */
  faults: HealthFault[];
  /** Rows since the start: received = stored + rejected + discarded + tried + dropped. */
  rows: HealthRows;
  journal: HealthJournal;
  disk: HealthDisk;
  memory: HealthMemory;
  queries: HealthQueries;
  /** Number of items by kind. */
  items: Record<string, number>;
  streams: number;
  sessions: number;
  connections: HealthConnected;
  /** Backups: what runs, what was done last and what is scheduled. */
  backup?: State;
}

export interface HealthCollection {
  name: string;
  bytes: number;
  files: number;
}

export interface HealthConnected {
  open: number;
  idle: number;
}

export interface HealthDisk {
  free: number;
  total: number;
  /** Bytes of the metadata database. */
  metadata: number;
  collections: HealthCollection[];
  /** The file systems of the folders that are written to; those on one file system have the same figures. */
  folders: HealthFolder[];
}

export interface HealthFault {
  id: string;
  since: string;
  message: string;
  /** Data cannot be sent or queried. */
  blocks: boolean;
}

export interface HealthFolder {
  name: "data" | "rows" | "metadata" | "journal" | "spool";
  path: string;
  free: number;
  total: number;
}

export interface HealthJournal {
  bytes: number;
  segments: number;
  /** Rows that are not yet in the row store. */
  rows: number;
  /** Records that are not yet in the metadata database. */
  records: number;
  /** Seconds that the oldest row has waited for the row store. */
  oldest: number;
}

export interface HealthMemory {
  resident: number;
  heap: number;
  goroutines: number;
  /** Memory limit of the process in bytes; 0: unknown. */
  limit: number;
  /** Memory limit of each part of the service in bytes. */
  budget: Record<string, number>;
}

export interface HealthQueries {
  running: number;
  /** By outcome. */
  total: Record<string, number>;
  /** The slowest of the last hour. */
  slowest: SlowQuery[];
}

export interface HealthRate {
  timestamp: string;
  received: number;
  stored: number;
}

export interface HealthRows {
  received: number;
  stored: number;
  rejected: number;
  discarded: number;
  tried: number;
  /** By reason. */
  dropped: Record<string, number>;
  /** Rows received per second, now. */
  rate: number;
  /** Rates of the last quarter of an hour, one point every ten seconds, oldest first. */
  series: HealthRate[];
}

export interface Indicator {
  /** Number of the indicator. */
  n: number;
  name?: string;
  unit?: string;
  type?: "number" | "string";
  thresholds?: Threshold[];
}

export interface Interval {
  /** May be left out on an object. */
  class?: string;
  /** As 60s, or none. */
  interval: string;
}

export interface Job {
  /** Number of the job since the start of the service. */
  id: number;
  kind: "backup" | "restore";
  /** Folder of the backup; of a running one, the folder of backups. */
  backup: string;
  began: string;
  ended?: string;
  /** Until when it waits, before its first file. */
  waits?: string;
  /** Files so far. */
  files: number;
  /** Bytes so far, those of unchanged files included. */
  bytes: number;
  /** Bytes of files that have not changed since the backup before. */
  linked: number;
  /** Bytes altogether; 0: unknown. */
  total: number;
  /** Rows that a restore has added. */
  rows: number;
  /** Files that could not be read, with the reason. */
  missing?: string[];
  /** Files that note rows that were lost before, with the reason. An earlier backup may have these rows. */
  lost?: string[];
  /** Files in the backup whose content was damaged when they were copied, with the reason. An earlier backup may have them whole. */
  damaged?: string[];
  /** What has the name of an earlier backup in the folder and cannot be used, with the reason. */
  passed?: string[];
  /** Position of the journal up to which the backup is complete. */
  position?: string;
  /** Why it failed. */
  error?: string;
  /** The service began it by itself. */
  scheduled: boolean;
}

export interface Key {
  name: string;
  level: "read" | "readwrite" | "readwritedelete";
  last4: string;
  creator: string;
  created: string;
  expires?: string;
  lastuse?: string;
  /** send: the key may only use POST /api/send, GET /d, GET /l and GET /cv, and cannot read anything. */
  only?: string[];
  /** Views or resources to which the key is limited, with their content. */
  views?: string[];
  /** Addresses and networks from which the key is accepted, as 192.0.2.7 or 10.0.0.0/8; from others it is unknown. */
  addresses?: string[];
  /** When the current secret was created; absent if the key was never rotated. */
  rotated?: string;
  /** Earlier secrets that are still accepted, the latest first. */
  old?: OldSecret[];
  /** The secret; only in the answer to its creation or rotation. */
  key?: string;
}

export interface KeyHolder {
  customer: string;
  /** Name of the key. */
  key: string;
  level: "read" | "readwrite" | "readwritedelete";
  /** Views and resources to which the key is limited; absent if it is not limited. */
  views?: string[];
  /** Addresses and networks from which the key is accepted; absent if from all. */
  addresses?: string[];
}

export interface KeyList {
  keys: Key[];
  more: boolean;
}

export interface ListedClass {
  name: string;
  indicators?: Indicator[];
  log: Log;
  /** Time between two rows, as 60s. */
  interval?: string;
  /** Indicators that the class once had; their types are still fixed. Maintained by the service. */
  former?: Former[];
  /** Inferred from rows that used it. Ignored in requests. */
  inferred: boolean;
  /** Where the definition comes from. Ignored in requests. */
  source: "builtin" | "file" | "customer" | "inferred";
  /** Number of objects of the class. Ignored in requests. */
  objects: number;
}

export interface Log {
  separator?: string;
  columns?: string[];
}

export interface Login {
  user: string;
  password: string;
  /** Needed if several customers have a user of this name. */
  customer?: string;
}

export interface LoginOptions {
  /** Its name. */
  name?: string;
  /** There is an OpenID Connect provider. */
  oidc: boolean;
}

export interface NewBackup {
  /** Absolute path of a folder; only on the machine of the service. Without it, the configured one. */
  target?: string;
  /** Copy files that have not changed since the last backup, too. */
  full?: boolean;
  /** Public keys for which the backup is encrypted; without it, those that are configured. With target only. */
  recipients?: string[];
}

export interface NewCustomer {
  name: string;
  /** Password of its administrator; generated if absent. */
  password?: string;
  /** Whether to create an administrator called admin for the customer; true by default. */
  administrator?: boolean;
}

export interface NewKey {
  name: string;
  level: "read" | "readwrite" | "readwritedelete";
  /** A time, or a duration from now, as 90d. */
  expires?: string;
  /** send: the key may only use POST /api/send, GET /d, GET /l and GET /cv, and cannot read anything. */
  only?: string[];
  /** Views or resources to which the key is limited, with their content. */
  views?: string[];
  /** Addresses and networks from which the key is accepted, as 192.0.2.7 or 10.0.0.0/8; from others it is unknown. */
  addresses?: string[];
}

/** A policy definition. The name may be left out. */
export interface NewPolicy {
  kind: "object" | "resource" | "view";
  /** Name of the item. */
  item: string;
  /** Resource of the item: for objects, and for views inside a resource. */
  resource?: string;
  thresholds?: Override[];
  /** Time between two rows of any object, as 60s; none: nothing is expected. */
  interval?: string;
  intervals?: Interval[];
  /** How the statuses of the content are combined: worst, best, or how many must be that bad, as in 2 of m. */
  rollup?: string;
  period?: Period;
  name?: string;
}

/** Settings by name; null resets a setting. */
export type NewSettings = Record<string, string | number | boolean | null>;

export interface NewUser {
  name: string;
  role: "viewer" | "operator" | "administrator" | "instance administrator";
  /** At least 10 characters, at most 1,024 bytes; generated if absent. */
  password?: string;
  /** Views and resources to which the user is limited; an empty list means no limit. */
  views?: string[];
}

export interface Occurrence {
  from?: string;
  to?: string;
}

export interface OldSecret {
  last4: string;
  until: string;
  lastuse?: string;
}

/** Replaces the thresholds of an indicator of a class. */
export interface Override {
  /** May be left out on an object. */
  class?: string;
  /** Number of the indicator. */
  n: number;
  /** Type of the indicator; optional in requests. */
  type?: "number" | "string";
  /** An empty list switches the thresholds of the indicator off. */
  thresholds: Threshold[];
}

export interface OwnSession {
  /** Identifies the session; not its secret. */
  id: string;
  created: string;
  lastuse?: string;
  expires: string;
  /** Address from which the user logged in. */
  address?: string;
  /** User agent at login, if it sent one. */
  browser?: string;
  /** Whether it is the session of this request. */
  current: boolean;
}

export interface Package {
  name: string;
  kind: "resource" | "view" | "object" | "element";
  help: string;
  /** Collector that its resources run; absent if data only come through the API. */
  collector?: string;
  source: "builtin" | "file";
  columns: Column[];
  /** Objects that come with each resource, named after it. */
  parts: Part[];
}

export interface PackageList {
  packages: Package[];
}

export interface Part {
  name: string;
  class: string;
}

export interface PasswordChange {
  /** The old one. */
  password: string;
  /** At least 10 characters, at most 1,024 bytes. */
  new: string;
}

/** When objects are monitored; outside these times they are Unknown. */
export interface Period {
  /** IANA name, as Europe/Berlin; otherwise that of the server. */
  timezone?: string;
  times: (string | {
    /** As 2026-01-03T10:00. */
    from?: string;
    to?: string;
    /** Recurrence rule, RFC 5545. */
    rrule?: string;
  })[];
}

export interface Picture {
  name: string;
  type: "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/svg+xml";
  size: number;
  /** Pixels; absent for SVG. */
  width?: number;
  height?: number;
  etag: string;
  creator: string;
  changed: string;
}

export interface PictureAnswer {
  result: "created" | "updated" | "unchanged";
  picture: Picture;
}

export interface PictureList {
  pictures: Picture[];
  more: boolean;
}

export interface Policy {
  name: string;
  kind: "object" | "resource" | "view";
  /** Name of the item. */
  item: string;
  /** Resource of the item: for objects, and for views inside a resource. */
  resource?: string;
  thresholds?: Override[];
  /** Time between two rows of any object, as 60s; none: nothing is expected. */
  interval?: string;
  intervals?: Interval[];
  /** How the statuses of the content are combined: worst, best, or how many must be that bad, as in 2 of m. */
  rollup?: string;
  period?: Period;
}

export interface PolicyAnswer {
  result: "created" | "updated" | "unchanged";
  policy: Policy;
}

export interface PolicyList {
  policies: Policy[];
  more: boolean;
}

export interface QueryAnswer {
  /** The selected fields of each row; fields without a value are left out. */
  rows: Record<string, unknown>[];
  count: number;
  /** There are more rows than returned. */
  more: boolean;
  /** In answers to requests with after: the value of after for the next page. Absent when there is none, and for groups and orders that are not paged. */
  next?: string;
  /** Days that are missing from a partial answer. */
  missing?: string[];
}

export interface RefusedAction {
  error: ActedFault;
  /** Nothing was changed. */
  dryrun?: boolean;
  /** In a dry run: when the window would be open next. */
  occurrences?: Occurrence[];
  items: ActedItem[];
  errors: ActedError[];
}

export interface RefusedReport {
  error: ErrorDetail;
  /** Rows that were read: accepted + rejected + discarded. */
  rows: number;
  accepted: number;
  rejected: number;
  /** Correct rows that were discarded because their item is unmanaged without storage. */
  discarded: number;
  created: Created;
  updated: number;
  unchanged: number;
  /** Removed items of the package, not counting their content. */
  removed: number;
  errors: RowError[];
  /** There are more errors than listed. */
  errors_truncated: boolean;
}

export interface Removed {
  name: string;
  result: "removed";
}

export interface Report {
  /** Rows that were read: accepted + rejected + discarded. */
  rows: number;
  accepted: number;
  rejected: number;
  /** Correct rows that were discarded because their item is unmanaged without storage. */
  discarded: number;
  created: Created;
  updated: number;
  unchanged: number;
  /** Removed items of the package, not counting their content. */
  removed: number;
  errors: RowError[];
  /** There are more errors than listed. */
  errors_truncated: boolean;
}

export interface Revoked {
  /** Name of the key. */
  revoked: string;
}

export interface Rotation {
  /** How long the old secret is still accepted, as 24h, which is the default; at most 30d. 0s refuses it at once. */
  overlap?: string;
  /** New expiry of the key: a time, or a duration from now, as 90d. Without it, the expiry does not change. */
  expires?: string;
}

export interface RowError {
  /** Number of the data row, from 1. */
  row: number;
  /** Line of the body where the row starts. */
  line: number;
  column?: string;
  code: "unknown_resource" | "unknown_view" | "unknown_object" | "unknown_class" | "unknown_type" | "missing_value" | "bad_value" | "bad_name" | "bad_row" | "ambiguous_name" | "name_in_use" | "class_mismatch" | "cycle" | "not_empty" | "not_found" | "not_allowed" | "too_late" | "too_early" | "limit_reached";
  message: string;
}

export interface SendRow {
  type: "data" | "log" | "createview";
  resname?: string;
  object?: string;
  class?: string;
  view?: string;
  parentview?: string;
  ip?: string;
  host?: string;
  object_1?: string;
  object_2?: string;
  object_3?: string;
  object_4?: string;
  object_5?: string;
  log?: string;
  timestamp?: string | number;
  [indicator: `i${number}`]: number | string | undefined;
}

export interface Session {
  customer: string;
  expires: string;
  /** The user's own customer, while the session acts in another, even if that was removed. */
  home?: string;
  role: "viewer" | "operator" | "administrator" | "instance administrator";
  user: string;
  /** Views and resources to which the user is limited; absent if it is not limited. */
  views?: string[];
}

export interface SessionEnded {
  /** Id of the session. */
  ended: string;
}

export interface SessionList {
  sessions: OwnSession[];
}

export interface Setting {
  name: string;
  /** Value in force: a text, a number, true or false. */
  value: string | number | boolean;
  default: string | number | boolean;
  /** Where the value comes from; flag is the command line or the environment. */
  from: "default" | "file" | "flag" | "stored";
  /** Whether the caller may change it here. */
  change: boolean;
  scope: "instance" | "customer";
  help: string;
}

export interface SettingList {
  settings: Setting[];
}

export interface SlowQuery {
  /** For an instance administrator. */
  customer?: string;
  q: string;
  fq?: string;
  /** Name of the key or user. */
  by: string;
  timestamp: string;
  seconds: number;
  rows: number;
  failed?: boolean;
}

export interface State {
  /** The job that runs. */
  running?: Job;
  /** The last job that ended since the start of the service. */
  last?: Job;
  /** The folder of the backups that the service makes by itself. */
  scheduled?: Contents;
  /** When the next of them begins. */
  next?: string;
}

/** Why an item has its status. Fields that do not apply are absent. */
export interface StatusExplanation {
  /** The explanation in a sentence. */
  text: string;
  item: ExplainedItem;
  /** Status from data or content. */
  own: ExplainedOwn;
  /** What hides the own status. */
  hidden?: "management" | "monitoring period";
  management: ExplainedMode;
  acknowledgment?: ExplainedAck;
  note?: string;
  /** Of an object, time of its newest data. */
  lastdata?: string;
  indicators?: ExplainedValue[];
  staleness?: ExplainedInterval;
  rollup?: ExplainedRollup;
  /** The path down to the item that determines the status; each is inside the previous one. */
  chain?: ExplainedStep[];
}

export interface Threshold {
  /** As >= 80 or <> ok. */
  when: string;
  /** 1 Warning, 2 Major, 3 Critical. */
  status: number;
  /** Condition that ends it; by default, that when is no longer met. */
  recover?: string;
  /** Number of consecutive rows that must meet it. */
  after?: number;
}

export interface Tree {
  view: TreeItem;
  /** Number of direct items by kind. */
  content: Record<"view" | "resource" | "object" | "element", number>;
  children: TreeItem[];
  /** There are more entries after this page. */
  more: boolean;
  /** The value of after for the next page. */
  next?: string;
}

/** A view, a resource, an object or a graphical element. Elements have no status, except shortcuts, which have that of their target. */
export interface TreeItem {
  name: string;
  kind: "view" | "resource" | "object" | "element";
  /** Resource it belongs to. */
  resource?: string;
  /** Its parent view. */
  parentview?: string;
  class?: string;
  /** Of a resource or an element. */
  package?: string;
  status?: "?" | "0" | "1" | "2" | "3" | "-";
  statusname?: string;
  since?: string;
  lastdata?: string;
  info?: string;
  /** Of a view or resource: number of direct items by status. */
  counts?: Record<"?" | "0" | "1" | "2" | "3" | "-", number>;
  acknowledged?: boolean;
  isunmanaged?: boolean;
  note?: string;
  /** Position in its view, from the top. */
  posx?: number;
  /** Position in its view, from the left. */
  posy?: number;
  width?: number;
  height?: number;
  autoarrange?: "none" | "linear";
  /** Picture shown as its background. */
  bg?: string;
  /** Of an element: what is drawn, by the columns of its package. */
  answers?: Record<string, string>;
  /** Of an element: the columns that refer to something that has been removed. */
  broken?: string[];
}

export interface Trial {
  /** A line as a device sends it (syslog), or the fields of a message. */
  sample: string | Record<string, unknown>;
  /** Address of the sender; 127.0.0.1 unless it is given. */
  from?: string;
  /** Instead of the filter of the resource. */
  filter?: string;
  /** Instead of the script of the resource. */
  script?: string;
}

export interface Tried {
  /** The message as the filter and script see it. */
  received: Record<string, unknown>;
  result: "kept" | "filtered";
  /** What rejected the message. */
  by?: "filter" | "script";
  /** The message as it would be stored. */
  stored?: Record<string, unknown>;
  /** Fields that the script set but messages do not have. */
  ignored?: string[];
  /** Data that the script would send for objects. */
  feeds: TriedRow[];
  /** Why the filter or script failed; the message would be stored unchanged. */
  error?: string;
  /** Time that filter and script took. */
  milliseconds: number;
}

export interface TriedRow {
  type: "data" | "log";
  resource: string;
  object: string;
  class?: string;
  view?: string;
  values?: Record<string, string>;
  log?: string;
}

export interface User {
  name: string;
  role: "viewer" | "operator" | "administrator" | "instance administrator";
  /** Administers the whole instance. */
  instance: boolean;
  /** Logs in through the OpenID Connect provider. */
  oidc?: boolean;
  created: string;
  lastlogin?: string;
  /** Views and resources to which the user is limited; absent if it is not limited. */
  views?: string[];
  /** Only in the answer to its creation, and only if it was generated. */
  password?: string;
}

export interface UserChange {
  role?: "viewer" | "operator" | "administrator" | "instance administrator";
  /** At least 10 characters, at most 1,024 bytes. */
  password?: string;
  /** Views and resources to which the user is limited; an empty list means no limit. */
  views?: string[];
}

export interface UserList {
  more: boolean;
  users: User[];
}

export interface Version {
  name: string;
  version: string;
  commit?: string;
  go: string;
}

export interface Window {
  /** Value for after. */
  id: string;
  /** Of the item. */
  name: string;
  kind: "object" | "view" | "resource";
  /** Of an object, and of a view inside a resource. */
  resource?: string;
  /** Name of the window. */
  window?: string;
  /** How the item is managed inside the window, in words. */
  mode: string;
  isunmanaged: boolean;
  unmanageifred: boolean;
  collectunmanage: boolean;
  collectorunmanage: boolean;
  open: boolean;
  /** Of the occurrence that is open or comes next. */
  from: string;
  /** Its end, if it has one. */
  to?: string;
  /** Recurrence rule of the window. */
  rrule?: string;
  /** Time zone of its times: UTC for times with an offset; absent for the local time of a server whose zone has no name. */
  timezone?: string;
  /** Key or user that created it. */
  user?: string;
  unmanagenote?: string;
}

export interface WindowList {
  /** There are more; request those after the last. */
  more: boolean;
  windows: Window[];
}
