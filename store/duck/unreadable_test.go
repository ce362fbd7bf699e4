package duck

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// hide replaces a file by a link to itself, so that opening it fails for every user, also for root. show undoes that.
func hide(t testing.TB, path string) {
	t.Helper()
	must(t, os.Rename(path, path+"-hidden"))
	must(t, os.Symlink(path, path))
}

func show(t testing.TB, path string) {
	t.Helper()
	must(t, os.Remove(path))
	must(t, os.Rename(path+"-hidden", path))
}

// mendAfter advances the clock of the store and runs its repairs.
func mendAfter(t testing.TB, s *Store, d time.Duration) {
	t.Helper()
	s.files.mu.Lock()
	now := s.files.now().Add(d)
	s.files.now = func() time.Time { return now }
	s.files.mu.Unlock()
	must(t, s.Watch())
	must(t, s.Mend(t.Context()))
}

// TestUnreadableFile makes the file of an old day impossible to open. The day is incomplete, late rows for it are kept,
// everything else works, and when the file is back nothing is missing, also after starts in between.
func TestUnreadableFile(t *testing.T) {
	base := makeDays(t)
	for _, first := range []string{"row", "query"} {
		for _, restart := range []string{"not", "hidden", "back"} {
			if testing.Short() && (first == "row") != (restart == "hidden") {
				continue // part of make soak
			}
			t.Run(first+" "+restart, func(t *testing.T) {
				dir := copyDir(t, base)
				path := dayPath(dir, damageDay)
				hide(t, path)
				s := openWith(t, dir)
				rest := int64(2)
				if first == "query" {
					wantMissing(t, s, countAll, damageDay, rest)
				}
				must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay, 1)))
				rest += 2
				wantMissing(t, s, countAll, damageDay, rest)
				list := s.Incomplete()
				if len(list) != 1 || list[0].Day != dayName(damageDay) || !strings.Contains(list[0].Message, path+": "+syscall.ELOOP.Error()) {
					t.Errorf("incomplete: %v", list)
				}
				if restart == "hidden" {
					must(t, s.Close())
					s = openWith(t, dir)
				}
				must(t, store.AppendAll(t.Context(), s, rowsOf(10, damageDay)))
				rest++
				mendAfter(t, s, 3*time.Second)
				wantMissing(t, s, countAll, damageDay, rest)
				if restart == "back" {
					must(t, s.Close())
				}
				show(t, path)
				if restart == "back" {
					if problems := verify(t, dir); len(problems) != 1 || !strings.HasSuffix(problems[0].File, folder.LateSuffix) {
						t.Errorf("verify: %v", problems)
					}
					s = openWith(t, dir)
				}
				mendAfter(t, s, time.Minute)
				if list := s.Incomplete(); len(list) != 0 {
					t.Fatalf("still incomplete: %v", list)
				}
				must(t, store.AppendAll(t.Context(), s, rowsOf(11, damageDay)))
				for range 2 {
					if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+rest+1 {
						t.Errorf("%d rows, %v; want %d", n, err, oldRows+rest+1)
					}
					must(t, s.Close())
					s = openWith(t, dir)
				}
				if _, err := os.Stat(path + folder.LateSuffix); err == nil {
					t.Error("the second file is still there")
				}
				if problems := verify(t, copyDir(t, dir)); len(problems) != 0 {
					t.Errorf("verify: %v", problems)
				}
			})
		}
	}
}

// TestLateRowsOnce merges rows of a late file that the day file already has, as after a crash between the commit and
// the removal of the late file.
func TestLateRowsOnce(t *testing.T) {
	dir := makeDays(t)
	path := dayPath(dir, damageDay)
	hide(t, path)
	s := openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay)))
	must(t, s.Close())
	late, err := os.ReadFile(path + folder.LateSuffix)
	must(t, err)
	log, err := os.ReadFile(path + folder.LateSuffix + ".wal")
	must(t, err)
	show(t, path)
	for range 2 {
		s = openWith(t, dir)
		mendAfter(t, s, 0)
		if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+3 {
			t.Errorf("%d rows, %v; want %d", n, err, oldRows+3)
		}
		must(t, s.Close())
		write(t, path+folder.LateSuffix, late)
		write(t, path+folder.LateSuffix+".wal", log)
	}
}

