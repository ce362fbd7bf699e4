//go:build linux

package duck

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry/catalog"
	"belfry/store"
)

// threadsAt counts the threads of this process whose priority is lower by this many steps.
func threadsAt(t *testing.T, steps int) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if strings.Fields(rest)[16] == strconv.Itoa(steps) {
			n++
		}
	}
	return n
}

// TestBehind: the engine's threads and those of queries have a lower priority, threads of Go do not, and all of them
// end with the store.
func TestBehind(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const steps = 7
	waitThreads(t, steps, 0) // those of another test may still be ending
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: t.TempDir(), Catalog: cat, Behind: steps, Threads: 3}})
	if err != nil {
		t.Fatal(err)
	}
	waitThreads(t, steps, 2) // of the engine, beside the caller's
	mustAppend(t, s, name(7, "o"), rowsOf(1, 0, 1, 2))
	for range 3 {
		if n := len(take(t, ask(t, s, "SELECT id FROM objectdata LIMIT 10"), nil)); n != 3 {
			t.Errorf("%d rows", n)
		}
	}
	waitThreads(t, steps, 3) // one more, for queries that come one after the other
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	waitThreads(t, steps, 0)
}

// TestGiveWayLater: the priority of a long statement is lowered further than that of a short one, and the next one on
// its connection starts like any other.
func TestGiveWayLater(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const quick, behind = 3, 8
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: t.TempDir(), Catalog: cat, Behind: behind, Quick: quick, Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.engine.Borrow()
	if err != nil {
		t.Fatal(err)
	}
	waitThreads(t, quick, 1)
	stop := c.LowerPriorityAfter(0, behind)
	waitThreads(t, behind, 1)
	waitThreads(t, quick, 0)
	stop()
	s.engine.Return(c, true)
	waitThreads(t, quick, 1)
	waitThreads(t, behind, 0)
}

// waitThreads waits until this many threads have a priority lower by this many steps: a thread sets its priority
// itself, once it runs, and the kernel lists it a little longer than it runs.
func waitThreads(t *testing.T, steps, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		n := threadsAt(t, steps)
		if n == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d threads with a priority lower by %d steps, want %d", n, steps, want)
		}
	}
}
