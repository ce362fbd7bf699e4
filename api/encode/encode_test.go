package encode

import (
	"encoding/csv"
	"io"
	"math"
	"strings"
	"testing"
	"unicode"

	"belfry"
	"belfry/query"
)

// table is rows in memory.
type table struct {
	names []string
	rows  [][]belfry.Value
}

func (t *table) Columns() (cols []query.Output) {
	for _, n := range t.names {
		cols = append(cols, query.Output{Name: n})
	}
	return cols
}

func (t *table) Next() ([]belfry.Value, error) {
	if len(t.rows) == 0 {
		return nil, io.EOF
	}
	row := t.rows[0]
	t.rows = t.rows[1:]
	return row, nil
}

func (t *table) Close() error { return nil }

func sample() *table {
	num := func(f float64) belfry.Value { return belfry.Value{Type: belfry.NumberValue, Num: f} }
	integer := func(t belfry.ValueType, n int64) belfry.Value { return belfry.Value{Type: t, Int: n} }
	text := func(s string) belfry.Value { return belfry.Value{Type: belfry.TextValue, Text: s} }
	return &table{
		names: []string{"id", "timestamp", "status", "i1", "ok", "n", `odd "name"`},
		rows: [][]belfry.Value{
			{integer(belfry.IDValue, 255), integer(belfry.TimeValue, 1), integer(belfry.StatusValue, int64(belfry.Unavailable)), num(12.5), integer(belfry.BoolValue, 1), integer(belfry.IntValue, -3), text("a,\"b\"\nc\u2028 <&> \xff")},
			{{}, {}, {}, num(1e-7), {}, {}, {}},
			{{}, {}, {}, num(math.MaxFloat64), {}, {}, text("plain")},
		},
	}
}

func TestFormats(t *testing.T) {
	f := func(format Format, limit int, want string) {
		t.Helper()
		var out strings.Builder
		if _, err := format.Write(&out, limit, sample(), nil); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format.MediaType, got, want)
		}
	}
	first := `{"id":"00000000000000ff","timestamp":"1970-01-01T00:00:00.000001Z","status":"-","i1":12.5,"ok":true,"n":-3,"odd \"name\"":"a,\"b\"\nc\u2028 <&> \ufffd"}`
	f(JSON, 1, `{"rows":[`+first+`],"count":1,"more":true}`+"\n")
	f(JSON, 3, `{"rows":[`+first+`,{"i1":1e-7},{"i1":1.7976931348623157e+308,"odd \"name\"":"plain"}],"count":3,"more":false}`+"\n")
	f(NDJSON, 2, first+"\n"+`{"i1":1e-7}`+"\n")
	f(CSV, 2, "id,timestamp,status,i1,ok,n,\"odd \"\"name\"\"\"\n"+
		"00000000000000ff,1970-01-01T00:00:00.000001Z,-,12.5,true,-3,\"a,\"\"b\"\"\nc\u2028 <&> \xff\"\n,,,1e-7,,,\n")
}

// TestCSVOneColumn: a row without a value is no empty line, which readers of CSV skip.
func TestCSVOneColumn(t *testing.T) {
	text := func(s string) []belfry.Value { return []belfry.Value{{Type: belfry.TextValue, Text: s}} }
	for name, format := range map[string]Format{"csv": CSV, "safe": SafeCSV} {
		rows := &table{names: []string{"note"}, rows: [][]belfry.Value{text("a"), {{}}, text(""), text("b"), {{}}}}
		var out strings.Builder
		if _, err := format.Write(&out, 10, rows, nil); err != nil {
			t.Fatal(err)
		}
		if want := "note\na\n\"\"\n\"\"\nb\n\"\"\n"; out.String() != want {
			t.Errorf("%s: %q, want %q", name, out.String(), want)
		}
		if all, err := csv.NewReader(strings.NewReader(out.String())).ReadAll(); err != nil || len(all) != 6 {
			t.Errorf("%s: a reader sees %q, %v", name, all, err)
		}
	}
}

