package duck

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/query"
	"belfry/store/duck/dialect"
	"belfry/store/duck/names"
	"belfry/store/duck/summary"
)

// TestPlacesOfGroups: the engine uses a perfect hash table only if there are few functions, as it does not count the
// memory of its slots.
func TestPlacesOfGroups(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	b := rowsOf(1, 0, 0, 0)
	const far = 100_000
	b.Columns[0].Ints = []int64{7, 8, 7 + far}
	mustAppend(t, s, name(7, "o"), b)
	p := parse(t, s, "SELECT * FROM objectdata LIMIT 1")
	used, err := s.files.acquire(t.Context(), p.Collection, crashDay0, crashDay0)
	if err != nil || len(used) != 1 {
		t.Fatal(used, err)
	}
	defer s.files.finish(used, nil)
	tables := s.files.tables(used)
	span := fmt.Sprintf("timestamp >= '%s' AND timestamp < '%s'", crashDay0, crashDay0+belfry.Day)
	f := func(text string, args []any, want bool) {
		t.Helper()
		r, err := s.writer.Query(t.Context(), "EXPLAIN "+text, args...)
		if err != nil || !r.Next() {
			t.Fatal(err)
		}
		if got := strings.Contains(r.TextAt(1), "PERFECT_HASH_GROUP_BY"); got != want {
			t.Errorf("places for all values: %v\n%s\n%s", got, text, r.TextAt(1))
		}
	}
	groups := func(calls int, call, keys string, want bool) {
		t.Helper()
		var list []string
		for i := range calls {
			list = append(list, fmt.Sprintf(call, i+1))
		}
		p := parse(t, s, "SELECT "+keys+", "+strings.Join(list, ", ")+" FROM objectdata WHERE "+span+" GROUP BY "+keys)
		stmt, err := query.SQL(p, dialect.New(names.Table), tables)
		if err != nil {
			t.Fatal(err)
		}
		f(stmt.Text, stmt.Args, want)
	}
	groups(1, "PERCENTILE(i1, %d)", "timestamp", true)
	groups(4, "PERCENTILE(i1, %d)", "timestamp", true)
	groups(5, "PERCENTILE(i1, %d)", "timestamp", false)
	groups(99, "PERCENTILE(i1, %d)", "timestamp", false)
	groups(1, "MEAN(i%d)", "object", true)
	groups(5, "MEAN(i%d)", "object", false)
	f("SELECT item, avg(i1) FROM "+tables[0].Ref+" GROUP BY item", nil, true)
	hours := summary.HoursOfRows([]summary.Table{summary.RowsOfHours(tables[0], []belfry.Span{{From: crashDay0, To: crashDay0 + belfry.Time(belfry.Hour)}})})
	f(hours.Text, nil, false)
	f(summary.DaysOfHours([]summary.Table{hours}).Text, nil, false)
}
