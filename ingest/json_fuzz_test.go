package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"belfry"
)

// FuzzJSONRows holds the reader against encoding/json, and against itself with the body in pieces and a low row limit.
func FuzzJSONRows(f *testing.F) {
	for _, s := range []string{
		`{"type":"data","object":"cpu","i1":12.5}` + "\n{}\n", `[{"type":"log","log":"a\"\\\/\b\f\n\r\tü\u00fc\ud83d\ude00"},{"i1":null}]`,
		"\xef\xbb\xbf[\n]\n", `[{"i1":01},{"i1":[{}]},true,"a",-1e5,{"i1":1,"I1 ":2}]`, `[{"i1":"\ud800"},{"i1":"` + "\xff" + `"}] x`,
		`[{"a":1}{"b":`, `[{"i1":]}`, "\xff\xfe[\x00]\x00", `{"i1":"123456789012345678901234567890"}` + "\n[[[[[[[[[[]]]]]]]]]]\n\n{}",
		`{"i2":-0.0E+10 , "İ1" : 0}` + "\r\n\t\r\n" + `{"log":"12345678\u0000` + "\x01" + `"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, format := range []belfry.Format{belfry.JSON, belfry.NDJSON} {
			for _, maxRow := range []int{testMaxRow, 16} {
				whole := readObjects(strings.NewReader(body), format, testLimits(maxRow))
				bytewise := readObjects(iotest.OneByteReader(strings.NewReader(body)), format, testLimits(maxRow))
				if !slices.Equal(whole, bytewise) {
					t.Fatalf("%s, limit %d: at once %q, byte by byte %q", format, maxRow, whole, bytewise)
				}
				checkHolds(t, body, format, maxRow)
			}
		}
		compareLines(t, body)
		compareArray(t, strings.TrimPrefix(body, "\ufeff"))
	})
}

// checkHolds: the buffers stay within their bounds, whatever is read.
func checkHolds(t *testing.T, body string, format belfry.Format, maxRow int) {
	t.Helper()
	j := newJSONReader(strings.NewReader(body), format, testLimits(maxRow))
	for rows := 0; ; rows++ {
		_, _, err := j.next()
		if _, bad := err.(rowFault); err != nil && !bad {
			break
		}
		if rows > len(body) {
			t.Fatal("more rows than bytes")
		}
	}
	if len(j.buf) > max(fullBuffer, maxRow+4<<10) || cap(j.text) > 4*max(maxRow, fullBuffer) || len(j.known) > maxKnown+115 || len(j.last) > 116 || len(j.fields) > 115 {
		t.Fatalf("it holds %d bytes of input, %d of text, %d names, %d fields", len(j.buf), cap(j.text), len(j.known), len(j.fields))
	}
}

func compareLines(t *testing.T, body string) {
	t.Helper()
	p := newObjectParser(testLimits(testMaxRow))
	for line := range strings.Lines(body) {
		compareRow(t, &p, strings.TrimSuffix(line, "\n"))
	}
}

func compareArray(t *testing.T, body string) {
	t.Helper()
	var rows []json.RawMessage
	valid := json.Unmarshal([]byte(body), &rows) == nil && rows != nil // null is no array
	j := newJSONReader(strings.NewReader(body), belfry.JSON, testLimits(testMaxRow))
	bad, n := false, 0
	for ; ; n++ {
		fields, _, err := j.next()
		if err == io.EOF {
			break
		}
		_, row := err.(rowFault)
		bad = bad || err != nil
		if !valid && !row && err != nil {
			return
		}
		if !valid {
			continue
		}
		if n >= len(rows) || err != nil && !row {
			t.Fatalf("%q: row %d: %v; encoding/json has %d", body, n+1, err, len(rows))
		}
		want, ok := standardRow(string(rows[n]))
		if got := named(j.layout, fields); ok != (err == nil) || ok && !maps.Equal(got, want) {
			t.Fatalf("%s: got %q, %v; want %q, %t", rows[n], got, err, want, ok)
		}
	}
	if valid && n != len(rows) || !valid && !bad {
		t.Fatalf("%q: got %d rows, encoding/json has %d (valid %t)", body, n, len(rows), valid)
	}
}

func compareRow(t *testing.T, p *objectParser, row string) {
	t.Helper()
	want, ok := standardRow(row)
	fields, err := p.parseAll([]byte(row))
	if got := named(p.layout, fields); ok != (err == nil) || ok && !maps.Equal(got, want) {
		t.Fatalf("%q: got %q, %v; want %q, %t", row, got, err, want, ok)
	}
	if err != nil {
		if e := err.(rowFault).refuse(); !utf8.ValidString(e.Message) || !utf8.ValidString(e.Column) || len(e.Message) > 700 {
			t.Fatalf("%q: the message %q", row, e.Message)
		}
	}
}

func named(l *layout, fields [][]byte) map[string]string {
	values := map[string]string{}
	for i, f := range fields {
		if len(f) > 0 {
			values[l.names[i]] = string(f)
		}
	}
	return values
}

// standardRow reads a row by way of encoding/json, and says whether it can be one.
func standardRow(row string) (values map[string]string, ok bool) {
	if !json.Valid([]byte(row)) || !utf8.ValidString(row) || hasLoneSurrogate(row) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(row))
	d.UseNumber()
	if open, _ := d.Token(); open != json.Delim('{') {
		return nil, false
	}
	values, seen := map[string]string{}, map[string]bool{}
	for d.More() {
		token, _ := d.Token()
		key := strings.ToLower(strings.TrimSpace(token.(string)))
		if seen[key] || !isSendColumn(key) {
			return nil, false
		}
		seen[key] = true
		value, _ := d.Token()
		text := ""
		switch v := value.(type) {
		case string:
			text = v
		case json.Number:
			text = v.String()
		case nil:
		default:
			return nil, false
		}
		if text != "" {
			values[key] = text
		}
	}
	return values, true
}

func isSendColumn(name string) bool {
	if slices.Contains(sendColumns, name) {
		return true
	}
	for n := 1; n <= 100; n++ {
		if name == "i"+strconv.Itoa(n) {
			return true
		}
	}
	return false
}

// hasLoneSurrogate looks at the escapes of valid JSON.
func hasLoneSurrogate(row string) bool {
	for i := 0; i < len(row); i++ {
		if row[i] != '\\' {
			continue
		}
		if i++; row[i] != 'u' {
			continue
		}
		first, _ := strconv.ParseUint(row[i+1:i+5], 16, 16)
		i += 4
		if !utf16.IsSurrogate(rune(first)) {
			continue
		}
		if len(row) < i+7 || row[i+1:i+3] != `\u` {
			return true
		}
		second, _ := strconv.ParseUint(row[i+3:i+7], 16, 16)
		if utf16.DecodeRune(rune(first), rune(second)) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// FuzzFormats sends the same table as CSV, as an array and as an object a line: what is read must be the same. Cells are
// separated by 0x1f and rows by 0x1e; columns says which of the columns the table has, beside type.
func FuzzFormats(f *testing.F) {
	b := newBench(f)
	b.provision(f, "r", "q")
	b.send(f, "type,resname,object,class,view,i1,i2\ndata,r,o,C,r,1,x\ndata,q,twin,C,q,1,x\ndata,r,twin,C,r,1,x\n", Options{})
	tables := []string{
		"data\x1fo\x1f1\x1e\x1edata\x1fo\x1f\x1edata\x1fo\x1fa\"b\x1edata\x1ftwin\x1f1e3\x1ecreateview", "log\x1fr\x1fo\x1fü\n\r\n,;\x00\x1elog\x1fr\x1f\x1f ",
		"data\x1fr\x1fo\x1f-0.0\x1f\x1f2026-11-15T02:00:00Z\x1f192.0.2.1\x1edata\x1fr\x1fnew\x1f\x1f1\x1f17\x1fx", "frob\x1edata\x1e\x1e",
	}
	for i, table := range tables {
		for _, columns := range []uint32{0x1ffff, 1<<1 | 1<<15, 3<<15 | 3, 1 | 2 | 1<<12, 1<<1 | 1<<16 | 1<<13 | 1<<15} {
			f.Add(table, columns, i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, table string, columns uint32, numbers bool) {
		header := []string{"type"}
		for i, name := range append(slices.Clone(sendColumns[1:]), "i1", "i2", "i100") {
			if columns&(1<<i) != 0 {
				header = append(header, name)
			}
		}
		rows := tableOf(strings.ToValidUTF8(table, "?"), len(header))
		want := b.chunks(t, csvOf(header, rows), belfry.CSV)
		for _, format := range []belfry.Format{belfry.JSON, belfry.NDJSON} {
			if got := b.chunks(t, jsonOf(header, rows, format, numbers), format); got != want {
				t.Fatalf("%s:\n%s\nCSV:\n%s", format, got, want)
			}
		}
	})
}

func tableOf(text string, columns int) (rows [][]string) {
	for row := range strings.SplitSeq(text, "\x1e") {
		cells := strings.Split(row, "\x1f")
		for len(cells) < columns {
			cells = append(cells, "")
		}
		rows = append(rows, cells[:columns])
	}
	return rows
}

func csvOf(header []string, rows [][]string) string {
	var b strings.Builder
	for _, row := range append([][]string{header}, rows...) {
		for i, c := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + strings.ReplaceAll(c, `"`, `""`) + `"`)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// jsonOf leaves out empty cells, except in the first row: there they fix the order of the columns.
func jsonOf(header []string, rows [][]string, format belfry.Format, numbers bool) string {
	var objects []string
	for i, row := range rows {
		var members []string
		for at, c := range row {
			value, _ := json.Marshal(c)
			if d, ok := numberText(c); ok && numbers {
				value = d
			}
			if c == "" {
				value = []byte("null")
			}
			if c != "" || i == 0 {
				members = append(members, strconv.Quote(header[at])+":"+string(value))
			}
		}
		objects = append(objects, "{"+strings.Join(members, ",")+"}")
	}
	if format == belfry.NDJSON {
		return strings.Join(objects, "\n")
	}
	return "[" + strings.Join(objects, ",\n") + "]"
}

// numberText tells whether a cell can stand in JSON without quotes.
func numberText(c string) ([]byte, bool) {
	var n json.Number
	d := json.NewDecoder(strings.NewReader(c))
	ok := c != "" && (c[0] == '-' || isDigit(c[0])) && d.Decode(&n) == nil && n.String() == c
	return []byte(c), ok
}

// chunks reads a body and prints what came of it, in the order of names so that the order of columns does not matter.
func (b *bench) chunks(t *testing.T, body string, format belfry.Format) string {
	t.Helper()
	r, err := b.newReader(b.who.Scope, strings.NewReader(body), format)
	if err != nil {
		t.Fatal(err)
	}
	c, err := readWhole(r, nil)
	if err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, c.rows, c.data.nodes, c.data.times, c.logs.nodes, c.logs.times, c.logs.sep, len(c.logs.text))
	for _, text := range c.logs.text {
		fmt.Fprintf(&out, "log %q\n", text)
	}
	columns := slices.Clone(c.data.columns)
	slices.SortFunc(columns, func(a, b valueColumn) int { return a.n - b.n })
	for _, col := range columns {
		if col.present || col.texts != nil {
			fmt.Fprintf(&out, "i%d %v %q\n", col.n, col.numbers, col.texts)
		}
	}
	for _, o := range slices.Concat(c.data.origins, c.logs.origins) {
		fmt.Fprintln(&out, "origin", o.row)
	}
	for _, o := range c.open.rows {
		fmt.Fprintf(&out, "open %d %d %d %q\n", o.row, o.kind, o.slot, named(c.layout, c.open.cells(&o)))
	}
	for _, e := range c.rejected.list {
		fmt.Fprintln(&out, "rejected", e.Row, e.Column, e.Code, e.Message)
	}
	return out.String()
}
