package duck

import (
	"fmt"
	"testing"

	"belfry"
)

// TestManyDaysFewNames: conditions on the names of items over many days need little memory. Names are looked up once,
// and not for every day.
func TestManyDaysFewNames(t *testing.T) {
	s := openSmall(t, t.TempDir(), 64<<20)
	const days, rows, objects = 25, 720, 30
	items := &belfry.Batch{Collection: belfry.Dimension, Customer: 1}
	ids, class, ip := make([]int64, objects), make([]string, objects), make([]string, objects)
	for i := range objects {
		items.Times = append(items.Times, 1)
		ids[i], class[i], ip[i] = int64(i), fmt.Sprint("k", i%3), fmt.Sprint("10.0.0.", i%3)
	}
	items.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: ids}, {Name: "class", Texts: class}, {Name: "ip", Texts: ip}}
	mustAppend(t, s, items)
	for d := range days {
		b := manyRows(belfry.Position(d+1), d, rows)
		for i := range rows {
			b.Columns[0].Ints[i], b.Columns[1].Numbers[i] = int64(i%objects), float64(i)
		}
		mustAppend(t, s, b)
	}
	f := func(where string, want int64) {
		t.Helper()
		got, _, err := askFirst(t, s, "SELECT COUNT(*) FROM objectdata WHERE timestamp >= '2000-01-01' AND "+where, false)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", where, got, err, want)
		}
	}
	f("class = 'k1' AND ip = '10.0.0.1'", days*rows/3)
	f("class LIKE 'k1' AND NOT ip LIKE '%.2'", days*rows/3)
	f("(class = 'k1' OR ip = '10.0.0.2')", days*rows*2/3)
	f("(i1 = 5 OR class = 'k1' AND ip = '10.0.0.1') AND i1 < 6", days*3)
}
