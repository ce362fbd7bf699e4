package storetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry/query"
)

// TestPlanLog: a run resumes after the last complete line, and a log with missing lines is rejected.
func TestPlanLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plans.log")
	open := func(want int) planLog {
		t.Helper()
		l, next, err := openPlanLog(name)
		if err != nil || next != want {
			t.Fatalf("the log goes on at %d (%v), want %d", next, err, want)
		}
		return l
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := open(0)
	if err := l.line(0, 99, planCounts{rows: 60, empty: 40}, time.Second, "abc"); err != nil {
		t.Fatal(err)
	}
	l.close()
	open(100).close()
	whole, err := os.ReadFile(name)
	if err != nil || strings.Count(string(whole), "\n") != 2 {
		t.Fatalf("%q, %v", whole, err)
	}
	write(string(whole) + "seeds 100 to 199  with rows 6") // cut short: these are asked again
	open(100).close()
	write(string(whole) + "seeds 200 to 299  with rows 60\n")
	if _, next, err := openPlanLog(name); err == nil {
		t.Errorf("a log with a hole goes on at %d", next)
	}
}

// TestSmaller: what is left of a query is what shows the fault, here a comparison with i3.
func TestSmaller(t *testing.T) {
	text := "SELECT id AS a, i1 AS b FROM objectdata WHERE (i1 = 1 OR NOT (i2 = 2 AND i3 = 3)) AND object IN ('x', 'y') ORDER BY i1 ASC LIMIT 5"
	got := shorten(text, func(text string) bool {
		s, err := query.Parse(text)
		return err == nil && s.Where != nil && strings.Contains(text, "i3 = 3")
	})
	if want := "SELECT i1 AS b FROM objectdata WHERE i3 = 3"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
