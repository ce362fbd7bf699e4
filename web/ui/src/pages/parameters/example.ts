// An example of the CSV that a package takes.
import type { Package, Question } from "../../api";

const samples: Record<string, string> = {
  integer: "1",
  number: "1.5",
  bool: "true",
  duration: "60s",
  host: "192.0.2.10",
  ip: "192.0.2.10",
  listen: "127.0.0.1:5140",
  colour: "#13877c",
};

function sample(q: Question, kind: string): string {
  if (q.name === "name") return `my-${kind}`;
  if (q.name === "view") return "MAIN";
  if (q.default) return q.default;
  if (q.secret) return "secret";
  if (q.values?.[0]) return q.values[0];
  if (q.min !== undefined) return String(q.min);
  return samples[q.type] ?? `my-${q.name.replaceAll("_", "-")}`;
}

const cell = (text: string) =>
  /[",\n\r]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;

/** exampleOf writes a header and a row, with the columns that have to be there and a few that say most. */
export function exampleOf(p: Package): string {
  const chosen = p.columns.filter((c) => c.required || c.name === "view");
  const more = p.columns.filter((c) => !chosen.includes(c) && c.default && !/^(posx|posy|width|height)$/.test(c.name));
  const columns = p.columns.filter((c) => chosen.includes(c) || more.slice(0, 3).includes(c));
  return `${columns.map((c) => cell(c.name)).join(",")}\n${columns.map((c) => cell(sample(c, p.kind))).join(",")}\n`;
}
