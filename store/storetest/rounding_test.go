package storetest

import (
	"math"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/query/querytest"
)

// TestSameAnswer: a sum may differ a little, relative to its largest part; nothing else may differ.
func TestSameAnswer(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	f := func(want bool, text string, change func(float64) float64) {
		t.Helper()
		c := querytest.Case{Query: text, Options: query.Options{Customer: querytest.Customer, Now: querytest.Now}}
		p, err := c.Plan(cat)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := evaluate(p, meansRows(querytest.Now-hour))
		if err != nil {
			t.Fatal(err)
		}
		got, err := evaluate(p, meansRows(querytest.Now-hour))
		if err != nil {
			t.Fatal(err)
		}
		got.rows[0][0].Num, got.text = change(got.rows[0][0].Num), "another"
		if got.rows[0][0].Type != belfry.NumberValue || sameAnswer(p, got, ref) != want {
			t.Errorf("%s: %v is as good as %v: %t, want %t", text, got.rows[0][0].Num, ref.rows[0][0].Num, !want, want)
		}
	}
	same := func(f float64) float64 { return f }
	next := func(f float64) float64 { return math.Nextafter(f, 1e300) }
	less := func(f float64) float64 { return f - 1e-16 }
	wrong := func(f float64) float64 { return f * (1 + 1e-9) }
	const from = " FROM objectdata WHERE timestamp >= 'NOW-1DAY'"
	for _, exact := range []string{
		"i1" + from, "i1_min" + from + " AND period = 'day'", "i1_max" + from + " AND period = 'day'", "MIN(i1)" + from, "LAST(i1)" + from, "MAX(i1_max)" + from + " AND period = 'hour'",
		"i1" + from + " AND i1 IS NOT NULL GROUP BY i1",
	} {
		f(true, "SELECT "+exact, same)
		f(false, "SELECT "+exact, next)
	}
	for _, computed := range []string{
		"i1" + from + " AND period = 'day'", "SUM(i1)" + from, "MEAN(i2)" + from, "MEDIAN(i1)" + from, "PERCENTILE(i1, 95)" + from, "STDDEV(i1)" + from,
		"MAX(i1)" + from + " AND period = 'hour'", "i1" + from + " AND period = 'day' GROUP BY i1",
	} {
		f(true, "SELECT "+computed, next)
		f(false, "SELECT "+computed, wrong)
	}
	f(true, "SELECT i4"+from+" AND period = 'day'", less) // 1, 1e-9 and -1
	f(true, "SELECT SUM(i4)"+from, less)
}
