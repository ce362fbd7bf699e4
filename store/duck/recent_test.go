package duck

import (
	"strings"
	"testing"

	"belfry"
	"belfry/query"
	"belfry/store/duck/folder"
)

// TestRecentGroups: groups of a number of rows without a span read only the newest days, also for many rows and by
// hours, so that neither too many files nor a damaged old one prevents an answer.
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

// TestRecentRows: rows without a span, in another order than newest first, are those of the newest days only.
func TestRecentRows(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	mustAppend(t, s, rowsOf(1, 0, 1, 2, 3, 4, 5, 6, 7, 8), manyRows(2, 9, 3000))
	must(t, s.Close())
	remove(t, dayPath(dir, 0))
	s = openWith(t, dir)
	newest := belfry.RowID(2*100_000 + 2999)
	f := func(query string, want ...belfry.RowID) {
		t.Helper()
		got := take(t, ask(t, s, query), nil)
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", query, len(got), len(want))
		}
		for i, id := range want {
			if got[i] != id.String() {
				t.Fatalf("%s: row %d is %s, want %s", query, i, got[i], id)
			}
		}
	}
	f("SELECT id FROM objectdata ORDER BY timestamp LIMIT 3", newest-2, newest-1, newest)
	f("SELECT id FROM objectdata ORDER BY i1, id LIMIT 2", newest-1, newest)
	f("SELECT id, object FROM objectdata WHERE i1 >= 0 ORDER BY object, id DESC LIMIT 2", newest, newest-1)
	if s.files.attached > 2 {
		t.Errorf("%d files were opened for a few rows", s.files.attached)
	}
	var many []belfry.RowID
	for id := newest - 2499; id <= newest; id++ {
		many = append(many, id)
	}
	f("SELECT id FROM objectdata ORDER BY id LIMIT 2500", many...)
	f("SELECT * FROM objectdata ORDER BY timestamp LIMIT 2500", many...)
	const all = "SELECT id FROM objectdata ORDER BY i1 LIMIT 4000"
	if _, _, err := askFirst(t, s, all, false); belfry.CodeOf(err) != belfry.StorageUnavailable || !strings.Contains(err.Error(), dayName(0)) {
		t.Errorf("more rows than there are: %v", err)
	}
	if _, missing, err := askFirst(t, s, all, true); err != nil || len(missing) != 1 {
		t.Errorf("with partial: without %v, %v", missing, err)
	}
	lines, err := s.Explain(t.Context(), parse(t, s, "SELECT id FROM objectdata ORDER BY timestamp LIMIT 10"))
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0].Text, "9 of the span; it begins with "+dayName(8)+", "+dayName(9)) {
		t.Errorf("explained as %v, %v", lines, err)
	}
}

// TestRecentRowsInPages: the most recent rows, oldest first, come in pages however long they are, each once, and
// without rows that arrive meanwhile.
func TestRecentRowsInPages(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	const rows, limit = 5000, 2345 // so that some rows of the oldest moment are not among them
	mustAppend(t, s, lines(1, 1, rows, 100, 10))
	answer := ask(t, s, "SELECT id, log FROM objectlog ORDER BY timestamp LIMIT 2345")
	got := take(t, answer, func(n int) {
		if n == 10 {
			mustAppend(t, s, lines(2, rows+1, rows, 100, 10)) // at the same moments
		}
	})
	if _, paged := answer.(*pages); !paged || len(got) != limit {
		t.Fatalf("%d rows, in pages: %v", len(got), paged)
	}
	for i, id := range got {
		if want := belfry.RowID(rows - limit + 1 + i).String(); id != want {
			t.Fatalf("row %d is %s, want %s", i, id, want)
		}
	}
	if got := take(t, ask(t, s, "SELECT id FROM objectlog WHERE log = 'no such line' ORDER BY timestamp LIMIT 5"), nil); len(got) > 0 {
		t.Errorf("rows that nothing is known of: %v", got)
	}
}

// TestRecentSummaries: without a span, the most recent summaries are returned, from the newest days.
func TestRecentSummaries(t *testing.T) {
	s := openWith(t, t.TempDir())
	mustAppend(t, s, rowsOf(1, 0, 1, 2, 3, 4, 5, 6, 7, 8), manyRows(2, 9, 3000)) // in an hour of 13 items
	for _, summarised := range []bool{false, true} {
		for more := summarised; more; {
			var err error
			more, err = s.Summarise(t.Context(), folder.EndOfTime)
			must(t, err)
		}
		for _, period := range []string{query.PeriodHour, query.PeriodDay} {
			for limit, want := range map[string]int64{"5": 5, "14": 14, "100": 22} {
				text := "SELECT COUNT(*), MIN(timestamp) FROM objectdata WHERE period = '" + period + "' LIMIT " + limit
				if got, _, err := askFirst(t, s, text, false); err != nil || got != want {
					t.Errorf("%s: %d, %v; want %d", text, got, err, want)
				}
				text = "SELECT timestamp FROM objectdata WHERE period = '" + period + "' ORDER BY timestamp LIMIT " + limit
				first := crashDay0 + 9*belfry.Day
				switch limit {
				case "14":
					first = crashDay0 + 8*belfry.Day
				case "100":
					first = crashDay0
				}
				if got := take(t, ask(t, s, text), nil); len(got) != int(want) || got[0] != first.String() {
					t.Errorf("%s: %v; want %d from %s", text, got, want, first)
				}
			}
		}
	}
}
