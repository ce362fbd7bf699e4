package sqlite

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
)

// TestForeignLog puts the write-ahead log of one database beside another. It is refused before it is taken in; a log of one's own is
// taken in.
func TestForeignLog(t *testing.T) {
	// crashed makes a folder as a process leaves it that ends with changes in the log alone.
	crashed := func(id string, rows belfry.Position) (path string) {
		t.Helper()
		running := reopen(t, filepath.Join(t.TempDir(), "meta.db"))
		if err := running.SetInstance(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := running.MarkRows(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(t.TempDir(), "meta.db")
		for _, suffix := range []string{"", logSuffix} {
			copyFile(t, running.path+suffix, path+suffix, 1<<20)
		}
		return path
	}
	own, other := crashed("one", 7), crashed("two", 9)
	before, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	kept := own + ".kept"
	copyFile(t, own+logSuffix, kept, 1<<20)
	copyFile(t, other+logSuffix, own+logSuffix, 1<<20)
	_, err = Open(t.Context(), own, slog.New(slog.DiscardHandler))
	for what, err := range map[string]error{"open": err, "verify": Verify(t.Context(), own)} {
		if err == nil || !strings.Contains(err.Error(), own+logSuffix+" is of instance two, and the database beside it of one") {
			t.Errorf("%s with the log of another: %v", what, err)
		}
	}
	if after, err := os.ReadFile(own); err != nil || string(after) != string(before) {
		t.Errorf("the database has changed: %v", err)
	}
	copyFile(t, kept, own+logSuffix, 1<<20)
	db := reopen(t, own)
	if pos, err := db.RowsPosition(t.Context()); err != nil || pos != 7 {
		t.Errorf("with its own log: %d, %v", pos, err)
	}
}

// TestLogOfAnotherMoment puts an older copy of the database, and that of a copy that went its own way, beside the log of a later start.
func TestLogOfAnotherMoment(t *testing.T) {
	keep := func(path string) (kept string) { // as a process leaves it that is killed
		t.Helper()
		kept = filepath.Join(t.TempDir(), "meta.db")
		for _, suffix := range []string{"", logSuffix} {
			if _, err := os.Stat(path + suffix); err == nil {
				copyFile(t, path+suffix, kept+suffix, 1<<20)
			}
		}
		return kept
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	start := func(path, branch string, rows belfry.Position) *DB {
		t.Helper()
		db := reopen(t, path)
		must(db.SetBranches(t.Context(), branches(branch)), db.MarkRows(t.Context(), rows))
		return db
	}
	path := filepath.Join(t.TempDir(), "meta.db")
	first := reopen(t, path)
	must(first.SetInstance(t.Context(), "one"))
	must(first.Close())
	older := start(path, "b1", 5)
	must(older.Checkpoint(t.Context()))
	backup := keep(path)
	must(older.Close())
	elsewhere := start(keep(path), "other", 6) // the same instance elsewhere
	must(elsewhere.Checkpoint(t.Context()))
	running := start(path, "b2", 9)

	f := func(what, database, log, want string, rows belfry.Position) {
		t.Helper()
		mixed := filepath.Join(t.TempDir(), "meta.db")
		copyFile(t, database, mixed, 1<<20)
		copyFile(t, log+logSuffix, mixed+logSuffix, 1<<20)
		if want != "" {
			_, err := Open(t.Context(), mixed, slog.New(slog.DiscardHandler))
			for how, err := range map[string]error{"open": err, "verify": Verify(t.Context(), mixed)} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: %v", what, how, err)
				}
			}
			return
		}
		if pos, err := reopen(t, mixed).RowsPosition(t.Context()); err != nil || pos != rows {
			t.Errorf("%s: %d, %v", what, pos, err)
		}
	}
	killed := keep(path)
	f("its own log", killed, killed, "", 9)
	f("an older copy", backup, killed, "was written in the start b2 of the service, and the database beside it last in the start b1", 0)
	f("another branch", elsewhere.path, killed, "was written in the start b2 of the service, and the database beside it last in the start other", 0)

	must(running.Checkpoint(t.Context()), running.changePosition(t.Context(), func(p *position) { p.branch = "b3" }))
	killed = keep(path)
	f("killed inside SetBranches", killed, killed, "", 9)

	must(running.Checkpoint(t.Context()))
	reader, err := running.read.BeginTx(t.Context(), nil) // another program reads the database
	must(err)
	var rows int64
	must(reader.QueryRow(`SELECT rows FROM position`).Scan(&rows))
	must(running.MarkRows(t.Context(), 11), running.SetBranches(t.Context(), branches("b4")), running.MarkRows(t.Context(), 12))
	killed = keep(path)
	must(reader.Rollback())
	f("killed after a start beside a reader", killed, killed, "", 12)
	if facts, err := ReadFacts(t.Context(), killed); err != nil || facts.Branch != "b4" {
		t.Errorf("%+v, %v", facts, err)
	}
	must(running.SetBranches(t.Context(), branches("b5")), running.MarkRows(t.Context(), 13))
	killed = keep(path)
	f("the next start", killed, killed, "", 13)
	f("an older copy again", backup, killed, "was written in the start b5", 0)
}

func branches(ids ...string) (list []belfry.Branch) {
	for i, id := range ids {
		list = append(list, belfry.Branch{ID: id, Since: belfry.Position(i)})
	}
	return list
}
