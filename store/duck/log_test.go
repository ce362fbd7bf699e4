package duck

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/damage"
)

// TestLogDeletedUnderUs deletes, truncates or replaces the log of a file while rows are written to it. It is noticed
// before the journal could release the rows, and they are saved.
func TestLogDeletedUnderUs(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(t *testing.T, log string)
	}{
		{"deleted", func(t *testing.T, log string) { remove(t, log) }},
		{"cut", func(t *testing.T, log string) { truncate(t, log, 100) }},
		{"replaced", func(t *testing.T, log string) { remove(t, log); write(t, log, []byte(strings.Repeat("x", 100_000))) }},
	} {
		for _, more := range []bool{false, true} {
			if testing.Short() && !more {
				continue // part of make soak
			}
			dir := t.TempDir()
			s := openWith(t, dir)
			var told []string
			s.cfg.Repaired = func(info string) { told = append(told, info) }
			must(t, store.AppendAll(t.Context(), s, manyRows(2, 0, 10)))
			must(t, s.Durable(0))
			test.do(t, dayPath(dir, 0)+".wal")
			want := int64(10)
			if more {
				must(t, store.AppendAll(t.Context(), s, manyRows(3, 0, 10)))
				want += 10
			}
			if err := s.Durable(0); err == nil {
				t.Errorf("%s: the store calls rows durable that are only in memory", test.name)
			}
			must(t, s.Watch())
			must(t, s.Mend(t.Context()))
			must(t, s.Durable(0))
			if len(told) != 1 || !strings.Contains(told[0], dayName(0)+".duckdb.wal") {
				t.Errorf("%s: told %q", test.name, told)
			}
			must(t, store.AppendAll(t.Context(), s, manyRows(4, 0, 10)))
			want += 10
			crashed := copyDir(t, dir)
			s = openWith(t, crashed)
			if n, _, err := askFirst(t, s, countAll, false); err != nil || n != want || len(s.Incomplete()) > 0 {
				t.Errorf("%s: %d rows, %v, incomplete %v; want %d", test.name, n, err, s.Incomplete(), want)
			}
		}
	}
}

// TestLogDeletedBeforeClose: rows of a lost log are saved when the store is closed.
func TestLogDeletedBeforeClose(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, manyRows(2, 0, 10)))
	remove(t, dayPath(dir, 0)+".wal")
	must(t, s.Close())
	s = openWith(t, dir)
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != 10 {
		t.Errorf("%d rows, %v; want 10", n, err)
	}
}

// TestCheckpointIsNoLoss: a log that is removed by a checkpoint, of the engine or our own, is not reported as lost.
func TestCheckpointIsNoLoss(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	s.cfg.Repaired = func(info string) { t.Error(info) }
	for pos := belfry.Position(2); pos < 8; pos++ {
		must(t, store.AppendAll(t.Context(), s, manyRows(pos, 0, 1000)))
		if pos%2 == 0 {
			f := s.files.byName["objectdata"][0]
			must(t, s.writer.Exec(t.Context(), "CHECKPOINT "+f.alias)) // without the store, like a checkpoint of the engine itself
			if _, err := os.Stat(f.path + ".wal"); err == nil {
				t.Fatal("the log is still there")
			}
		}
		must(t, s.Watch())
		must(t, s.Durable(0))
		must(t, s.Mend(t.Context()))
	}
}

// TestLostFirstLogIsRestored deletes the log of a file that has never been checkpointed, while the service is stopped and
// the journal has every row of it.
func TestLostFirstLogIsRestored(t *testing.T) {
	dir := t.TempDir()
	journal := []*belfry.Batch{manyRows(5, 0, 10), manyRows(6, 0, 10)}
	s := openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, journal...))
	must(t, s.Close())
	for since, complete := range []bool{true, false} {
		dir := copyDir(t, dir)
		remove(t, dayPath(dir, 0)+".wal")
		s := openWith(t, dir, journal...)
		s.cfg.JournalSince = func() belfry.Position { return belfry.Position(since) } // 1: something has been released
		askFirst(t, s, countAll, false)
		must(t, store.AppendAll(t.Context(), s))
		n, _, err := askFirst(t, s, countAll, !complete)
		if err != nil || n != 20 || (len(s.Incomplete()) == 0) != complete {
			t.Errorf("the journal has everything since %d: %d rows, %v, incomplete %v", since, n, err, s.Incomplete())
		}
	}
}

