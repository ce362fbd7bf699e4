// Where in the form a message of the service belongs, so that it can be read there.
import type { Faults } from "./classDraft";
import type { PolicyDraft } from "./policyDraft";

/** fieldOf is the field in which a fault of a whole row is shown. */
function fieldOf(path: string, said: string): string {
  if (/^thresholds\[\d+\]$/.test(path))
    return `${path}.${/^(has no class|names the class)/.test(said) ? "class" : "n"}`;
  if (/^thresholds\[\d+\]\.(type|thresholds)$/.test(path)) return path.replace(/\w+$/, "n");
  if (/\.thresholds\[\d+\]$/.test(path)) return `${path}.when`;
  if (/^intervals\[\d+\]$/.test(path)) return `${path}.class`;
  return path === "period" ? "period.timezone" : path;
}

const path = /^policy(?:, line \d+)?: ((?:kind|item|resource|thresholds|intervals?|rollup|period)[\w.[\]]*) (.*)$/s;
const unquoted = (text: string): string => {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
};

/** clashOf is the field that another policy on the same item sets already. */
function clashOf(message: string, d: PolicyDraft): string | undefined {
  const what = /^policy ".*" sets (the (?:thresholds|interval|roll-up|period)\b.*) of the \w+ "/s.exec(message)?.[1];
  if (!what) return undefined;
  const over = /^the thresholds of i(\d+) of class (".*")$/s.exec(what);
  if (over) {
    const i = d.thresholds.findIndex((o) => o.n === over[1] && (!o.class || o.class === unquoted(over[2] ?? "")));
    return i < 0 ? undefined : `thresholds[${i}].n`;
  }
  const pace = /^the interval of class (".*")$/s.exec(what);
  if (pace) {
    const i = d.intervals.findIndex((p) => p.class === unquoted(pace[1] ?? ""));
    return i < 0 ? undefined : `intervals[${i}].class`;
  }
  if (what === "the roll-up") return "rollup";
  return what === "the period" ? "period.timezone" : "interval";
}

/** faultOf finds the field that a message is about; none when it is about the whole. */
export function faultOf(message: string, d: PolicyDraft): Faults {
  const named = path.exec(message);
  if (named?.[1] && named[2]) return { [fieldOf(named[1], named[2])]: named[2] };
  const time = /^period: (times\[\d+\]): (.*)$/s.exec(message);
  if (time?.[1] && time[2]) return { [`period.${time[1]}`]: time[2] };
  if (/^(period|timezone): /.test(message)) return { "period.timezone": message };
  if (/^there is no (object|resource|view) /.test(message))
    return { [d.resource.trim() && d.kind !== "resource" ? "resource" : "item"]: message };
  if (/; give resource$/.test(message)) return { resource: message };
  const clash = clashOf(message, d);
  return clash ? { [clash]: message } : {};
}
