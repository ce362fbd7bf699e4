package rowfmt

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"belfry"
)

const testMaxRow = 1 << 20

// readAll returns every row as "line: field|field", every row error as "line! message", and at the end, unless the body
// ended well, "error". A field shows as in Go, without its outer quotes.
func readAll(r io.Reader, maxRow int) []string {
	c := NewCSV(r, maxRow)
	all := []string{}
	for {
		fields, line, err := c.Next()
		var bad Fault
		switch {
		case errors.As(err, &bad):
			all = append(all, fmt.Sprintf("%d! %s", line, bad.Error()))
		case err == io.EOF:
			return all
		case err != nil:
			return append(all, "error")
		default:
			all = append(all, fmt.Sprintf("%d: %s", line, show(fields)))
		}
	}
}

func show(fields [][]byte) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('|')
		}
		q := fmt.Sprintf("%q", f)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// brokenOff is a body that arrives up to the end of text and then fails.
func brokenOff(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))
}

// checkRead compares what is read with want, in which a row error stands as "line!" with the start of its message. The
// size of the pieces in which the body arrives must not matter.
func checkRead(t *testing.T, r func() io.Reader, maxRow int, want ...string) {
	t.Helper()
	whole := readAll(r(), maxRow)
	same := slices.EqualFunc(whole, want, func(got, want string) bool {
		return got == want || strings.Contains(want, "!") && strings.HasPrefix(got, want)
	})
	if !same {
		t.Errorf("got:\n  %s\nwant:\n  %s", strings.Join(whole, "\n  "), strings.Join(want, "\n  "))
	}
	if bytewise := readAll(iotest.OneByteReader(r()), maxRow); !slices.Equal(bytewise, whole) {
		t.Errorf("byte by byte:\n  %s\nat once:\n  %s", strings.Join(bytewise, "\n  "), strings.Join(whole, "\n  "))
	}
}

func TestCSV(t *testing.T) {
	f := func(body string, want ...string) {
		t.Helper()
		checkRead(t, func() io.Reader { return strings.NewReader(body) }, testMaxRow, want...)
	}
	// Plain rows.
	f("")
	f("a,b,c\n1,2,3\n", "1: a|b|c", "2: 1|2|3")
	f("a,b,c\r\n1,2,3\r\n", "1: a|b|c", "2: 1|2|3")
	f("a,b,c\n1,2,3", "1: a|b|c", "2: 1|2|3")
	f("a,b,c\r\n1,2,3\r", "1: a|b|c", "2: 1|2|3")
	f("a,b,c\n1\n1,2,3,,\n,,\n", "1: a|b|c", "2: 1", "3: 1|2|3||", "4: ||")
	f("data,-1,-2.5,-,--,-\n", "1: data|-1|-2.5|-|--|-")
	f("a, b ,c\n", "1: a| b |c")
	f("ab\x00,\x01\n", `1: ab\x00|\x01`)
	f("a\rb,c\r\r\n", `1: a\rb|c\r`)
	f("ü,日本,🙂\n", "1: ü|日本|🙂")

	// Byte order marks.
	f("\xef\xbb\xbfa,b\n1,2\n", "1: a|b", "2: 1|2")
	f("\xef\xbb\xbf\"a\",b\n", "1: a|b")
	f("\xef\xbb\xbf")
	f("a\n\xef\xbb\xbfb\n", "1: a", `2: \ufeffb`)
	f("\xff\xfea\x00,\x00b\x00\n\x00", "error")
	f("\xfe\xff\x00a\x00,", "error")
	f("a\x00,\x00b\x00\n\x00", "error")
	f("\x00a\x00,\x00b\x00\n", "error")

	// Blank lines.
	f("\n\r\n  \n\t\r\na\n\n\nb\n \n", "5: a", "8: b")
	f("\"\"\n\" \"\n", "1: ", "2:  ")
	f("  ")

	// Quotes.
	f(`"a","b"`+"\n"+`"1",2,"3"`+"\r\n", "1: a|b", "2: 1|2|3")
	f(`"a,b",c,"d ""e"" f",""""`, `1: a,b|c|d \"e\" f|\"`)
	f(`"","",`+"\n", "1: ||")
	f("\"a\nb\",c\nd\n", `1: a\nb|c`, "3: d")
	f("x,\"a\r\n\r\n\"\"b\",\"c\n\"\r\nd\n", `1: x|a\r\n\r\n\"b|c\n`, "5: d")
	f("\"a\n\"", `1: a\n`)

	// A bad row leaves its neighbours alone.
	f("a\nb,\xff,c\nd\n", "1: a", "2! field 2 is not valid UTF-8 at its byte 0xff", "3: d")
	f("a\n\"b\n\xe9\",c\nd\n", "1: a", "2! field 1 is not valid UTF-8", "4: d")
	f("a\nb\xc3", "1: a", "2! field 1 is not valid UTF-8")
	f("a\xc3,\xa4b\nc\n", "1! field 1 is not valid UTF-8", "2: c")
	f("a\nb,c\"d,e\nf\n", "1: a", "2! field 2 has a quote inside", "3: f")
	f("a\nb, \"c\"\nd\n", "1: a", "2! field 2 has a quote inside", "3: d")
	f("a\nb,\"c\"d,e\nf\n", "1: a", "2! field 2 continues after its closing quote", "3: f")
	f("a\nb,\"c\"\rd\nf\n", "1: a", "2! field 2 continues", "3: f")
	f("\"a\nb\",c\"\nd\n", "1! field 2 has a quote inside", "3: d")

	// Unclosed quotes cost the line on which they open.
	f("a\nb,\"c,1\nd,2\ne,3\n", "1: a", "2! the quote that opens field 2 is not closed before the end", "3: d|2", "4: e|3")
	f("a\nb,\"c", "1: a", "2! the quote that opens field 2 is not closed before the end")
	f("a\nb,\"c\"\"", "1: a", "2! the quote that opens field 2 is not closed before the end")
	f("a\nb,\"c,1\nd,\"e\",2\nf\n", "1: a", "2! the quote that opens field 2 on line 2", "3: d|e|2", "4: f")
	f("\"a\nb\",\"c\nd\n", "1! the quote that opens field 2 is not closed", "3: d")
	f("\"a\n\"b\n\"c\nd\n", "1! the quote that opens field 1 on line 1 is not closed there, and the next single quote, on line 2,",
		"2! ", "3! the quote that opens field 1 is not closed before", "4: d")
	f("\"\n\"", `1: \n`)
	f(`"`, "1! the quote")
}

