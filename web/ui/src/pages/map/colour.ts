// Colours that people chose, so that they can be read on the ground they are on.

type Rgb = [number, number, number];

export const isColour = (text?: string): text is string => /^#[0-9a-f]{6}$/i.test(text ?? "");

function rgb(hex: string): Rgb {
  const n = Number.parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

function hex(c: Rgb): string {
  return `#${c.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("")}`;
}

/** How bright a colour is, from 0 to 1, as the guidelines for accessibility count it. */
function luminance(c: Rgb): number {
  const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(rgb(a)), luminance(rgb(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** ink is black or white, whichever can be read better on a ground. */
export const ink = (ground: string) =>
  contrast(ground, "#ffffff") > contrast(ground, "#000000") ? "#ffffff" : "#000000";

/** readable is the colour itself, or as near to it as can be read on the ground. */
export function readable(colour: string, ground: string): string {
  const end = rgb(ink(ground));
  const from = rgb(colour);
  for (let part = 0; part < 1; part += 0.1) {
    const mixed = hex(from.map((v, i) => v + ((end[i] ?? 0) - v) * part) as Rgb);
    if (contrast(mixed, ground) >= 4.6) return mixed;
  }
  return ink(ground);
}
