// Conditions of thresholds, such as ">= 80" on a number or "<> ok" on a text. The service decides; this says at once, beside
// the field, what it would say.

export interface Condition {
  op: string;
  value: number | string;
}

const ops = ["<>", "<=", ">=", "=", "<", ">"]; // the longer ones first
const decimal = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

function unquote(s: string): string | undefined {
  if (!s.startsWith("'")) return s || undefined;
  const inner = s.length > 1 && s.endsWith("'") ? s.slice(1, -1) : undefined;
  if (inner === undefined || inner.replaceAll("''", "").includes("'")) return undefined;
  return inner.replaceAll("''", "'") || undefined;
}

/** parse reads a condition; a text is what is wrong with it. */
export function parse(text: string, isText: boolean): Condition | string {
  const t = text.trim();
  const op = ops.find((o) => t.startsWith(o));
  if (!op) return "Begin with a comparison, = <> < <= > >=, and then a value.";
  const rest = t.slice(op.length).trim();
  if (isText) {
    if (op !== "=" && op !== "<>") return "Texts support only = and <>.";
    const value = unquote(rest);
    if (value === undefined) return "The text to compare with is missing.";
    if ([...value].length > 255) return "The text is longer than 255 characters.";
    return { op, value };
  }
  if (!decimal.test(rest) || !Number.isFinite(Number(rest)))
    return `“${rest}” is not a number; for a text make the indicator a text.`;
  return { op, value: Number(rest) };
}

function met(c: Condition, v: number | string): boolean {
  switch (c.op) {
    case "=":
      return v === c.value;
    case "<>":
      return v !== c.value;
    case "<":
      return v < c.value;
    case "<=":
      return v <= c.value;
    case ">":
      return v > c.value;
    default:
      return v >= c.value;
  }
}

/** recovers reports whether one condition can end what another began: they look in opposite directions, and no value meets both. */
export function recovers(when: Condition, end: Condition): boolean {
  if (when.op.startsWith(">") && !/^<=?$/.test(end.op)) return false;
  if (/^<=?$/.test(when.op) && !end.op.startsWith(">")) return false;
  let tried: (number | string)[];
  if (typeof when.value === "number" && typeof end.value === "number") {
    const [lo, hi] = [Math.min(when.value, end.value), Math.max(when.value, end.value)];
    tried = [-Infinity, lo, lo / 2 + hi / 2, hi, Infinity];
  } else tried = [when.value, end.value, `${when.value}${end.value}.`];
  return !tried.some((v) => met(when, v) && met(end, v));
}
