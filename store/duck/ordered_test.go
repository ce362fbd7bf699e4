package duck

import (
	"fmt"
	"strconv"
	"testing"

	"belfry"
	"belfry/store"
)

// TestOrderOfBothSorts: an indicator that is a number in some row groups and a text in others is compared as both. The
// engine's minimum and maximum of a row group do not make it skip a row.
func TestOrderOfBothSorts(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const rows = 125_000 // more than a row group has
	s := open(t, t.TempDir())
	var nums []float64
	var texts []string
	for i, value := range []func(n int) (float64, string){
		func(n int) (float64, string) { return float64(n), "" },
		func(n int) (float64, string) { return belfry.AbsentNumber(), strconv.Itoa(n) },
		func(n int) (float64, string) { return belfry.AbsentNumber(), "a long word " + strconv.Itoa(n) },
	} {
		b := &belfry.Batch{Collection: belfry.ObjectData, Customer: 1, Pos: belfry.Position(i + 1), FirstID: belfry.RowID(i*rows + 1), Times: make([]belfry.Time, rows)}
		items, n, s2 := make([]int64, rows), make([]float64, rows), make([]string, rows)
		for r := range rows {
			b.Times[r] = 1_700_000_000_000_000
			items[r] = 1
			n[r], s2[r] = value(r)
		}
		b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "i2", Numbers: n}, {Name: "s2", Texts: s2}}
		if err := store.AppendAll(t.Context(), s, b); err != nil {
			t.Fatal(err)
		}
		nums, texts = append(nums, n...), append(texts, s2...)
	}
	f := func(condition string, holds func(n float64, text string) bool) {
		t.Helper()
		want := 0
		for i, text := range texts {
			if holds(nums[i], text) { // a comparison with a number that is absent is false
				want++
			}
		}
		got := read(t, s, parse(t, s, "SELECT COUNT(*) FROM objectdata WHERE timestamp BETWEEN '2023-11-14' AND '2023-11-16' AND "+condition))
		if got != fmt.Sprint(want) || want == 0 {
			t.Errorf("%s: %s rows, want %d", condition, got, want)
		}
	}
	f("i2 > '99998'", func(n float64, s string) bool { return n > 99998 || s > "99998" })
	f("i2 >= '124999'", func(n float64, s string) bool { return n >= 124999 || s >= "124999" })
	f("i2 < '10'", func(n float64, s string) bool { return n < 10 || s != "" && s < "10" })
	f("i2 < 10", func(n float64, s string) bool { return n < 10 })
	f("i2 BETWEEN '7' AND '70'", func(n float64, s string) bool { return n >= 7 && n <= 70 || s >= "7" && s <= "70" })
	f("_query_ = 'i2:[9999 TO b]'", func(n float64, s string) bool { return s >= "9999" && s <= "b" })
}