func TestCSVMessageOfUTF16(t *testing.T) {
	c := NewCSV(strings.NewReader("\xff\xfea\x00\n\x00"), testMaxRow)
	for range 2 { // it does not go away
		_, _, err := c.Next()
		if belfry.CodeOf(err) != belfry.BadCSV || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("got %v, want %s with the remedy", err, belfry.BadCSV)
		}
	}
}

func TestCSVRowLimit(t *testing.T) {
	f := func(body string, want ...string) {
		t.Helper()
		checkRead(t, func() io.Reader { return strings.NewReader(body) }, 10, want...)
	}
	f("1234567890\r\n12345,7890\n\"23456789\"\n", "1: 1234567890", "2: 12345|7890", "3: 23456789")
	f("a\n12345678901\nb\n", "1: a", "2! the row is longer than the limit of 10 bytes", "3: b")
	f("a\n12345678901\r\nb\n", "1: a", "2! the row is longer", "3: b")
	f("a\n12345678901", "1: a", "2! the row is longer")
	f("a\n1234567890\r", "1: a", "2: 1234567890")
	f("a\n\"234567890\"\nb\n", "1: a", "2! the row is longer", "3: b")
	f("\"a\nb\",456789\nc\n", "1! the row is longer", "3: c")
	f("\"a\n\"\nc\n", `1: a\n`, "3: c")
	f("x,\"a\nb\nc\nd\ne\nf\n", "1! the quote that opens field 2 is not closed within the limit of a row",
		"2: b", "3: c", "4: d", "5: e", "6: f")
	f("x,\"a\nb\nc\nd\ne\"\nf\n", "1! the quote that opens field 2 is not closed within the limit of a row",
		"2: b", "3: c", "4: d", "5! field 1 has a quote inside", "6: f")

	// Far beyond the limit and the buffer, and with quotes in the part that is skipped.
	long := strings.Repeat("x\",\"y", 60_000)
	f("a\n"+long+"\nb\n"+long, "1: a", "2! the row is longer", "3: b", "4! the row is longer")
}

