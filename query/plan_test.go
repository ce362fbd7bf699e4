package query_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
	"belfry/store/duck/dialect"
)

func plan(t testing.TB, cat *catalog.Catalog, text string) *query.Plan {
	t.Helper()
	c := querytest.Case{Query: text, Options: query.Options{Customer: querytest.Customer, Now: querytest.Now}}
	p, err := c.Plan(cat)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func TestPlanNeedsCustomer(t *testing.T) {
	s, err := query.Parse("SELECT * FROM objectstatus")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := query.Check(s, load(t), query.Options{Now: querytest.Now}); err == nil {
		t.Errorf("a plan without customer: %v", p)
	}
	p := plan(t, load(t), "SELECT id FROM events LIMIT 1")
	p.Customer = 0
	if s, err := query.SQL(p, dialect.New("item"), nil); err == nil {
		t.Errorf("a statement without customer: %s", s.Text)
	}
}

func TestPlansCompare(t *testing.T) {
	cat := load(t)
	text := "SELECT object, i1 FROM objectdata WHERE timestamp >= 'NOW-1HOUR' AND (i1 >= 5 OR NOT object IN ('a', 'b')) ORDER BY i1"
	if a, b := plan(t, cat, text), plan(t, cat, text); !reflect.DeepEqual(a, b) || a.String() != b.String() {
		t.Errorf("%v\n%v", a, b)
	}
	if a, b := plan(t, cat, text), plan(t, cat, text+" DESC"); reflect.DeepEqual(a, b) {
		t.Errorf("two different queries have one plan: %v", a)
	}
	p := plan(t, cat, text)
	if strings.Contains(p.Explain(), "customer") || !strings.Contains(p.String(), "customer") {
		t.Errorf("the number of the customer is shown to clients, or to nobody:\n%s", p.Explain())
	}
}

func TestRows(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "100000": 100000, "0": 0, "-1": 0, "100001": 0, "all": 0, "": 0, "1e3": 0, "10 ": 0} {
		n, err := query.ParseRows(text)
		if n != want || (err == nil) != (want > 0) || err != nil && belfry.CodeOf(err) != belfry.BadParameter {
			t.Errorf("rows=%q is %d, %v", text, n, err)
		}
	}
}

// names finds items by (resource, object), in the order of a list.
type names struct {
	query.ItemNames
	list [][2]string
}

func (n names) Items(_ context.Context, _ belfry.Scope, m query.ItemMatch) (ids []belfry.ID, known bool, err error) {
	for i, item := range n.list {
		if (m.Resource == nil || *m.Resource == item[0]) && (m.Object == nil || *m.Object == item[1]) && m.Class == nil && m.View == nil {
			ids = append(ids, belfry.ID(i+1))
		}
	}
	slices.Reverse(ids) // the plan sorts them
	return ids, true, nil
}

func (n names) Places(belfry.Scope) (places, tops []belfry.ID) { return nil, nil }

func TestResolve(t *testing.T) {
	cat := load(t)
	known := names{list: [][2]string{{"web01", "cpu"}, {"web01", "disk"}, {"web02", "cpu"}, {"web01", "cpu"}}}
	f := func(where string, want []belfry.ID, sql string) {
		t.Helper()
		p := plan(t, cat, "SELECT id FROM objectdata WHERE "+where+" LIMIT 1")
		p.Resolve(t.Context(), known)
		if p.ItemsKnown != (want != nil) || !slices.Equal(p.Items, want) {
			t.Errorf("%s: items %v (%v), want %v", where, p.Items, p.ItemsKnown, want)
		}
		s, err := query.SQL(p, dialect.New("item"), tables(p.Collection)[:1])
		if err != nil || !strings.Contains(s.Text, sql) {
			t.Errorf("%s: %v\n%s\nwant %s", where, err, s.Text, sql)
		}
	}
	f("object='cpu'", []belfry.ID{1, 3, 4}, `"customer" = 1 AND "item" IN (1, 3, 4)`+"\n")
	f("object='cpu' AND resource='web01' AND i1 >= 5", []belfry.ID{1, 4}, `"item" IN (1, 4) AND "i1" >= $1`)
	f("resource='none'", []belfry.ID{}, "WHERE 1 = 0")
	f("object='cpu' AND object='disk'", []belfry.ID{1, 3, 4}, `"item" IN (1, 3, 4) AND "item" IN (SELECT "id"`)
	f("object='cpu' OR resource='web01'", nil, `("item" IN (SELECT`)
	f("NOT object='cpu'", nil, `NOT COALESCE("item" IN (SELECT`)
	f("object >= 'cpu'", nil, `"object" >= $1`)

	many := names{list: make([][2]string, 30_000)}
	for i := range many.list {
		many.list[i] = [2]string{"web01", "cpu"}
	}
	p := plan(t, cat, "SELECT id FROM objectdata WHERE object='cpu' LIMIT 1")
	p.Resolve(t.Context(), many)
	if s, err := query.SQL(p, dialect.New("item"), tables(p.Collection)); err != nil || len(s.Text) > 1000 {
		t.Errorf("30000 items are listed one by one in %d bytes (%v)", len(s.Text), err)
	}
}

