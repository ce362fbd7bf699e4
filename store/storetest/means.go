package storetest

import (
	"math"

	"belfry"
	"belfry/query/querytest"
)

// meansOf are numbers, by hour and by indicator, whose sum depends on the order in which they are added; for some of
// them, on the order in which an engine reads the hours. Random plans found i1, i3 and i5.
var meansOf = []struct {
	after belfry.Time
	i     [5]float64
}{
	{11*hour + hour/2, [5]float64{20, 225.5, 1 << 53, 1, smallestNumber}},
	{12 * hour, [5]float64{20, 1, 1, 1e-9, smallestNumber}},
	{11*hour + hour/2, [5]float64{1, 138.25, 0, 0, smallestNumber}},
	{1 * hour, [5]float64{1e-9, 0.1, -33.25, -1, smallestNumber}},
}

// smallestNumber is the smallest number above zero. Half of it is zero, which an engine gets that adds two halves.
const smallestNumber = math.SmallestNonzeroFloat64

// meansRows returns the numbers as rows of one item, starting at a time.
func meansRows(from belfry.Time) (rows []querytest.Row) {
	for k, m := range meansOf {
		row := querytest.Row{
			"id":              {Type: belfry.IDValue, Int: int64(k + 1)},
			"timestamp":       {Type: belfry.TimeValue, Int: int64(from + m.after)},
			belfry.ItemColumn: {Type: belfry.IDValue, Int: 11},
		}
		for n, v := range m.i {
			row[belfry.IndicatorColumn(n+1)] = belfry.Value{Type: belfry.NumberValue, Num: v}
		}
		rows = append(rows, row)
	}
	return rows
}

// testMeans: a mean from rows, hours and days equals that of Eval except for its last digits.
func testMeans(f *fixture) {
	b := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: 1, FirstID: 1, Columns: []belfry.Column{ints(belfry.ItemColumn)}}
	for n := range len(meansOf[0].i) {
		b.Columns = append(b.Columns, numbers(belfry.IndicatorColumn(n+1)))
	}
	for _, m := range meansOf {
		b.Times = append(b.Times, day0+m.after)
		b.Columns[0].Ints = append(b.Columns[0].Ints, 11)
		for n, v := range m.i {
			b.Columns[n+1].Numbers = append(b.Columns[n+1].Numbers, v)
		}
	}
	f.append(b)
	for _, text := range []string{
		"SELECT * FROM objectdata WHERE " + all + " AND period = 'day'",
		"SELECT * FROM objectdata WHERE " + all + " AND period = 'hour'",
		"SELECT MEAN(i1), MEAN(i2), MEAN(i3), MEAN(i4), SUM(i3), STDDEV(i3), MEDIAN(i5) FROM objectdata WHERE " + all,
	} {
		p := f.plan(text)
		got, err := selected(f.store, nil, p)
		if err != nil {
			f.Fatal(err)
		}
		want, err := evaluate(p, meansRows(day0))
		if err != nil {
			f.Fatal(err)
		}
		if !sameAnswer(p, got, want) {
			f.Errorf("%s:\ngot\n%swant\n%s", text, got.text, want.text)
		}
	}
}
