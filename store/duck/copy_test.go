package duck

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"belfry"
	"belfry/store"
	"belfry/store/duck/copying"
	"belfry/store/duck/damage"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
)

// copyStore copies a store with CopyFiles; before is called with each file before it is read. It returns the folder of
// the copy, and what could not be copied.
func copyStore(t *testing.T, s *Store, before func(store.CopiedFile)) (to string, missing map[string]error) {
	t.Helper()
	to, missing = t.TempDir(), map[string]error{}
	must(t, s.CopyFiles(t.Context(), func(f store.CopiedFile) error {
		path := filepath.Join(to, filepath.FromSlash(f.Name))
		_ = os.Remove(path) // it may come again
		if delete(missing, f.Name); f.Err != nil {
			missing[f.Name] = f.Err
			return nil
		}
		if before != nil {
			before(f)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		content, err := io.ReadAll(f.Content)
		if err == nil && int64(len(content)) != f.Size {
			err = fmt.Errorf("%s has %d bytes, not %d", f.Name, len(content), f.Size)
		}
		return errors.Join(err, os.WriteFile(path, content, 0o600))
	}))
	return to, missing
}

// TestCopyHoldsCheckpoints copies a file slowly while rows arrive, of which each commit would be followed by a checkpoint
// of the engine or by ours. The file does not change, and the copy has the rows of before.
func TestCopyHoldsCheckpoints(t *testing.T) {
	dir := t.TempDir()
	s := openSmallLog(t, dir)
	pos := belfry.Position(0)
	add := func(rows int, columns ...string) {
		t.Helper()
		pos++
		b := manyRows(pos, 0, rows)
		for _, name := range columns {
			b.Columns = append(b.Columns, belfry.Column{Name: name, Numbers: b.Columns[1].Numbers})
		}
		mustAppend(t, s, b)
	}
	path := dayPath(dir, 0)
	number := func() uint64 {
		t.Helper()
		n, err := damage.Checkpoints(path)
		must(t, err)
		return n
	}
	total := 0
	for _, rows := range []int{60_000, 10, 60_000, 10} {
		add(rows)
		total += rows
	}
	unheld := number()
	if add(60_000); number() == unheld {
		t.Fatal("the engine makes no checkpoint by itself, so this test shows nothing")
	}
	total += 60_000
	to := t.TempDir()
	copied := filepath.Join(to, "objectdata", filepath.Base(path))
	must(t, os.MkdirAll(filepath.Dir(copied), 0o700))
	must(t, s.CopyFiles(t.Context(), func(f store.CopiedFile) error {
		if f.Name != "objectdata/"+filepath.Base(path) {
			return f.Err
		}
		out, err := os.Create(copied)
		must(t, err)
		defer out.Close()
		held := number()
		before, err := os.ReadFile(path)
		must(t, err)
		rounds := []int{60_000, 10, 90_000, 10, 60_000}
		for i, rows := range rounds {
			if _, err := io.CopyN(out, f.Content, f.Size/int64(len(rounds))); err != nil {
				return err
			}
			add(rows, []string{"i7", "i8"}[:i%3]...)
			if n := number(); n != held {
				t.Errorf("the file was checkpointed while it was copied: %d, before %d", n, held)
			}
			if _, err := os.Stat(path + ".wal"); err != nil {
				t.Errorf("no log: %v", err)
			}
		}
		after, err := os.ReadFile(path)
		must(t, err)
		if string(after[:damage.FirstBlock]) != string(before[:damage.FirstBlock]) {
			t.Error("the headers were changed")
		}
		_, err = io.Copy(out, f.Content)
		return err
	}))
	if s.files.held != nil || s.files.holding {
		t.Error("the file is still held")
	}
	held := number()
	if add(10); number() == held {
		t.Error("the log that grew during the copy was not checkpointed by the first commit after it")
	}
	if n := count(t, openWith(t, to)); n != total {
		t.Errorf("the copy has %d rows, want %d", n, total)
	}
	if n := count(t, s); n != total+210_020+10 {
		t.Errorf("the store has %d rows, want %d", n, total+210_030)
	}
	if problems := verify(t, to); len(problems) != 0 && !strings.Contains(fmt.Sprint(problems), "missing") {
		t.Errorf("%v", problems)
	}
}

// fullStore makes a store with all kinds of files: rows of four days, summaries, a watermark and an exception from it.
func fullStore(t *testing.T, dir string) *Store {
	t.Helper()
	s := openWith(t, dir)
	mustAppend(t, s, manyRows(1, 0, 5000), manyRows(2, 1, 20_000), manyRows(3, 2, 5000), name(7, "cpu"), name(8, "disk"))
	for more := true; more; {
		var err error
		more, err = s.Summarise(t.Context(), crashDay0+10*belfry.Day)
		must(t, err)
	}
	objectdata := s.cfg.Catalog.Collection("objectdata")
	must(t, s.Drop(t.Context(), objectdata, crashDay0+belfry.Day))
	if _, err := s.Keep(objectdata, crashDay0, crashDay0+9*belfry.Day); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, manyRows(4, 0, 50), manyRows(5, 3, 100))
	must(t, s.Durable(5))
	return s
}