// TestNoTextOfClients puts random marks wherever a query accepts text and searches the statement for them.
func TestNoTextOfClients(t *testing.T) {
	cat, r := load(t), rand.New(rand.NewPCG(1, 2))
	mark := func() string {
		b := []byte("zq")
		for range 8 {
			b = append(b, "abcdefghij'\"`;-$"[r.IntN(16)])
		}
		return string(b)
	}
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	name := func(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }
	for range 500 {
		text := fmt.Sprintf("SELECT object AS %s, i2, period FROM objectdata WHERE object = %s AND (i2 <> %s OR host IN (%s, %s)) AND NOT class < %s ORDER BY i2 LIMIT 3",
			name(mark()), quote(mark()), quote(mark()), quote(mark()), quote(mark()), quote(mark()))
		p := plan(t, cat, text)
		s, err := query.SQL(p, dialect.New("item"), tables(p.Collection))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s.Text, "zq") {
			t.Fatalf("%s\n%s", text, s.Text)
		}
		if texts := slices.DeleteFunc(slices.Clone(s.Args), func(a any) bool { _, ok := a.(string); return !ok }); len(texts) != 5 {
			t.Fatalf("%s\n%v", text, s.Args)
		}
	}
}

func TestNoTables(t *testing.T) {
	cat := load(t)
	f := func(text, want string) {
		t.Helper()
		s, err := query.SQL(plan(t, cat, text), dialect.New("item"), nil)
		if err != nil || s.Text != want || len(s.Args) != 0 {
			t.Errorf("%s: %v\n%s %v\nwant\n%s", text, err, s.Text, s.Args, want)
		}
	}
	f("SELECT object, i1, id, timestamp FROM objectdata WHERE i1 >= 5 ORDER BY object LIMIT 1",
		"SELECT CAST(NULL AS VARCHAR), CAST(NULL AS DOUBLE), CAST(NULL AS VARCHAR), CAST(NULL AS UBIGINT), CAST(NULL AS BIGINT)\nWHERE 1 = 0")
	f("SELECT COUNT(*) FROM events WHERE timestamp >= 'NOW-1DAY'",
		"SELECT g.\"g0\"\nFROM (SELECT COUNT(*) AS \"g0\"\nFROM (\nSELECT 1 WHERE 1 = 0\n) AS q) AS g")
	f("SELECT object, i1, COUNT(*) FROM objectdata WHERE timestamp >= 'NOW-1DAY' GROUP BY object, i1",
		"SELECT CAST(NULL AS VARCHAR), CAST(NULL AS DOUBLE), CAST(NULL AS VARCHAR), CAST(NULL AS BIGINT)\nWHERE 1 = 0")
}

func TestByTime(t *testing.T) {
	cat := load(t)
	f := func(text string, wantDesc, wantOK bool) {
		t.Helper()
		if desc, ok := plan(t, cat, text).ByTime(); desc != wantDesc || ok != wantOK {
			t.Errorf("%s: %v, %v", text, desc, ok)
		}
	}
	f("SELECT id FROM events LIMIT 1", true, true)
	f("SELECT id FROM events ORDER BY timestamp, status LIMIT 1", false, true)
	f("SELECT id FROM events ORDER BY status, timestamp LIMIT 1", false, false)
	f("SELECT COUNT(*) FROM events WHERE timestamp >= 'NOW'", false, false)
}