// TestUnreadableFileIsDeleted: an unreadable file is deleted, and that is reported.
func TestUnreadableFileIsDeleted(t *testing.T) {
	dir := makeDays(t)
	path := dayPath(dir, damageDay)
	hide(t, path)
	s := openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay)))
	remove(t, path)
	mendAfter(t, s, 3*time.Second)
	wantMissing(t, s, countAll, damageDay, 3)
	for range 2 {
		must(t, s.Close())
		s = openWith(t, dir)
		wantMissing(t, s, countAll, damageDay, 3)
		if list := s.Incomplete(); len(list) != 1 || !strings.Contains(list[0].Message, folder.MissingMark) {
			t.Errorf("incomplete: %v", list)
		}
	}
	must(t, store.AppendAll(t.Context(), s, rowsOf(10, damageDay)))
	wantMissing(t, s, countAll, damageDay, 4)
}

// TestUnreadableFileIsDropped: retention deletes both files.
func TestUnreadableFileIsDropped(t *testing.T) {
	dir := makeDays(t)
	path := dayPath(dir, damageDay)
	hide(t, path)
	s := openWith(t, dir)
	must(t, store.AppendAll(t.Context(), s, rowsOf(9, damageDay)))
	must(t, s.Drop(t.Context(), s.cfg.Catalog.Collection("objectdata"), crashDay0+belfry.Day))
	for range 2 {
		if n, _, err := askFirst(t, s, countAll, false); err != nil || n != 2 || len(s.Incomplete()) != 0 {
			t.Errorf("%d rows, %v, %v; want 2", n, err, s.Incomplete())
		}
		must(t, s.Close())
		s = openWith(t, dir)
	}
	for _, name := range []string{path, path + folder.LateSuffix} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestReadError: errors of the engine while it reads an open file. Errors of one file affect one day; errors of the
// whole store do not.
func TestReadError(t *testing.T) {
	dir := makeDays(t)
	path := dayPath(dir, damageDay)
	for _, test := range []struct {
		text string
		why  string
	}{
		{"IO Error: Could not read from file \"%s\": Input/output error", "Input/output error"},
		{"IO Error: Failure while replaying WAL file \"%[1]s.wal\": IO Error: Could not read from file \"%[1]s.wal\": Input/output error", "Input/output error"},
		{"IO Error: Cannot open file \"%s\": Permission denied", "Permission denied"},
		{"IO Error: Cannot open file \"%s\": Too many open files", ""},
		{"IO Error: Cannot open file \"%s\": Read-only file system", ""},
		{"IO Error: Could not write file \"%s\": Input/output error", ""},
		{"IO Error: Could not write file \"%s\": No space left on device", ""},
		{"IO Error: Could not read from file \"%s-not\": Input/output error", ""},
	} {
		if why := damage.Unreadable(path, duckdb.ParseError(fmt.Sprintf(test.text, path))); why != test.why {
			t.Errorf("%s: %q", test.text, why)
		}
	}
	s := openWith(t, dir)
	files, err := s.files.acquire(t.Context(), s.cfg.Catalog.Collection("objectdata"), crashDay0, crashDay0)
	must(t, err)
	s.files.finish(files, duckdb.ParseError("IO Error: Could not read from file \""+path+"\": Input/output error"))
	wantMissing(t, s, countAll, damageDay, 2)
	mendAfter(t, s, 3*time.Second)
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+2 {
		t.Errorf("%d rows, %v; want %d", n, err, oldRows+2)
	}
}