// TestCopyIsWhole copies a store with all kinds of files. The copy answers what the store answers, and Verify finds
// nothing wrong with it.
func TestCopyIsWhole(t *testing.T) {
	s := fullStore(t, t.TempDir())
	states := map[string]string{}
	to, missing := copyStore(t, s, func(f store.CopiedFile) { states[f.Name] = f.State })
	if len(missing) > 0 {
		t.Errorf("not copied: %v", missing)
	}
	for _, name := range []string{"manifest", "objectdata/watermark", "objectdata/kept", "objectdata.hour/2024-10.duckdb", "removed.duckdb", "removed.mark"} {
		if states[name] == "" {
			t.Errorf("%s is not in the copy, or has no state", name)
		}
	}
	for name := range states {
		if strings.HasSuffix(name, index.Suffix) || strings.HasSuffix(name, itemSuffix) || strings.HasSuffix(name, ".wal") {
			t.Errorf("%s is in the copy", name)
		}
	}
	if problems := verify(t, to); len(problems) > 0 {
		t.Errorf("verify: %v", problems)
	}
	c := openWith(t, to)
	if got, want := count(t, c), count(t, s); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	if got, want := c.Accepts("objectdata"), s.Accepts("objectdata"); got != want {
		t.Errorf("rows are stored from %s on, want %s", got, want)
	}
	again := map[string]string{}
	if _, missing = copyStore(t, s, func(f store.CopiedFile) { again[f.Name] = f.State }); len(missing) > 0 {
		t.Errorf("not copied: %v", missing)
	}
	for name, state := range states {
		if again[name] != state {
			t.Errorf("%s has the state %q, and without a change in between %q", name, state, again[name])
		}
	}
	mustAppend(t, s, rowsOf(9, 2))
	copyStore(t, s, func(f store.CopiedFile) {
		if changed := f.State != states[f.Name]; f.Name != folder.ManifestFile && changed != (f.Name == "objectdata/"+dayName(2)+folder.FileSuffix) {
			t.Errorf("%s: changed %t", f.Name, changed)
		}
	})
}

// TestCopyOfLostFile sets a file aside, deletes or replaces it while it is copied, or before its turn.
func TestCopyOfLostFile(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(s *Store, path string)
		rows int // in the copy, of 30,000
	}{
		{"deleted", func(s *Store, path string) { remove(t, path); must(t, s.Watch()) }, 10_000},
		{"deleted, not noticed", func(_ *Store, path string) { remove(t, path) }, 10_000},
		{"damaged", func(s *Store, path string) {
			corruptRows(t, path)
			s.files.mu.Lock()
			for _, f := range s.files.byName["objectdata"] {
				s.files.setAside(f, "a block is bad")
				break
			}
			s.files.mu.Unlock()
		}, 10_000},
		{"cut", func(_ *Store, path string) { truncate(t, path, 20_000) }, 10_000},
	} {
		for _, when := range []string{"before", "while"} {
			if when == "before" && test.name == "cut" {
				continue // its own content is all there is
			}
			t.Run(test.name+"/"+when, func(t *testing.T) {
				dir := t.TempDir()
				s := openWith(t, dir)
				mustAppend(t, s, manyRows(1, 0, 20_000), manyRows(2, 1, 10_000))
				must(t, s.Durable(2))
				path := dayPath(dir, 0)
				key := "objectdata/" + filepath.Base(path)
				done := false
				to, missing := copyStore(t, s, func(f store.CopiedFile) {
					if !done && (when == "before" && f.Name == "manifest" || when == "while" && f.Name == key) {
						done = true
						test.do(s, path)
					}
				})
				if missing[key] == nil {
					t.Errorf("%v", missing)
				}
				c := openWith(t, to)
				wantMissing(t, c, countAll, 0, int64(test.rows))
				if test.name != "cut" { // which is noticed when the file is used
					wantNote(t, s, key)
				}
			})
		}
	}
}

