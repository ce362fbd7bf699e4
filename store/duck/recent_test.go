package duck

import (
	"strings"
	"testing"

	"belfry"
	"belfry/query"
)

// TestRecentGroups: groups of a number of rows and no span read the newest days alone, also for many rows and by hours, so
// that neither too many files nor a damaged old one is in their way.
func TestRecentGroups(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	mustAppend(t, s, rowsOf(1, 0, 1, 2, 3, 4, 5, 6, 7, 8), manyRows(2, 9, 3000))
	must(t, s.Close())
	remove(t, dayPath(dir, 0))
	s = openWith(t, dir)
	mustAppend(t, s, name(7, "old"))
	f := func(query string, want int64) {
		t.Helper()
		if got, _, err := askFirst(t, s, query, false); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", query, got, err, want)
		}
	}
	f("SELECT COUNT(*), MEAN(i1) FROM objectdata LIMIT 10", 10)
	if s.files.attached > 2 {
		t.Errorf("%d files were opened for ten rows", s.files.attached)
	}
	f("SELECT COUNT(*) FROM objectdata WHERE i1 >= 0 LIMIT 2500", 2500)
	f("SELECT COUNT(*) AS n, object FROM objectdata GROUP BY object LIMIT 26", 2)
	f("SELECT COUNT(DISTINCT i1) FROM objectdata LIMIT 2000", 2000)
	if _, _, err := askFirst(t, s, "SELECT COUNT(*) FROM objectdata LIMIT 4000", false); belfry.CodeOf(err) != belfry.StorageUnavailable || !strings.Contains(err.Error(), dayName(0)) {
		t.Errorf("more rows than there are: %v", err)
	}
	if got, missing, err := askFirst(t, s, "SELECT COUNT(*) FROM objectdata LIMIT 4000", true); err != nil || got != 3008 || len(missing) != 1 {
		t.Errorf("with partial: %d without %v, %v", got, missing, err)
	}
	lines, err := s.Explain(t.Context(), parse(t, s, "SELECT COUNT(*) FROM objectdata LIMIT 10"))
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0].Text, "9 of the span; it begins with "+dayName(8)+", "+dayName(9)) {
		t.Errorf("explained as %v, %v", lines, err)
	}
}

// TestRecentSummaries: of summaries it is the most recent ones, from the newest days.
func TestRecentSummaries(t *testing.T) {
	s := openWith(t, t.TempDir())
	mustAppend(t, s, rowsOf(1, 0, 1, 2, 3, 4, 5, 6, 7, 8), manyRows(2, 9, 3000)) // in an hour of 13 items
	for _, summarised := range []bool{false, true} {
		for more := summarised; more; {
			var err error
			more, err = s.Summarise(t.Context(), endOfTime)
			must(t, err)
		}
		for _, period := range []string{query.PeriodHour, query.PeriodDay} {
			for limit, want := range map[string]int64{"5": 5, "14": 14, "100": 22} {
				text := "SELECT COUNT(*), MIN(timestamp) FROM objectdata WHERE period = '" + period + "' LIMIT " + limit
				if got, _, err := askFirst(t, s, text, false); err != nil || got != want {
					t.Errorf("%s: %d, %v; want %d", text, got, err, want)
				}
			}
		}
	}
}
