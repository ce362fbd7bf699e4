// Numbers as people read them: few digits on an axis, all of them in a table.

const exact = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 15 });
const fraction = [0, 1, 2, 3, 4, 5, 6].map((n) => new Intl.NumberFormat(undefined, { maximumFractionDigits: n }));
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 4 });
const tiny = new Intl.NumberFormat(undefined, { notation: "scientific", maximumSignificantDigits: 3 });

const binary = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const bytes = /^(b|bytes?|octets?)(\/s)?$/i;

/** isBytes reports whether a unit is counted in steps of 1,024. A lone b is as likely a bit, but B is what people write. */
export const isBytes = (unit?: string) => !!unit && unit !== "b" && bytes.test(unit);

const withUnit = (text: string, unit?: string) => (unit ? `${text}\u00a0${unit}` : text);

/** digits are those behind the point that distinguish neighbours on a scale. */
function short(v: number): string {
  const a = Math.abs(v);
  if (a !== 0 && a < 1e-4) return tiny.format(v);
  if (a >= 1e6) return compact.format(v);
  const n = a >= 1000 || a === 0 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : a >= 1 ? 3 : 6;
  return (fraction[n] ?? exact).format(v);
}

/** brief writes a value with few digits and its unit: 1.5 GiB, 12.35 %. */
export function brief(v: number, unit?: string): string {
  if (!isBytes(unit)) return withUnit(short(v), unit);
  let [n, step] = [v, 0];
  while (Math.abs(n) >= 1024 && step < binary.length - 1) {
    n /= 1024;
    step++;
  }
  const one = unit?.endsWith("/s") ? "B/s" : "B";
  return withUnit(short(n), `${binary[step]}${one}`);
}

/** full writes a value with all its digits. */
export const full = (v: number, unit?: string) => withUnit(exact.format(v), unit);

/** ticks writes the values of an axis, all in the same manner, so that they can be compared at a glance. */
export function ticks(values: (number | null)[], unit?: string): string[] {
  const most = Math.max(0, ...values.map((v) => Math.abs(v ?? 0)));
  if (isBytes(unit) || most >= 1e6) return values.map((v) => (v === null ? "" : brief(v, isBytes(unit) ? unit : "")));
  const known = values.filter((v): v is number => v !== null);
  const step = Math.min(...known.slice(1).map((v, i) => Math.abs(v - (known[i] ?? 0))));
  if (step < 1e-6) return values.map((v) => (v === null ? "" : short(v)));
  const n = Number.isFinite(step) && step > 0 ? Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))) : 2;
  const format = new Intl.NumberFormat(undefined, { maximumFractionDigits: n, minimumFractionDigits: n });
  return values.map((v) => (v === null ? "" : format.format(v)));
}