// cells is a row of a result: int64, uint64, float64, string or nil.
type cells []any

func (c cells) held() (h query.Cells) {
	h.Rows = 1
	for _, v := range c {
		col := query.CellColumn{Words: []uint64{0}, Texts: []string{""}, Null: []bool{v == nil}}
		switch v := v.(type) {
		case int64:
			col.Words[0] = uint64(v)
		case uint64:
			col.Words[0] = v
		case float64:
			col.Words[0], col.Float = math.Float64bits(v), true
		case string:
			col.Texts[0], col.IsText = v, true
		}
		h.Columns = append(h.Columns, col)
	}
	return h
}

func TestStatementRow(t *testing.T) {
	p := plan(t, load(t), "SELECT id, timestamp, object, i1, i2, i3, period, i1_count FROM objectdata LIMIT 1")
	s, err := query.SQL(p, dialect.New("item"), tables(p.Collection))
	if err != nil {
		t.Fatal(err)
	}
	raw := cells{uint64(10), int64(1_000_000), "cpu", 1.5, nil, nil, "ok", nil, nil, "raw", int64(3)}
	row, err := (&query.HeldRows{Statement: s, Cells: raw.held()}).Next()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range row {
		got = append(got, v.String())
	}
	if want := "000000000000000a|1970-01-01T00:00:01.000000Z|cpu|1.5|ok||raw|3"; strings.Join(got, "|") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, "|"), want)
	}
	for _, wrong := range []cells{raw[:5], {"text", int64(1), "cpu", 1.5, nil, nil, nil, nil, nil, "raw", nil}, {uint64(1), int64(1), 5, 1.5, nil, nil, nil, nil, nil, "raw", nil}} {
		if _, err := (&query.HeldRows{Statement: s, Cells: wrong.held()}).Next(); err == nil {
			t.Errorf("%v is taken for a row", wrong)
		}
	}
}

func TestPart(t *testing.T) {
	f := func(text, sep string, n int, want string) {
		t.Helper()
		if got := query.Part(text, sep, n); got != want {
			t.Errorf("part %d of %q at %q is %q, want %q", n, text, sep, got, want)
		}
	}
	f("a;b;c", ";", 1, "a")
	f("a;b;c", ";", 3, "c")
	f("a;b;c", ";", 4, "")
	f("a;;c", ";", 2, "")
	f("a||b|c", "||", 2, "b|c")
	f("a\tb", "", 2, "b")
	f("", ";", 1, "")
}

// TestRandom runs random queries on Eval and checks the rules that hold for all answers.
func TestRandom(t *testing.T) {
	cat := load(t)
	data, err := querytest.Data(os.DirFS("testdata"), cat)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for seed := range uint64(3000) {
		text := querytest.Random(rand.New(rand.NewPCG(seed, 7)))
		p := plan(t, cat, text)
		all := *p
		all.Limit, all.Offset = query.MaxRows, 0
		part, whole := eval(t, p, rowsOf(data[p.Collection.Name])), eval(t, &all, shuffled(seed, data[p.Collection.Name]))
		want := whole[min(p.Offset, len(whole)):]
		want = want[:min(p.Limit+1, len(want))]
		if !slices.Equal(part, want) {
			t.Fatalf("%s\nthe part is not a part of the whole, or the order of the rows matters\ngot  %v\nwant %v", text, part, want)
		}
		n := matches(p, data[p.Collection.Name])
		if p.Latest > 0 {
			n = min(n, p.Latest)
		}
		if p.Grouping == nil && p.Period == "" && n != len(whole) {
			t.Fatalf("%s: %d rows match, %d come", text, n, len(whole))
		}
		found += len(part)
	}
	if found < 1000 {
		t.Errorf("3000 random queries found %d rows in all", found)
	}
}