func TestCSVHoldsLittle(t *testing.T) {
	body := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(endless('x'), 8<<20), strings.NewReader("\nb\n"))
	c := NewCSV(body, testMaxRow)
	for _, want := range []string{"a", "", "b"} {
		fields, _, err := c.Next()
		if _, bad := err.(Fault); bad != (want == "") || !bad && string(fields[0]) != want {
			t.Fatalf("got %s, %v, want %q", show(fields), err, want)
		}
	}
	if limit := testMaxRow + 64<<10; len(c.buf) > limit {
		t.Errorf("the buffer has grown to %d bytes, want at most %d", len(c.buf), limit)
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestCSVManyFields(t *testing.T) {
	commas := strings.Repeat(",", maxFields)
	f := func(body, want string) {
		t.Helper()
		if got := readAll(strings.NewReader(body+"\nz\n"), testMaxRow); len(got) != 2 || !strings.HasPrefix(got[0], want) || got[1] != "2: z" {
			t.Errorf("got %.60q, want %q and the row after it", got, want)
		}
	}
	f(commas[1:], "1: |")
	f(commas, "1! the row has more than 65536 fields")
	f(`"a"`+commas, "1! the row has more than 65536 fields")
	f(`"`+commas+`"`, "1: ,")
	f(strings.Repeat(",", testMaxRow), "1! the row has more than 65536 fields")
}

// A body that is cut anywhere yields whole rows only, and says that it was cut.
func TestCSVBrokenOff(t *testing.T) {
	body := "\xef\xbb\xbftype,object,i1\r\ndata,cpu,12.5\n\"data\",\"a \"\"b\"\"\r\nc\",\"7\"\r\n\ndata,mem,3\r\n"
	all := readAll(strings.NewReader(body), testMaxRow)
	for cut := range len(body) + 1 {
		want := []string{}
		for _, row := range all {
			if start := rowEnd(body, row); start <= cut {
				want = append(want, row)
			}
		}
		checkRead(t, func() io.Reader { return brokenOff(body[:cut]) }, testMaxRow, append(want, "error")...)
	}
	// What follows an open quote may belong to it: nothing of it is a row.
	checkRead(t, func() io.Reader { return brokenOff("a\nb,\"c\nd\ne\n") }, testMaxRow, "1: a", "error")
	checkRead(t, func() io.Reader { return brokenOff("a\nb,\"c\nd\"x") }, testMaxRow, "1: a", "error")
	checkRead(t, func() io.Reader { return brokenOff("a\nb,c\"d") }, testMaxRow, "1: a", "error")
	checkRead(t, func() io.Reader { return brokenOff("a\n1234567") }, 5, "1: a", "2! the row is longer", "error")
}

// rowEnd finds the place in body behind the line end of a row of readAll.
func rowEnd(body, row string) int {
	ends := map[string]string{
		"1": "i1\r\n", "2": "12.5\n", "3": "\"7\"\r\n", "6": "mem,3\r\n",
	}
	line, _, _ := strings.Cut(row, ":")
	end, ok := ends[line]
	if !ok {
		panic("no row is expected on line " + line)
	}
	return strings.Index(body, end) + len(end)
}

// Rows that straddle the buffer and make it grow come out as they went in.
func TestCSVLargeRows(t *testing.T) {
	var body strings.Builder
	var want []string
	for i, size := range []int{10, 16 << 10, 5, 300 << 10, 256 << 10, 1, testMaxRow - 20, 100, testMaxRow - 20, 70 << 10} {
		text := strings.Repeat(string(rune('a'+i)), size)
		if i%2 == 0 {
			fmt.Fprintf(&body, "r,%s\r\n", text)
		} else {
			fmt.Fprintf(&body, "r,\"%s\"\n", text)
		}
		want = append(want, fmt.Sprintf("%d: r|%s", i+1, text))
	}
	for name, r := range map[string]io.Reader{
		"at once":  strings.NewReader(body.String()),
		"halves":   iotest.HalfReader(strings.NewReader(body.String())),
		"with EOF": iotest.DataErrReader(strings.NewReader(body.String())),
		"4 KiB":    pieces{strings.NewReader(body.String())},
	} {
		got := readAll(r, testMaxRow)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("%s: row %d of %d differs from what was sent, want %d rows", name, i+1, len(got), len(want))
			}
		}
	}
}

// pieces returns 4 KiB at most, as a network connection does.
type pieces struct{ r io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), 4<<10)]) }

func TestCSVReset(t *testing.T) {
	c := NewCSV(strings.NewReader("a\nb,\"c"), testMaxRow)
	for {
		if _, _, err := c.Next(); err == io.EOF {
			break
		}
	}
	c.Reset(strings.NewReader("\xef\xbb\xbfd,e\n"))
	fields, line, err := c.Next()
	if err != nil || line != 1 || show(fields) != "d|e" {
		t.Errorf("got %s on line %d, %v", show(fields), line, err)
	}
}

