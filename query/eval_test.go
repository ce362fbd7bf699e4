package query

import (
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
)

type oneRow map[string]belfry.Value

func (r oneRow) Value(field string) belfry.Value { return r[field] }

// TestEvalKeepsFewRows offers many rows in the worst order: each is better than all before.
func TestEvalKeepsFewRows(t *testing.T) {
	id := Column{Name: "id", Type: catalog.ID}
	p := &Plan{
		Customer: 1, Collection: &catalog.Collection{}, Outputs: []Output{{Name: "id", Column: id}},
		Order: []Order{{id, true}}, Limit: 5, Offset: 3,
	}
	top := &top{plan: p, limit: p.Offset + p.Limit + 1, numbered: make([][]Output, 1)}
	for n := range int64(10_000) {
		top.offer(oneRow{"id": {Type: belfry.IDValue, Int: n}})
		if len(top.entries) > 9 {
			t.Fatalf("%d rows are kept", len(top.entries))
		}
	}
	rows := top.rows()
	for want := int64(9996); want > 9990; want-- {
		row, err := rows.Next()
		if err != nil || row[0].Int != want {
			t.Fatalf("got %v (%v), want %d", row, err, want)
		}
	}
}

// TestAbsent: a value that cannot be stored is absent, whatever the source returns.
func TestAbsent(t *testing.T) {
	f := func(c Column, v belfry.Value, absent bool) {
		t.Helper()
		field := c.Name
		if c.From == TextOf {
			field = "i1"
		}
		if got := c.value(oneRow{field: v}); (got.Type == belfry.AbsentValue) != absent {
			t.Errorf("%+v of %+v is %+v", c, v, got)
		}
	}
	value := Column{Name: "i1", Type: catalog.Value, N: 1}
	number, text := parts(value)
	five, ok, nan := belfry.Value{Type: belfry.NumberValue, Num: 5}, belfry.Value{Type: belfry.TextValue, Text: "ok"}, belfry.Value{Type: belfry.NumberValue, Num: belfry.AbsentNumber()}
	f(value, five, false)
	f(value, ok, false)
	f(value, nan, true)
	f(value, belfry.Value{Type: belfry.TextValue}, true)
	f(value, belfry.Value{}, true)
	f(number, five, false)
	f(number, ok, true)
	f(text, five, true)
	f(text, ok, false)
}

// TestOrderOfValues: statuses by severity, numbers before texts, texts by bytes, ids without a sign.
func TestOrderOfValues(t *testing.T) {
	status := func(code string) belfry.Value {
		s, _ := belfry.ParseStatus(code)
		return belfry.Value{Type: belfry.StatusValue, Int: int64(s)}
	}
	number := func(f float64) belfry.Value { return belfry.Value{Type: belfry.NumberValue, Num: f} }
	text := func(s string) belfry.Value { return belfry.Value{Type: belfry.TextValue, Text: s} }
	id := func(n uint64) belfry.Value { return belfry.Value{Type: belfry.IDValue, Int: int64(n)} }
	for _, rising := range [][]belfry.Value{
		{status("?"), status("0"), status("1"), status("2"), status("3"), status("-")},
		{number(-1), number(0.5), number(10), text(""), text("10"), text("9"), text("Z"), text("a"), text("ä")},
		{id(1), id(1 << 62), id(1 << 63)},
		{{Type: belfry.IntValue, Int: 1}, number(1.5), {Type: belfry.IntValue, Int: 2}},
	} {
		for i := range rising {
			for j := range rising {
				if got := compareValues(rising[i], rising[j]); (got < 0) != (i < j) || (got == 0) != (i == j) {
					t.Errorf("%v against %v is %d", rising[i], rising[j], got)
				}
			}
		}
	}
}

// TestGroupsAreBounded adds more groups, and more values to one group, than the memory limit allows.
func TestGroupsAreBounded(t *testing.T) {
	number := Column{Name: "i1", Type: catalog.Number}
	f := func(g Grouping) {
		t.Helper()
		p := &Plan{Customer: 1, Collection: &catalog.Collection{}, Grouping: &g, Limit: 5}
		gs := &groups{plan: p, by: map[string]*group{}, memory: 100_000}
		n := 0
		for ; gs.memory >= 0 && n < 100_000; n++ {
			gs.add(oneRow{"i1": {Type: belfry.NumberValue, Num: float64(n)}})
		}
		if n < 500 || n > 10_000 {
			t.Errorf("%+v: %d rows need 100 kB", g, n)
		}
	}
	f(Grouping{Keys: []Call{{Column: number}}})
	f(Grouping{Calls: []Call{{Func: FuncMedian, Column: number}}})
	f(Grouping{Calls: []Call{{Func: FuncCountDistinct, Column: number}}})
}

// TestLatestIsBounded: no more of the most recent rows are kept than needed, and no more than the memory limit allows.
func TestLatestIsBounded(t *testing.T) {
	long := belfry.Value{Type: belfry.TextValue, Text: strings.Repeat("x", 1<<20)}
	f := func(latest, rows int, want error) {
		t.Helper()
		p := &Plan{
			Customer: 1, Collection: &catalog.Collection{}, Latest: latest, Limit: 1, Order: []Order{},
			Grouping: &Grouping{Calls: []Call{{Func: FuncMax, Column: Column{Name: "log", Type: catalog.FullText}}}},
		}
		_, err := Eval(p, func(yield func(Row) bool) {
			for n := range rows {
				at := belfry.Value{Type: belfry.TimeValue, Int: int64(n)}
				if !yield(oneRow{"timestamp": at, "id": {Type: belfry.IDValue, Int: int64(n)}, "log": long}) {
					return
				}
			}
		})
		if err != want {
			t.Errorf("%d of %d rows: %v, want %v", latest, rows, err, want)
		}
	}
	f(200, 1000, nil)
	f(1000, 200, nil)
	f(1000, 1000, errGroupMemory)
}

// TestAccumulator: sums are exact to the last digit, and what is not finite is absent.
func TestAccumulator(t *testing.T) {
	f := func(fn Func, want belfry.Value, numbers ...float64) {
		t.Helper()
		c, a := &Call{Func: fn, Column: Column{Name: "i1", Type: catalog.Number}}, accumulator{}
		for _, n := range numbers {
			a.add(c, oneRow{"i1": {Type: belfry.NumberValue, Num: n}})
		}
		if got := a.result(c); got != want {
			t.Errorf("%s of %v is %v, want %v", fn, numbers, got, want)
		}
	}
	number := func(n float64) belfry.Value { return belfry.Value{Type: belfry.NumberValue, Num: n} }
	f(FuncSum, number(2), 1, 1e100, 1, -1e100)
	f(FuncSum, belfry.Value{}, 1e308, 1e308)
	f(FuncMean, number(1.5), 1, 2)
	f(FuncStddev, belfry.Value{}, 5)
	f(FuncStddev, number(1), 1, 2, 3)
	f(FuncStddev, belfry.Value{}, 1e300, -1e300)
	f(FuncMedian, number(2.5), 4, 1, 3, 2)
	f(FuncMin, number(-2), 1, -2, 3)
}