// TestManyCalls: the width of a group is limited.
func TestManyCalls(t *testing.T) {
	text := "SELECT COUNT(*)"
	for i := range query.MaxCalls {
		text += fmt.Sprintf(", PERCENTILE(i1, %d.%d)", i%100, i/100)
	}
	c := querytest.Case{Query: text + " FROM objectstatus", Options: query.Options{Customer: 1, Now: querytest.Now}}
	if _, err := c.Plan(load(t)); belfry.CodeOf(err) != belfry.BadQuery || !strings.Contains(err.Error(), "at most 1000") {
		t.Error(err)
	}
}

func matches(p *query.Plan, rows []querytest.Row) (n int) {
	for _, r := range rows {
		if p.Matches(r) {
			n++
		}
	}
	return n
}

func shuffled(seed uint64, rows []querytest.Row) iter.Seq[query.Row] {
	rows = slices.Clone(rows)
	r := rand.New(rand.NewPCG(seed, 8))
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rowsOf(rows)
}

// eval returns each row as one text, without absent values.
func eval(t *testing.T, p *query.Plan, rows iter.Seq[query.Row]) (lines []string) {
	t.Helper()
	answer, err := query.Eval(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := answer.Next()
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		line := ""
		for i, v := range row {
			if v.Type != belfry.AbsentValue {
				if v.Type == belfry.NumberValue { // sums depend on the order of the rows, in their last digits
					v.Num, _ = strconv.ParseFloat(strconv.FormatFloat(v.Num, 'g', 10, 64), 64)
				}
				line += answer.Columns()[i].Name + "=" + v.String() + " "
			}
		}
		lines = append(lines, line)
	}
}

func FuzzCheck(f *testing.F) {
	cat := load(f)
	data, err := querytest.Data(os.DirFS("testdata"), cat)
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(20) {
		f.Add(querytest.Random(rand.New(rand.NewPCG(seed, 9))))
	}
	f.Add("SELECT i2, TIMEBUCKET(timestamp, '1w'), LAST(string2) FROM objectdata WHERE timestamp >= 'NOW' GROUP BY i2, TIMEBUCKET(timestamp, '1w') HAVING i2 <> 'x'")
	f.Add("SELECT c2, c9 FROM objectlog WHERE c1 IS NULL AND id > 'ffffffffffffffff' LIMIT 5")
	f.Add("SELECT facility FROM syslog WHERE facility >= -9223372036854775809 OR severity < 1e300 LIMIT 1")
	f.Fuzz(func(t *testing.T, text string) {
		c := querytest.Case{Query: text, Options: query.Options{Customer: querytest.Customer, Now: querytest.Now}}
		p, err := c.Plan(cat)
		if err != nil {
			if code := belfry.CodeOf(err); code != belfry.BadQuery && code != belfry.TimeSpanRequired {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if _, err := query.SQL(p, dialect.New("item"), tables(p.Collection)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		eval(t, p, rowsOf(data[p.Collection.Name]))
	})
}

// TestWholeSums: sums of integers lose nothing before they are rounded.
func TestWholeSums(t *testing.T) {
	p := plan(t, load(t), "SELECT SUM(facility) FROM syslog WHERE timestamp >= 'NOW-1DAY'")
	f := func(want string, numbers ...int64) {
		t.Helper()
		var rows []querytest.Row
		for i, n := range numbers {
			rows = append(rows, querytest.Row{
				"id":        belfry.Value{Type: belfry.IDValue, Int: int64(i + 1)},
				"timestamp": belfry.Value{Type: belfry.TimeValue, Int: int64(querytest.Now)},
				"facility":  belfry.Value{Type: belfry.IntValue, Int: n},
			})
		}
		if got := eval(t, p, rowsOf(rows)); len(got) != 1 || got[0] != "SUM(facility)="+want+" " {
			t.Errorf("the sum of %v is %v, not %s", numbers, got, want)
		}
	}
	f("1", 1<<60+1, -1<<60)
	f("-1", -1<<60-1, 1<<60)
	f("-1", -1)
	f("0", -1, 1)
	f("18446744070000000000", math.MaxInt64, math.MaxInt64, 2)
	f("-18446744070000000000", math.MinInt64, math.MinInt64)
	f("-2", math.MinInt64, math.MinInt64, math.MaxInt64, math.MaxInt64)
}