// TestCommitsUnderWatch commits while others check the log all the time. Every few commits the engine itself makes a
// checkpoint. No one touches the files, so nothing may be reported.
func TestCommitsUnderWatch(t *testing.T) {
	commits := belfry.Position(200)
	if testing.Short() {
		commits = 12
	}
	s := openSmallLog(t, t.TempDir())
	var told atomic.Int64
	s.cfg.Repaired = func(string) { told.Add(1) }
	stop := make(chan struct{})
	var watching sync.WaitGroup
	for _, look := range []func() error{s.Watch, func() error { return s.Durable(0) }} {
		watching.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := look(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	checkpoints := uint64(0)
	for pos := range commits {
		must(t, store.AppendAll(t.Context(), s, manyRows(2+pos, 0, 20_000)))
		must(t, s.Mend(t.Context()))
		n, err := damage.Checkpoints(dayPath(s.cfg.Dir, 0))
		must(t, err)
		checkpoints = n
	}
	close(stop)
	watching.Wait()
	if n := told.Load(); n > 0 || checkpoints < uint64(commits)/6 {
		t.Errorf("%d false reports of a lost log, %d checkpoints of %d commits", n, checkpoints, commits)
	}
}

// TestCheckpointDuringCommit: what Watch and Durable find during a commit does not change how the commit judges the log
// at its end. A checkpoint is no loss, and a deleted log is one.
func TestCheckpointDuringCommit(t *testing.T) {
	checkpoint := func(t *testing.T, s *Store, f *file) {
		must(t, s.writer.Exec(t.Context(), "CHECKPOINT "+f.alias))
	}
	remove := func(t *testing.T, _ *Store, f *file) { remove(t, f.path+".wal") }
	for _, test := range []struct {
		name          string
		before, while func(t *testing.T, s *Store, f *file)
		lost          bool
	}{
		{"a checkpoint", nil, checkpoint, false},
		{"a checkpoint, as there is no log", checkpoint, checkpoint, false},
		{"a checkpoint of the store", nil, func(t *testing.T, s *Store, f *file) { must(t, s.files.checkpoint(t.Context(), s.writer, f)) }, false},
		{"a deletion", nil, remove, true},
	} {
		s := openWith(t, t.TempDir())
		must(t, store.AppendAll(t.Context(), s, manyRows(2, 0, 10)))
		f := s.files.byName["objectdata"][0]
		if test.before != nil {
			s.files.beginChange(f)
			test.before(t, s, f)
			s.files.endTransaction(f, nil)
			must(t, s.Watch())
		}
		s.files.beginChange(f)
		must(t, s.writer.Exec(t.Context(), "INSERT INTO "+f.alias+".main.position VALUES (3)")) // which commits by itself
		test.while(t, s, f)
		must(t, s.Watch())
		if err := s.Durable(0); (err != nil) != test.lost {
			t.Errorf("%s: Durable during the commit: %v", test.name, err)
		}
		s.files.endTransaction(f, nil)
		if lost := s.files.needsRepair(); lost != test.lost {
			t.Errorf("%s: the commit calls the log lost: %t", test.name, lost)
		}
		must(t, s.Mend(t.Context()))
		must(t, store.AppendAll(t.Context(), s, manyRows(4, 0, 10)))
		remove(t, s, f)
		if err := s.Durable(0); err == nil {
			t.Errorf("%s: a deletion afterwards is not noticed", test.name)
		}
	}
}

// openSmallLog opens a store that checkpoints logs of a megabyte.
func openSmallLog(t *testing.T, dir string) *Store {
	t.Helper()
	cat, err := catalog.Load()
	must(t, err)
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat}, logLimit: 1 << 20})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// TestTornLog: the engine cuts off an incomplete record of a killed process. That is no loss.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, manyRows(2, 0, 2000)))
	dir = copyDir(t, dir)
	log := dayPath(dir, 0) + ".wal"
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(text, text[len(text)/4:len(text)/2]...)
	write(t, log, torn)
	s = openWith(t, dir)
	var told []string
	s.cfg.Repaired = func(info string) { told = append(told, info) }
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != 2000 {
		t.Fatalf("%d rows, %v", n, err)
	}
	must(t, store.AppendAll(t.Context(), s, manyRows(3, 0, 10)))
	if info, err := os.Stat(log); err != nil || info.Size() >= int64(len(torn)) {
		t.Fatalf("the log is not shorter: %v, %v", info, err)
	}
	must(t, s.Watch())
	must(t, s.Durable(0))
	must(t, s.Mend(t.Context()))
	if len(told) > 0 {
		t.Errorf("told %q", told)
	}
	truncate(t, log, 100) // by another program
	if err := s.Durable(0); err == nil {
		t.Error("the store calls rows durable that are only in memory")
	}
	must(t, s.Mend(t.Context()))
	s = openWith(t, copyDir(t, dir))
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != 2010 || len(s.Incomplete()) > 0 {
		t.Errorf("%d rows, %v, incomplete %v; want 2010", n, err, s.Incomplete())
	}
}
