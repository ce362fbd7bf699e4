// The reader of CSV, by itself and against the service: a row counted here must be the row the service speaks of.
import { Cutter, cells, row } from "../src/pages/provisioning/csv";
import { Sheet } from "../src/pages/provisioning/sheet";
import { expect, test } from "./service";

interface Cut {
  line: number;
  text: string;
  broken: boolean;
}

/** cut reads a text in steps of a few characters, to meet every boundary. */
function cut(text: string, step = 3): Cut[] {
  const c = new Cutter(text);
  for (let until = step; c.cut(until); until += step);
  const p = c.places;
  return Array.from({ length: p.count }, (_, i) => ({
    line: p.line[i] ?? 0,
    text: text.slice(p.from[i], p.to[i]),
    broken: p.broken.has(i),
  }));
}

test("cuts rows as RFC 4180 and the service have it", () => {
  const f = (text: string, ...want: string[]) => {
    for (const step of [1, 3, 1000])
      expect(cut(text, step).map((r) => `${r.line}${r.broken ? "!" : ":"}${r.text}`)).toEqual(want);
  };
  f("");
  f("\n\n \t\n");
  f("a,b", "1:a,b");
  f("a,b\n1,2\n", "1:a,b", "2:1,2");
  f("\ufeffa\r\n1\r\n", "1:a", "2:1"); // byte order mark, CRLF
  f("a\r", "1:a"); // a carriage return as the last of all
  f("a\n1\r2\n", "1:a", "2:1\r2"); // elsewhere it is data
  f("a\n\n  \n1\n", "1:a", "4:1"); // blank lines count as lines
  f('a,b\n"x\ny",2\n3,4\n', "1:a,b", '2:"x\ny",2', "4:3,4");
  f('a\n"x\r\n\r\ny"\r\n3\r\n', "1:a", '2:"x\r\n\r\ny"', "5:3");
  f('a\n"say ""hi"""\n3', "1:a", '2:"say ""hi"""', "3:3");
  f('a\n""\n,\n', "1:a", '2:""', "3:,");
  f('a\nx"y\n3\n', "1:a", '2!x"y', "3:3"); // a bare quote
  f('a\n"x\n3\n', "1:a", '2!"x', "3:3"); // never closed: costs its line
  f('a\n"x\n3\nz"y\n4', "1:a", '2!"x', "3:3", '4!z"y', "5:4"); // closed by a stray one: costs both lines
  f('a\n"x" \n3', "1:a", '2!"x" ', "3:3"); // text behind the quote
  f('a\n "x"\n3', "1:a", '2! "x"', "3:3"); // a blank before it
  f('"a"\n1', '1:"a"', "2:1");
});

test("cuts cells and writes them again", () => {
  const f = (text: string, ...want: string[]) => expect(cells(text)).toEqual(want);
  f("", "");
  f("a", "a");
  f("a,,c,", "a", "", "c", "");
  f('"a,b",c', "a,b", "c");
  f('"a\nb","say ""hi"""', "a\nb", 'say "hi"');
  f('"",x', "", "x");
  f('x,"y"', "x", "y");
  f(" a , b ", " a ", " b ");
  for (const list of [["a"], [""], [" "], ["a,b", 'c"d', "e\nf", "g\r\nh", ""], ["", ""], ["<b>", "اسم", "🔔"]]) {
    const text = row(list);
    expect(cells(text)).toEqual(list);
    expect(cut(`h\n${text}\n`)).toHaveLength(2); // never taken for a blank line
  }
});

test("a sheet keeps the file and sends what was changed", async () => {
  const read = await Sheet.read("t", 'name,view,x\na,MAIN,1\n\n"b\nb",MAIN,2\nc,MAIN,3\n');
  if (!read) throw new Error("no sheet");
  expect([read.count, read.line(0), read.line(1), read.line(2)]).toEqual([3, 2, 4, 6]);
  const s = read.set(1, ["b,b", "MAIN", ""]).leaveOut(0).add({ name: "d", view: "", colour: "#112233" });
  expect(read.raw(1)).toBe('"b\nb",MAIN,2'); // the first one is as it was
  expect(s.piece(0, s.count)).toEqual({
    csv: 'name,view,x,colour\n"b,b",MAIN,\nc,MAIN,3\nd,,,#112233\n',
    rows: [1, 2, 3],
  });
  const b = await s.body();
  expect(await b.csv.text()).toBe(s.piece(0, s.count).csv);
  expect([b.rows(1), b.rows(2), b.rows(3)]).toEqual([1, 2, 3]);
  expect(s.restore(0).raw(0)).toBe("a,MAIN,1");
  expect(s.rename(2, null).piece(2, 4).csv).toBe("name,view,colour\nc,MAIN\nd,,#112233\n");
  expect(s.rename(2, "width").take([2])).toBe("name,view,width,colour\nc,MAIN,3\n");
});

test("counts rows and lines as the service does", async ({ service }) => {
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

test("cuts 50 MB without holding the page up", async () => {
  const text = `name,view,note\n${'server 1234,MAIN,"a note, with a comma"\n'.repeat(1_250_000)}`;
  expect(text.length).toBeGreaterThan(50_000_000);
  let slices = 0;
  const began = performance.now();
  const s = await Sheet.read("big", text, () => slices++);
  console.log(`50 MB, ${s?.count} rows: ${Math.round(performance.now() - began)} ms in ${slices + 1} slices`);
  expect(s?.count).toBe(1_250_000);
  expect(s?.cells(1_249_999)).toEqual(["server 1234", "MAIN", "a note, with a comma"]);
  expect(slices).toBeGreaterThan(40); // the page can do something else between two of them
});
