package summary

import (
	"fmt"
	"testing"

	"belfry"
	"belfry/catalog"
)

// TestQueue: small tasks are combined, but neither across files nor with tasks that have failed before.
func TestQueue(t *testing.T) {
	const start = belfry.Time(1_700_000_000_000_000) / belfry.Day * belfry.Day
	d := NewTracker(&catalog.Collection{Name: "objectdata"})
	hour := func(n, rows int) Task {
		from := start + belfry.Time(n)*belfry.Hour
		return Task{belfry.Span{From: from, To: from + belfry.Hour}, int64(rows), false}
	}
	f := func(want string, spans ...Task) {
		t.Helper()
		a := Queue{Limit: 10}
		a.Add(d, d.Ready(d.Hour, spans), nil)
		var got [][]int
		for _, w := range a.Hours {
			var list []int
			for _, p := range w.Spans {
				list = append(list, int((p.From-start)/belfry.Hour))
			}
			got = append(got, list)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("pieces of work %v, want %s", got, want)
		}
	}
	f("[]")
	f("[[0 1] [2]]", hour(0, 4), hour(1, 4), hour(2, 4))
	f("[[0] [1 2]]", hour(0, 40), hour(1, 4), hour(2, 4))
	month := int((d.Hour.PeriodOf(start).To - start) / belfry.Hour)
	f(fmt.Sprintf("[[0 %d] [%d]]", month-1, month), hour(0, 1), hour(month-1, 1), hour(month, 1))
	d.Fail(d.Hour, hour(1, 0).From)
	f("[[0] [1] [2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
	d.Fail(d.Hour, hour(1, 0).From)
	f("[[0 2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
	d.retry()
	f("[[0] [1] [2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
	d.Finish(&Work{To: d.Hour, Spans: []belfry.Span{hour(1, 0).Span}})
	f("[[0 1 2 3]]", hour(0, 1), hour(1, 1), hour(2, 1), hour(3, 1))
}
