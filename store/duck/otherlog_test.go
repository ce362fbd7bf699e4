package duck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store"
	"belfry/store/duck/folder"
)

// openLogs opens a store of the instance "one" with a journal.
func openLogs(t *testing.T, dir string, journal ...*belfry.Batch) *Store {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat, Instance: "one", Journal: func(each func(*belfry.Batch) error) error {
		for _, b := range journal {
			if err := each(b); err != nil {
				return err
			}
		}
		return nil
	}, JournalSince: func() belfry.Position {
		if len(journal) == 0 {
			return 99
		}
		return journal[0].Pos - 1
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkpointFiles checkpoints all files.
func checkpointFiles(t *testing.T, s *Store) {
	t.Helper()
	for _, f := range s.files.others(nil) {
		if ok, err := s.files.acquireOne(t.Context(), f); err != nil || !ok {
			t.Fatal(ok, err)
		}
		err := s.files.checkpoint(t.Context(), s.writer, f)
		s.files.finish([]*file{f}, err)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOtherLogs puts logs and files together that do not belong together. What the journal has is stored again, once; without it the
// day is incomplete. Nothing of another day is in an answer.
func TestOtherLogs(t *testing.T) {
	batches := []*belfry.Batch{rowsOf(1, 0, 1), rowsOf(2, 0, 1), rowsOf(3, 0, 1), rowsOf(4, 0, 1)}
	day := func(dir string, n int) string {
		return filepath.Join(dir, "objectdata", fmt.Sprintf("2024-10-0%d.duckdb", 4+n))
	}
	cases := []struct {
		name string
		swap func(dir, old string)
		left int  // rows of the day without a journal
		told bool // the day is incomplete nevertheless
	}{
		{"an older file under its newer log", func(dir, old string) { copyTo(t, day(old, 0), day(dir, 0)) }, 1, false},
		{"an older log under its newer file", func(dir, old string) { copyTo(t, day(old, 0)+".wal", day(dir, 0)+".wal") }, 3, false},
		{"the log of another day", func(dir, _ string) { copyTo(t, day(dir, 1)+".wal", day(dir, 0)+".wal") }, 3, false},
		{"the file of another day under this log", func(dir, _ string) { copyTo(t, day(dir, 1), day(dir, 0)) }, 0, true},
	}
	for _, x := range cases {
		for _, running := range []bool{false, true} {
			for _, journal := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, running %v, journal %v", x.name, running, journal), func(t *testing.T) {
					dir, old := instanceDir(t), t.TempDir()
					must(t, os.Mkdir(filepath.Join(old, "objectdata"), 0o700))
					s := openLogs(t, dir, batches...)
					mustAppend(t, s, batches[0])
					checkpointFiles(t, s)
					mustAppend(t, s, batches[1])
					copyTo(t, day(dir, 0), day(old, 0)) // has row 1, and row 2 in its log
					copyTo(t, day(dir, 0)+".wal", day(old, 0)+".wal")
					checkpointFiles(t, s)
					mustAppend(t, s, batches[2])
					checkpointFiles(t, s)
					mustAppend(t, s, batches[3])
					must(t, s.Durable(4))
					if running {
						if strings.Contains(x.name, "older log") || strings.Contains(x.name, "log of another") {
							t.Skip("a running service does not read its log")
						}
						x.swap(dir, old)
						must(t, os.Chtimes(day(dir, 0), time.Now(), time.Now().Add(time.Second)))
						if !journal {
							s.cfg.Journal = func(func(*belfry.Batch) error) error { return nil }
							s.cfg.JournalSince = func() belfry.Position { return 99 }
						}
						must(t, s.Watch())
						_ = s.Mend(t.Context())
					} else {
						must(t, s.Close())
						x.swap(dir, old)
						if got := verifyOne(t, dir); len(got) == 0 {
							t.Error("verify finds nothing")
						}
						if !journal {
							s = openLogs(t, dir)
						} else {
							s = openLogs(t, dir, batches...)
						}
					}
					defer s.Close()
					ask := func() (string, error) {
						rows, err := s.Select(t.Context(), planFor(t, s, 1, "SELECT id FROM objectdata WHERE timestamp >= '2024-10-04' AND timestamp < '2024-10-05'"))
						if err != nil {
							return "", err
						}
						return fmt.Sprint(len(readAll(t, rows))), nil
					}
					_, _ = ask() // finds it
					mustAppend(t, s, rowsOf(5, 2))
					got, err := ask()
					switch {
					case journal && x.told && len(s.Incomplete()) == 1:
					case journal && (got != "4" || err != nil):
						t.Errorf("%s rows (%v), want 4, each once; incomplete: %v", got, err, s.Incomplete())
					case !journal && (err == nil || len(s.Incomplete()) == 0):
						t.Errorf("%s rows without an error", got)
					}
					if !journal {
						p := planFor(t, s, 1, "SELECT id FROM objectdata WHERE timestamp >= '2024-10-04' AND timestamp < '2024-10-05'")
						p.Partial = new(query.Partial)
						rows, err := s.Select(t.Context(), p)
						if err != nil {
							t.Fatal(err)
						}
						if n := len(readAll(t, rows)); n != x.left {
							t.Errorf("%d rows are left, want %d", n, x.left)
						}
					}
				})
			}
		}
	}
}

// verifyOne verifies a folder of the instance "one".
func verifyOne(t *testing.T, dir string) []store.Problem {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(t.Context(), store.Config{Dir: dir, Catalog: cat, Instance: "one"})
	if err != nil {
		t.Fatal(err)
	}
	return v.Problems
}

// TestPipe puts pipes in the place of files: opening one would wait for ever.
func TestPipe(t *testing.T) {
	for _, suffix := range []string{"", ".wal", itemSuffix} {
		t.Run(suffix, func(t *testing.T) {
			dir := instanceDir(t)
			s := openLogs(t, dir)
			defer s.Close()
			mustAppend(t, s, rowsOf(1, 0, 1, 2, 3))
			path := filepath.Join(dir, "objectdata", "2024-10-04.duckdb"+suffix)
			if err := os.Rename(path, path+"-hidden"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			must(t, syscall.Mkfifo(path, 0o600))
			s.files.detachIdle(t)
			done := make(chan error, 1)
			go func() {
				for range 3 {
					_ = s.Watch()
					_ = s.Mend(t.Context())
					if rows, err := s.Select(t.Context(), parse(t, s, "SELECT id FROM objectdata WHERE timestamp >= '2024-01-01'")); err == nil {
						rows.Close()
					}
				}
				done <- store.AppendAll(t.Context(), s, rowsOf(2, 0, 1))
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("it waits for a pipe")
			}
			if suffix == "" && len(s.Incomplete()) == 0 {
				t.Error("the day is not incomplete")
			}
		})
	}
}

// detachIdle detaches all files that are not in use.
func (fs *files) detachIdle(t *testing.T) {
	t.Helper()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, list := range fs.byName {
		for _, f := range list {
			if f.refs == 0 {
				must(t, fs.detach(f))
			}
		}
	}
}

// TestLateFileGone starts where a day file cannot be read, and the late file, which had the rows since, was deleted.
func TestLateFileGone(t *testing.T) {
	dir := instanceDir(t)
	s := openLogs(t, dir)
	mustAppend(t, s, rowsOf(1, 0, 1))
	must(t, s.Close())
	path := filepath.Join(dir, "objectdata", "2024-10-04.duckdb")
	hide(t, path)
	s = openLogs(t, dir)
	mustAppend(t, s, rowsOf(2, 0, 1))
	must(t, s.Durable(2))
	must(t, s.Close())
	for _, suffix := range []string{"", ".wal"} {
		if err := os.Remove(path + folder.LateSuffix + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	s = openLogs(t, dir, rowsOf(2, 0, 1))
	defer s.Close()
	mustAppend(t, s, rowsOf(3, 0, 1))
	if len(s.Incomplete()) == 0 {
		t.Error("the day is not incomplete")
	}
	show(t, path)
	mendAfter(t, s, 3*time.Second)
	mendAfter(t, s, 3*time.Second)
	p := planFor(t, s, 1, "SELECT id FROM objectdata WHERE timestamp >= '2024-01-01'")
	p.Partial = new(query.Partial) // whether the deleted file had other rows is unknown
	rows, err := s.Select(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(readAll(t, rows)); n != 6 {
		t.Errorf("%d rows, want 6; incomplete: %v", n, s.Incomplete())
	}
}
