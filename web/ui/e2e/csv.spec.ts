// A row counted by the reader of CSV must be the row the service speaks of.
import { cut } from "../unit/cut";
import { expect, test } from "./service";

test("counts rows and lines as the service does", { tag: "@quick" }, async ({ service }) => {
  const pieces = ["a", "b,c", '"q"', '"x\ny"', '"x\r\ny",z', 'st"ray', '"open', "", " ", "\t", ",", '"a"b', "é🔔"];
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * n);
  };
  for (let round = 0; round < 40; round++) {
    let text = "name,view\n";
    for (let i = 0; i < 12; i++) text += (pieces[random(pieces.length)] ?? "") + (random(3) ? "\n" : "\r\n");
    const answer = await service.call("POST", "/api/provisioning/view?dryrun=true", text);
    const report = (await answer.json()) as { rows: number; errors: { row: number; line: number; code: string }[] };
    const mine = cut(text).slice(1);
    expect(mine.length, text).toBe(report.rows);
    for (const e of report.errors) expect(mine[e.row - 1]?.line, `row ${e.row} of\n${text}`).toBe(e.line);
    const unreadable = report.errors.filter((e) => e.code === "bad_row").map((e) => e.row);
    const broken = mine.flatMap((r, i) => (r.broken ? [i + 1] : []));
    for (const b of broken) expect(unreadable, text).toContain(b);
  }
});
