// The reader of CSV, by itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cells, row } from "../src/pages/provisioning/csv";
import { Sheet } from "../src/pages/provisioning/sheet";
import { cut } from "./cut";

test("cuts rows as RFC 4180 and the service have it", () => {
  const f = (text: string, ...want: string[]) => {
    for (const step of [1, 3, 1000])
      assert.deepEqual(
        cut(text, step).map((r) => `${r.line}${r.broken ? "!" : ":"}${r.text}`),
        want,
      );
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
  const f = (text: string, ...want: string[]) => assert.deepEqual(cells(text), want);
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
    assert.deepEqual(cells(text), list);
    assert.equal(cut(`h\n${text}\n`).length, 2); // never taken for a blank line
  }
});

test("a sheet keeps the file and sends what was changed", async () => {
  const read = await Sheet.read("t", 'name,view,x\na,MAIN,1\n\n"b\nb",MAIN,2\nc,MAIN,3\n');
  if (!read) throw new Error("no sheet");
  assert.deepEqual([read.count, read.line(0), read.line(1), read.line(2)], [3, 2, 4, 6]);
  const s = read.set(1, ["b,b", "MAIN", ""]).leaveOut(0).add({ name: "d", view: "", colour: "#112233" });
  assert.equal(read.raw(1), '"b\nb",MAIN,2'); // the first one is as it was
  assert.deepEqual(s.piece(0, s.count), {
    csv: 'name,view,x,colour\n"b,b",MAIN,\nc,MAIN,3\nd,,,#112233\n',
    rows: [1, 2, 3],
  });
  const b = await s.body();
  assert.equal(await b.csv.text(), s.piece(0, s.count).csv);
  assert.deepEqual([b.rows(1), b.rows(2), b.rows(3)], [1, 2, 3]);
  assert.equal(s.restore(0).raw(0), "a,MAIN,1");
  assert.equal(s.rename(2, null).piece(2, 4).csv, "name,view,colour\nc,MAIN\nd,,#112233\n");
  assert.equal(s.rename(2, "width").take([2]), "name,view,width,colour\nc,MAIN,3\n");
});

test("cuts 50 MB without holding the page up", async () => {
  const text = `name,view,note\n${'server 1234,MAIN,"a note, with a comma"\n'.repeat(1_250_000)}`;
  assert.ok(text.length > 50_000_000);
  let slices = 0;
  const s = await Sheet.read("big", text, () => slices++);
  assert.equal(s?.count, 1_250_000);
  assert.deepEqual(s?.cells(1_249_999), ["server 1234", "MAIN", "a note, with a comma"]);
  assert.ok(slices > 40); // the page can do something else between two of them
});
