package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belfry"
)

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

// numberText reports whether a cell can stand in JSON without quotes.
func numberText(c string) ([]byte, bool) {
	var n json.Number
	d := json.NewDecoder(strings.NewReader(c))
	ok := c != "" && (c[0] == '-' || c[0]-'0' <= 9) && d.Decode(&n) == nil && n.String() == c
	return []byte(c), ok
}

// chunks reads a body and prints what came of it, in the order of names so that the order of columns does not matter.
func (b *bench) chunks(t *testing.T, body string, format belfry.Format) string {
	t.Helper()
	r, err := b.newSendBody(b.Who.Scope, strings.NewReader(body), Options{Format: format})
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
	for _, o := range c.undecided.rows {
		fmt.Fprintf(&out, "open %d %d %d %q\n", o.row, o.kind, o.slot, namedCells(c.layout, c.undecided.cells(&o)))
	}
	for _, e := range c.rejected.list {
		fmt.Fprintln(&out, "rejected", e.Row, e.Column, e.Code, e.Message)
	}
	return out.String()
}

func namedCells(l *layout, fields [][]byte) map[string]string {
	values := map[string]string{}
	for i, f := range fields {
		if len(f) > 0 {
			values[l.names[i]] = string(f)
		}
	}
	return values
}
