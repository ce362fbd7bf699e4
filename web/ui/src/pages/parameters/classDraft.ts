// A class while someone edits it: every field a text, so that what is half written stays as it is.
import type { Class, Indicator } from "../../api";
import { parse, recovers } from "./condition";

export interface ThresholdDraft {
  id: number;
  when: string;
  status: string;
  recover: string;
  after: string;
  /** What else was said, which the form does not know. */
  rest?: Record<string, unknown>;
}

export interface IndicatorDraft {
  id: number;
  n: string;
  name: string;
  unit: string;
  type: "number" | "string";
  thresholds: ThresholdDraft[];
}

export interface Draft {
  indicators: IndicatorDraft[];
  separator: string;
  columns: string;
  interval: string;
}

let last = 0;
/** fresh is an id that identifies a row while rows are moved and removed. */
const fresh = () => ++last;

export const newThreshold = (): ThresholdDraft => ({ id: fresh(), when: "", status: "1", recover: "", after: "" });

export function newIndicator(d: Draft): IndicatorDraft {
  const n = Math.max(0, ...d.indicators.map((i) => Number(i.n) || 0)) + 1;
  return { id: fresh(), n: String(n), name: "", unit: "", type: "number", thresholds: [] };
}

export function draftOf(c: Class): Draft {
  return {
    indicators: (c.indicators ?? []).map((i) => ({
      id: fresh(),
      n: String(i.n),
      name: i.name ?? "",
      unit: i.unit ?? "",
      type: i.type ?? "number",
      thresholds: (i.thresholds ?? []).map((t) => ({
        id: fresh(),
        when: t.when,
        status: String(t.status),
        recover: t.recover ?? "",
        after: t.after ? String(t.after) : "",
      })),
    })),
    separator: JSON.stringify(c.log?.separator ?? "\t").slice(1, -1),
    columns: (c.log?.columns ?? []).join("\n"),
    interval: c.interval ?? "",
  };
}

const separatorOf = (text: string): string => {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
};

const columnsOf = (text: string) =>
  text
    .split("\n")
    .map((c) => c.trim())
    .filter(Boolean);

/** definition is what the draft says, as the service takes it. */
export function definition(name: string, d: Draft): Class {
  const separator = separatorOf(d.separator);
  const columns = columnsOf(d.columns);
  const c: Class = { name };
  if (d.indicators.length) c.indicators = d.indicators.map(indicatorOf);
  if ((separator && separator !== "\t") || columns.length)
    c.log = {
      separator: separator && separator !== "\t" ? separator : undefined,
      columns: columns.length ? columns : undefined,
    };
  if (d.interval.trim()) c.interval = d.interval.trim();
  return c;
}

function indicatorOf(i: IndicatorDraft): Indicator {
  const out: Indicator = { n: Number(i.n) };
  if (i.name) out.name = i.name;
  if (i.unit) out.unit = i.unit;
  if (i.type === "string") out.type = "string";
  if (i.thresholds.length)
    out.thresholds = i.thresholds.map((t) => ({
      when: t.when.trim(),
      status: Number(t.status),
      recover: t.recover.trim() || undefined,
      after: t.after ? Number(t.after) : undefined,
    }));
  return out;
}

/** Faults by the path of the field, as the service names it: indicators[0].thresholds[1].when. */
export type Faults = Record<string, string>;

function whole(text: string, lo: number, hi: number): boolean {
  return /^\d+$/.test(text) && Number(text) >= lo && Number(text) <= hi;
}

export function nameFault(text: string): string | undefined {
  if ([...text].length > 255) return "At most 255 characters.";
  if (text.trim() !== text) return "Remove the blank at its end or beginning.";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return "Control characters are not allowed.";
}

/** faults says what is wrong with a draft. */
export function faults(d: Draft): Faults {
  const out: Faults = {};
  const put = (path: string, fault?: string | false) => {
    if (fault) out[path] ??= fault;
  };
  d.indicators.forEach((ind, i) => {
    const at = `indicators[${i}]`;
    put(`${at}.n`, !whole(ind.n, 1, 100) && "A whole number from 1 to 100.");
    put(`${at}.n`, d.indicators.findIndex((o) => o.n === ind.n) < i && "Another indicator has this number.");
    put(`${at}.name`, nameFault(ind.name));
    put(`${at}.unit`, nameFault(ind.unit));
    ind.thresholds.forEach((t, k) => {
      thresholdFaults(t, ind.type === "string", `${at}.thresholds[${k}]`, put);
    });
  });
  put("log.separator", [...separatorOf(d.separator)].length > 16 && "At most 16 characters.");
  const columns = columnsOf(d.columns);
  const twice = columns.find((c, i) => columns.findIndex((o) => o.toLowerCase() === c.toLowerCase()) < i);
  put("log.columns", twice !== undefined && `“${twice}” is there a second time.`);
  put("log.columns", columns.length > 100 && "At most 100 columns.");
  put("log.columns", columns.map(nameFault).find(Boolean));
  put(
    "interval",
    !!d.interval.trim() &&
      !/^[1-9]\d{0,10}[smhdw]$/.test(d.interval.trim()) &&
      "A whole number and s, m, h, d or w, as 60s.",
  );
  return out;
}

function thresholdFaults(
  t: ThresholdDraft,
  text: boolean,
  at: string,
  put: (path: string, fault?: string | false) => void,
) {
  const when = parse(t.when, text);
  if (typeof when === "string") put(`${at}.when`, when);
  put(`${at}.after`, !!t.after && !whole(t.after, 1, 1000) && "From 1 to 1000.");
  if (!t.recover.trim()) return;
  const end = parse(t.recover, text);
  if (typeof end === "string") put(`${at}.recover`, end);
  else if (typeof when !== "string" && !recovers(when, end))
    put(`${at}.recover`, `Must lie on the other side of ${t.when.trim()}, where no value meets both.`);
}

/** faultOf finds the field that a message of the service is about, so that it can be shown there. */
export function faultOf(message: string, d: Draft): Faults {
  const named = /^\w+(?:, line \d+)?: ((?:indicators|log|interval)[\w.[\]]*) (.*)$/s.exec(message);
  if (named?.[1] && named[2]) {
    const path = named[1].replace(/^(log\.columns)\[\d+\]$/, "$1");
    return {
      [/\](\.thresholds\[\d+\])?$/.test(path) ? `${path}${path.includes("thresholds") ? ".when" : ".n"}` : path]:
        named[2],
    };
  }
  const type = /indicator i(\d+) is a (?:number|string) and cannot become/.exec(message);
  const i = type ? d.indicators.findIndex((ind) => ind.n === type[1]) : -1;
  return i < 0 ? {} : { [`indicators[${i}].type`]: message };
}