// wantNote copies a store without a day again: a note says what was lost.
func wantNote(t *testing.T, s *Store, key string) {
	t.Helper()
	must(t, errors.Join(s.Watch(), s.Mend(t.Context())))
	lost := ""
	must(t, s.CopyFiles(t.Context(), func(f store.CopiedFile) error {
		if f.Lost != "" && strings.HasPrefix(f.Name, strings.TrimSuffix(key, folder.FileSuffix)) {
			lost += f.Lost
		}
		return nil
	}))
	if !strings.HasPrefix(lost, "the file of the day ") {
		t.Errorf("the note of %s says %q", key, lost)
	}
}

// TestCopyOfOlderFile puts an older copy in the place of a file just before its turn, which Watch has not noticed. The rows that it
// lacks are reported, not left out silently.
func TestCopyOfOlderFile(t *testing.T) {
	for name, attached := range map[string]bool{"attached": true, "not used since the start": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openWith(t, dir)
			path := dayPath(dir, 0)
			key := "objectdata/" + filepath.Base(path)
			mustAppend(t, s, manyRows(1, 0, 1000))
			earlier, _ := copyStore(t, s, nil)
			mustAppend(t, s, manyRows(2, 0, 1000), manyRows(3, 1, 500))
			must(t, s.Durable(3))
			copyStore(t, s, nil) // which leaves no log: with one, the older copy would lack nothing
			if !attached {
				must(t, s.Close())
				s = openWith(t, dir)
			}
			replace := func(f store.CopiedFile) {
				if f.Name == "manifest" {
					must(t, os.Rename(filepath.Join(earlier, filepath.FromSlash(key)), path))
				}
			}
			to, missing := copyStore(t, s, replace)
			if missing[key] == nil {
				t.Errorf("not copied: %v", missing)
			}
			wantMissing(t, openWith(t, to), countAll, 0, 500)
		})
	}
}

// TestCopyChecksOnce: a file that is not in use is attached for its first copy, to compare its position, and not again.
func TestCopyChecksOnce(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	mustAppend(t, s, manyRows(1, 0, 1000))
	must(t, s.Durable(1))
	must(t, s.Close())
	s = openWith(t, dir)
	f := s.files.others(nil)[0]
	for _, want := range []bool{true, false} {
		copyStore(t, s, nil)
		if got := f.alias != ""; got != want {
			t.Errorf("the file is attached: %v, want %v", got, want)
		}
		s.files.mu.Lock()
		s.files.detach(f)
		s.files.mu.Unlock()
	}
	if list := s.EstimateFiles(); len(list) != 1 || list[0].State != f.copied || list[0].Size == 0 {
		t.Errorf("the estimate is %+v, and the file was copied as %q", list, f.copied)
	}
}

// TestCopyOfChangedFile deletes the log of a file while it is copied. Its rows are saved by a checkpoint, and then the
// file is copied again.
func TestCopyOfChangedFile(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	mustAppend(t, s, manyRows(1, 0, 20_000))
	key := "objectdata/" + filepath.Base(dayPath(dir, 0))
	copies := 0
	to, missing := copyStore(t, s, func(f store.CopiedFile) {
		if f.Name != key {
			return
		}
		if copies++; copies > 1 {
			return
		}
		mustAppend(t, s, manyRows(2, 0, 100))
		remove(t, dayPath(dir, 0)+".wal")
		must(t, s.Watch())
		must(t, s.Mend(t.Context()))
	})
	if copies != 2 || len(missing) > 0 {
		t.Errorf("the file was copied %d times; not copied: %v", copies, missing)
	}
	if n := count(t, openWith(t, to)); n != 20_100 {
		t.Errorf("the copy has %d rows", n)
	}
}

// TestCopyWhileEngineIsReplaced replaces the engine while a file is copied, and adds rows. The new engine holds the file,
// too.
func TestCopyWhileEngineIsReplaced(t *testing.T) {
	dir := t.TempDir()
	s := openSmallLog(t, dir)
	mustAppend(t, s, manyRows(1, 0, 20_000))
	key := "objectdata/" + filepath.Base(dayPath(dir, 0))
	copies := 0
	to, missing := copyStore(t, s, func(f store.CopiedFile) {
		if f.Name != key {
			return
		}
		copies++
		must(t, s.restartEngine(t.Context()))
		for pos := range belfry.Position(3) {
			mustAppend(t, s, manyRows(2+pos, 0, 60_000))
		}
	})
	if copies != 1 || len(missing) > 0 {
		t.Errorf("the file was copied %d times; not copied: %v", copies, missing)
	}
	if n := count(t, openWith(t, to)); n != 20_000 {
		t.Errorf("the copy has %d rows", n)
	}
	if n := count(t, s); n != 200_000 {
		t.Errorf("the store has %d rows", n)
	}
}