// TestSafeCSVHidden: a formula is found behind every character that does not show, and on every line, whatever ends the one before.
func TestSafeCSVHidden(t *testing.T) {
	tables := []*unicode.RangeTable{unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, tables...) {
			continue
		}
		for _, text := range []string{string(r) + "=1", string(r) + " " + string(r) + "@x", "a;" + string(r) + "-x"} {
			if !strings.ContainsRune(escapeFormula(text), '\'') {
				t.Errorf("%q is let through", text)
			}
		}
	}
	for _, r := range "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029" {
		if text := "a" + string(r) + "=1"; escapeFormula(text) != "a"+string(r)+"'=1" {
			t.Errorf("%q becomes %q", text, escapeFormula(text))
		}
	}
	for _, r := range "\u00a0\u1680\u3000\u2028\u115f\u3164" { // found by somebody else
		if text := string(r) + "=1"; !strings.Contains(escapeFormula(text), "'") {
			t.Errorf("%q is let through", text)
		}
	}
}

// TestSafeCSV: with safe=true no cell that a client has sent is a formula, and everything else is as in plain CSV.
func TestSafeCSV(t *testing.T) {
	text := func(s string) belfry.Value { return belfry.Value{Type: belfry.TextValue, Text: s} }
	f := func(cell belfry.Value, want string) {
		t.Helper()
		for format, want := range map[Format]string{SafeCSV: want, CSV: cell.String()} {
			var out strings.Builder
			if _, err := format.Write(&out, 1, &table{names: []string{"a"}, rows: [][]belfry.Value{{cell}}}, nil); err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
			if err != nil || len(rows) != 2 || rows[1][0] != want {
				t.Errorf("%v of %q: %q, %v; want %q", format, cell.String(), rows, err, want)
			}
		}
	}
	f(text("=1+1"), "'=1+1")
	f(text("+SUM(A1)"), "'+SUM(A1)")
	f(text("-2+3"), "'-2+3")
	f(text("@SUM(A1)"), "'@SUM(A1)")
	f(text("\t=1"), "'\t'=1")
	f(text("\n=1"), "'\n'=1")
	f(text("\tx"), "'\tx")
	f(text("\ufeff=1"), "'\ufeff=1")
	f(text("\u200b\u200b@x"), "'\u200b\u200b@x")
	f(text("\u200bx"), "\u200bx")
	f(text("a;=1"), "a;'=1")
	f(text("a; \"=1\";-5;-x"), "a;' \"=1\";-5;'-x")
	f(text("a\n\ufeff+1+1"), "a\n'\ufeff+1+1")
	f(text(";"), ";")
	f(text("a;b=c"), "a;b=c")
	f(text("f(x) = -1; y"), "f(x) = -1; y")
	f(text(" =1"), "' =1")
	f(text(" -5"), " -5")
	f(text("a \u2028\u00a0=1"), "a \u2028'\u00a0=1")
	f(text("＝1"), "'＝1")
	f(text("-5"), "-5")
	f(text("+1.5e3"), "+1.5e3")
	f(text("-1e999"), "-1e999")
	f(text("-Inf"), "'-Inf")
	f(text("-"), "'-")
	f(text("a=b"), "a=b")
	f(text("'quoted"), "'quoted")
	f(text("x"), "x")
	f(belfry.Value{Type: belfry.NumberValue, Num: -5}, "-5")
	f(belfry.Value{Type: belfry.IntValue, Int: -3}, "-3")
	f(belfry.Value{Type: belfry.StatusValue, Int: int64(belfry.Unavailable)}, "-")
	var out strings.Builder
	if _, err := SafeCSV.Write(&out, 1, &table{names: []string{"=cmd()"}}, nil); err != nil || out.String() != "'=cmd()\n" {
		t.Errorf("the header is %q, %v", out.String(), err)
	}
}