func TestCSVNoProgress(t *testing.T) {
	c := NewCSV(idle{}, testMaxRow)
	if _, _, err := c.Next(); err != io.ErrNoProgress {
		t.Errorf("got %v, want %v", err, io.ErrNoProgress)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestLooksSemicolon(t *testing.T) {
	f := func(header string, want bool) {
		t.Helper()
		fields, _, _ := NewCSV(strings.NewReader(header), testMaxRow).Next()
		if got := LooksSemicolon(fields); got != want {
			t.Errorf("%q: got %t", header, got)
		}
	}
	f("type;object;i1", true)
	f("type,object,i1", false)
	f("type", false)
	f("a;b,c", false)
}

func TestCSVAllocatesNothingPerRow(t *testing.T) {
	body := bytes.Repeat([]byte("data,web01,cpu,1.25\n\"data\",\"a \"\"b\"\"\",ü\n"), 1000)
	c := NewCSV(bytes.NewReader(body), testMaxRow)
	c.Next()
	c.Next()
	if n := testing.AllocsPerRun(500, func() { c.Next(); c.Next() }); n > 0.1 {
		t.Errorf("%v allocations for two rows", n)
	}
}

var blankLine = regexp.MustCompile(`(?m)^[ \t]+\r?$`)

// FuzzCSV holds the reader against encoding/csv where the two mean to agree, and against itself with the body in pieces
// and a low row limit.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "\xef\xbb\xbfa\r\n\"b \"\"c\"\"\r\nd\",e\r\n\r\nf", "a,\"b\nc\nd,\"e\"\n", "\"a\"x\nb\"\n\xff\n", "\xff\xfea\x00",
		"a\rb\r\r\n\r", "\"\n\"\"\n\"\"\",\n\"", " \n,\n\t\n", "12345678901234567890\n\"1234567890\n1234567890\"\nx\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, maxRow := range []int{testMaxRow, 16} {
			whole := readAll(strings.NewReader(body), maxRow)
			bytewise := readAll(iotest.OneByteReader(strings.NewReader(body)), maxRow)
			if !slices.Equal(whole, bytewise) {
				t.Fatalf("limit %d: at once %q, byte by byte %q", maxRow, whole, bytewise)
			}
			checkLines(t, body, whole)
		}
		if len(body) <= testMaxRow && utf8.ValidString(body) && !blankLine.MatchString(body) {
			compareWithStandard(t, strings.TrimPrefix(body, "\ufeff"))
		}
	})
}

// checkLines: rows start on lines that exist, each later than the one before.
func checkLines(t *testing.T, body string, rows []string) {
	t.Helper()
	last := 0
	for _, row := range rows {
		if row == "error" {
			return
		}
		var line int
		fmt.Sscan(row, &line)
		if line <= last || line > 1+strings.Count(body, "\n") {
			t.Fatalf("a row on line %d after one on line %d", line, last)
		}
		last = line
	}
}

func compareWithStandard(t *testing.T, body string) {
	t.Helper()
	std := csv.NewReader(strings.NewReader(body))
	std.FieldsPerRecord = -1
	want, wantErr := std.ReadAll()
	c := NewCSV(strings.NewReader(body), testMaxRow)
	c.begun = true // no guessing about UTF-16
	var got [][]string
	for {
		fields, _, err := c.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if wantErr == nil {
				t.Fatalf("got %v, encoding/csv gives %q", err, want)
			}
			return
		}
		var row []string
		for _, f := range fields {
			// encoding/csv changes line ends inside quotes; here they stay.
			row = append(row, strings.ReplaceAll(string(f), "\r\n", "\n"))
		}
		got = append(got, row)
	}
	if wantErr != nil {
		t.Fatalf("got %q, encoding/csv says %v", got, wantErr)
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("got %q, encoding/csv gives %q", got, want)
	}
}

func BenchmarkCSV(b *testing.B) {
	for name, row := range map[string]string{
		"plain":  "data,web01,cpu,1.25,17,3,0.125,99\n",
		"quoted": `"data","web01","cpu","1.25","17","3","0.125","99"` + "\n",
		"log":    "log,web01,app,\"2026-11-15 02:14:07 user \"\"anna\"\" opened page /start, 200 OK in 17 ms from 10.1.2.3\"\n",
	} {
		b.Run(name, func(b *testing.B) {
			const rows = 10_000
			body := []byte(strings.Repeat(row, rows))
			c := NewCSV(nil, testMaxRow)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				c.Reset(bytes.NewReader(body))
				n := 0
				for {
					_, _, err := c.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != rows {
					b.Fatalf("%d rows", n)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