// TestCopyWhileClosed closes the store while a file is copied.
func TestCopyWhileClosed(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	mustAppend(t, s, manyRows(1, 0, 20_000), manyRows(2, 1, 20_000))
	err := s.CopyFiles(t.Context(), func(f store.CopiedFile) error {
		if strings.HasSuffix(f.Name, dayName(0)+folder.FileSuffix) {
			mustAppend(t, s, manyRows(3, 0, 20_000))
			must(t, s.Close())
		}
		return nil
	})
	if !errors.Is(err, errClosed) {
		t.Errorf("%v", err)
	}
	if n := count(t, openWith(t, dir)); n != 60_000 {
		t.Errorf("%d rows", n)
	}
}

// TestCopyEnds: an error of each ends the copy, and nothing stays held. A second copy at the same time is refused.
func TestCopyEnds(t *testing.T) {
	s := fullStore(t, t.TempDir())
	enough := errors.New("enough")
	for n := 1; ; n++ {
		left := n
		err := s.CopyFiles(t.Context(), func(store.CopiedFile) error {
			if left--; left == 0 {
				if err := s.CopyFiles(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "already") {
					t.Errorf("a second copy: %v", err)
				}
				return enough
			}
			return nil
		})
		if left > 0 {
			must(t, err)
			break
		}
		if !errors.Is(err, enough) || s.files.held != nil || s.files.holding {
			t.Fatalf("%v after %d files; held: %v", err, n, s.files.held)
		}
	}
}

// TestCopyOfUnreadableFile: the file is reported, the rows that arrived meanwhile are copied, and the day is incomplete in
// the copy.
func TestCopyOfUnreadableFile(t *testing.T) {
	dir := makeDays(t)
	hide(t, dayPath(dir, damageDay))
	s := openWith(t, dir)
	mustAppend(t, s, rowsOf(9, damageDay))
	to, missing := copyStore(t, s, nil)
	if len(missing) != 1 || missing["objectdata/"+dayName(damageDay)+folder.FileSuffix] == nil {
		t.Errorf("not copied: %v", missing)
	}
	wantMissing(t, openWith(t, to), countAll, damageDay, 3)
	mendAfter(t, s, 0)
	show(t, dayPath(dir, damageDay))
}

// TestCopySmall: what is in the place of a small file is reported, and never waited for.
func TestCopySmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "watermark")
	if c, any := copying.Small("watermark", path); any {
		t.Errorf("a missing file: %+v", c)
	}
	mkdir(t, path)
	if c, any := copying.Small("watermark", path); !any || c.Err == nil {
		t.Errorf("a folder: %+v", c)
	}
	remove(t, path)
	must(t, unix.Mkfifo(path, 0o600))
	if c, any := copying.Small("watermark", path); !any || c.Err == nil {
		t.Errorf("a pipe: %+v", c)
	}
}

// TestCopyWithLittleMemory stores several times as many rows during the copy of a file as the engine has memory. They
// are in the log meanwhile, and the engine does not grow.
func TestCopyWithLittleMemory(t *testing.T) {
	const memory = 48 << 20
	rounds, rows := belfry.Position(60), 100_000
	if testing.Short() {
		t.Skip("part of make soak")
	}
	s := openSmall(t, t.TempDir(), memory)
	mustAppend(t, s, manyRows(1, 0, rows))
	key := "objectdata/" + filepath.Base(dayPath(s.cfg.Dir, 0))
	_, missing := copyStore(t, s, func(f store.CopiedFile) {
		if f.Name != key {
			return
		}
		for pos := range rounds {
			mustAppend(t, s, manyRows(2+pos, 0, rows))
		}
		if info, err := os.Stat(dayPath(s.cfg.Dir, 0) + ".wal"); err != nil || info.Size() < 3*memory {
			t.Errorf("the log: %v, %v", info, err)
		}
		if n := count(t, s); n != rows*int(rounds+1) {
			t.Errorf("%d rows while the file is copied", n)
		}
	})
	if len(missing) > 0 {
		t.Errorf("not copied: %v", missing)
	}
	mustAppend(t, s, rowsOf(100, 0))
	if n := count(t, s); n != rows*int(rounds+1)+1 {
		t.Errorf("%d rows", n)
	}
	if s.memoryNow() != memory {
		t.Errorf("the engine has grown to %d", s.memoryNow())
	}
}
