// A policy while someone edits it: every field a text, so that what is half written stays as it is. Fields that the form does
// not know are kept beside those that it does, and go back as they came.
import type { Policy } from "../../api";
import type { ThresholdDraft } from "./classDraft";

type Fields = Record<string, unknown>;

export interface OverrideDraft {
  id: number;
  class: string;
  n: string;
  thresholds: ThresholdDraft[];
  rest: Fields;
}

export interface PaceDraft {
  id: number;
  class: string;
  interval: string;
  rest: Fields;
}

export interface TimeDraft {
  id: number;
  /** Hours of the week in a text, or dates with a recurrence rule. */
  kind: "hours" | "dates";
  hours: string;
  from: string;
  to: string;
  rrule: string;
  rest: Fields;
}

export interface PolicyDraft {
  kind: string;
  item: string;
  resource: string;
  thresholds: OverrideDraft[];
  interval: string;
  intervals: PaceDraft[];
  /** "number": as many as `many`; "other": a text that only the service understands. */
  rollup: "" | "worst" | "best" | "number" | "other";
  many: string;
  other: string;
  timezone: string;
  times: TimeDraft[];
  periodRest: Fields;
  rest: Fields;
}

let last = 0;
const fresh = () => ++last;

export const newThreshold = (): ThresholdDraft => ({ id: fresh(), when: "", status: "1", recover: "", after: "" });
export const newOverride = (): OverrideDraft => ({ id: fresh(), class: "", n: "", thresholds: [], rest: {} });
export const newPace = (): PaceDraft => ({ id: fresh(), class: "", interval: "", rest: {} });
export const newTime = (kind: TimeDraft["kind"]): TimeDraft => ({
  id: fresh(),
  kind,
  hours: "",
  from: "",
  to: "",
  rrule: "",
  rest: {},
});

/** text, list and fields read a value of a text that someone wrote; what does not fit into a field of the form is reported. */
function text(v: unknown, path: string): string {
  if (v === undefined || v === null) return "";
  if (typeof v === "object") throw new Error(`${path} is no text`);
  return String(v);
}

function list(v: unknown, path: string): unknown[] {
  if (v === undefined || v === null) return [];
  if (!Array.isArray(v)) throw new Error(`${path} is no list`);
  return v;
}

function fields(v: unknown, path: string): Fields {
  if (typeof v !== "object" || v === null || Array.isArray(v)) throw new Error(`${path} has no fields`);
  return v as Fields;
}

const thresholdOf = (v: unknown, path: string): ThresholdDraft => {
  const { when, status, recover, after, ...rest } = fields(v, path);
  return {
    id: fresh(),
    when: text(when, `${path}.when`),
    status: text(status, `${path}.status`),
    recover: text(recover, `${path}.recover`),
    after: text(after, `${path}.after`),
    rest,
  };
};

function overrideOf(v: unknown, path: string): OverrideDraft {
  const { class: cls, n, thresholds, ...rest } = fields(v, path);
  return {
    id: fresh(),
    class: text(cls, `${path}.class`),
    n: text(n, `${path}.n`),
    thresholds: list(thresholds, `${path}.thresholds`).map((t, i) => thresholdOf(t, `${path}.thresholds[${i}]`)),
    rest,
  };
}

function paceOf(v: unknown, path: string): PaceDraft {
  const { class: cls, interval, ...rest } = fields(v, path);
  return { id: fresh(), class: text(cls, `${path}.class`), interval: text(interval, `${path}.interval`), rest };
}

function timeOf(v: unknown, path: string): TimeDraft {
  if (typeof v !== "object" || v === null) return { ...newTime("hours"), hours: text(v, path) };
  const { from, to, rrule, ...rest } = fields(v, path);
  return {
    ...newTime("dates"),
    from: text(from, `${path}.from`),
    to: text(to, `${path}.to`),
    rrule: text(rrule, `${path}.rrule`),
    rest,
  };
}

function rollupOf(said: string): Pick<PolicyDraft, "rollup" | "many" | "other"> {
  const plain = said.trim().toLowerCase();
  const many = /^(\d+)\s+of\s+m$/.exec(plain)?.[1];
  if (many) return { rollup: "number", many, other: "" };
  if (plain === "" || plain === "worst" || plain === "best") return { rollup: plain, many: "2", other: "" };
  return { rollup: "other", many: "2", other: said };
}

/** draftOf reads a policy. It throws when the form cannot show it. */
export function draftOf(policy: unknown): PolicyDraft {
  const {
    name: _,
    kind,
    item,
    resource,
    thresholds,
    interval,
    intervals,
    rollup,
    period,
    ...rest
  } = fields(policy, "the policy");
  const { timezone, times, ...periodRest } = period ? fields(period, "period") : {};
  return {
    kind: text(kind, "kind") || "view",
    item: text(item, "item"),
    resource: text(resource, "resource"),
    thresholds: list(thresholds, "thresholds").map((o, i) => overrideOf(o, `thresholds[${i}]`)),
    interval: text(interval, "interval"),
    intervals: list(intervals, "intervals").map((p, i) => paceOf(p, `intervals[${i}]`)),
    ...rollupOf(text(rollup, "rollup")),
    timezone: text(timezone, "period.timezone"),
    times: list(times, "period.times").map((t, i) => timeOf(t, `period.times[${i}]`)),
    periodRest,
    rest,
  };
}

/** number gives what is a whole number as one; about anything else the service says what it thinks. */
const number = (t: string): number | string | undefined =>
  /^\d{1,15}$/.test(t.trim()) ? Number(t) : t.trim() || undefined;

const given = (t: string): string | undefined => t.trim() || undefined;

const rollupText = (d: PolicyDraft): string | undefined =>
  d.rollup === "number" ? `${d.many.trim()} of m` : given(d.rollup === "other" ? d.other : d.rollup);

function periodFields(d: PolicyDraft): Fields | undefined {
  const timezone = given(d.timezone);
  if (!timezone && d.times.length === 0 && Object.keys(d.periodRest).length === 0) return undefined;
  return {
    ...(timezone && { timezone }),
    times: d.times.map((t) =>
      t.kind === "hours" ? t.hours.trim() : { from: given(t.from), to: given(t.to), rrule: given(t.rrule), ...t.rest },
    ),
    ...d.periodRest,
  };
}

/** definition is what the draft says, as the service takes it, without what is not said. */
export function definition(d: PolicyDraft): Omit<Policy, "name"> {
  const all: Fields = {
    kind: d.kind,
    item: d.item,
    resource: given(d.resource),
    thresholds: d.thresholds.length
      ? d.thresholds.map((o) => ({
          class: given(o.class),
          n: number(o.n),
          ...o.rest,
          thresholds: o.thresholds.map((t) => ({
            when: t.when.trim(),
            status: number(t.status),
            recover: given(t.recover),
            after: number(t.after),
            ...t.rest,
          })),
        }))
      : undefined,
    interval: given(d.interval),
    intervals: d.intervals.length
      ? d.intervals.map((p) => ({ class: given(p.class), interval: p.interval.trim(), ...p.rest }))
      : undefined,
    rollup: rollupText(d),
    period: periodFields(d),
    ...d.rest,
  };
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined)) as Omit<Policy, "name">;
}
