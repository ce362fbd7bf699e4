package duck

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/names"
)

// damagedCopies copies a store and returns what was found to be damaged, by name, and how many files were copied.
func damagedCopies(t *testing.T, s *Store) (found map[string]string, files int) {
	t.Helper()
	found = map[string]string{}
	must(t, s.CopyFiles(t.Context(), func(f store.CopiedFile) error {
		switch {
		case f.Damaged != "":
			found[f.Name] = f.Damaged
			return nil
		case f.Err != nil:
			found[f.Name] = f.Err.Error()
			return nil
		}
		files++
		_, err := io.Copy(io.Discard, f.Content)
		return err
	}))
	return found, files
}

// TestCopyFindsDamage: whatever is changed in a file while the store has it open, a copy says so if a start would notice. Blocks
// that are not in use do not matter.
func TestCopyFindsDamage(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, dir)
	mustAppend(t, s, manyRows(1, 0, 60_000), manyRows(2, 1, 1000))
	for pos := range 5 { // each checkpoint leaves unused blocks behind
		mustAppend(t, s, manyRows(belfry.Position(3+pos), 0, 20_000))
		must(t, s.files.checkpoint(t.Context(), s.writer, s.files.byName["objectdata"][0]))
	}
	path := dayPath(dir, 0)
	key := "objectdata/" + filepath.Base(path)
	if found, files := damagedCopies(t, s); len(found) > 0 || files < 3 {
		t.Fatalf("%v of %d files, with nothing wrong", found, files)
	}
	whole, err := os.ReadFile(path)
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	put := func(content []byte) { // as a disk does it
		t.Helper()
		must(t, errors.Join(os.WriteFile(path, content, 0o600), os.Chtimes(path, info.ModTime(), info.ModTime())))
	}
	used, unused := 0, 0
	step := 40_000
	if testing.Short() {
		step = 160_000
	}
	for at := 600; at < len(whole); at += step {
		if at > damage.FirstBlock && at%3 == 0 {
			continue
		}
		bad := bytes.Clone(whole)
		bad[at] ^= 4
		put(bad)
		found, _ := damagedCopies(t, s)
		other := filepath.Join(t.TempDir(), "objectdata", filepath.Base(path))
		must(t, os.MkdirAll(filepath.Dir(other), 0o700))
		must(t, os.WriteFile(other, bad, 0o600))
		notices := false
		for _, p := range verify(t, filepath.Dir(filepath.Dir(other))) {
			notices = notices || strings.Contains(p.Problem, "damaged")
		}
		switch {
		case found[key] != "":
			used++
		case notices:
			t.Errorf("byte %d: not found", at)
		default:
			unused++
		}
	}
	if used == 0 || unused == 0 {
		t.Errorf("%d flips in use, %d not: this test shows less than it should", used, unused)
	}
	for name, content := range map[string][]byte{"cut": whole[:len(whole)/2], "cut at a block": whole[:damage.FirstBlock+damage.BlockBytes], "garbage": append(bytes.Repeat([]byte("x"), 8192), whole[8192:]...)} {
		put(content)
		if found, _ := damagedCopies(t, s); found[key] == "" {
			t.Errorf("%s: not found", name)
		}
	}
	put(whole)
}

// TestOverwritten: a file that is written over while the store has it open is noticed before rows are added to it, whatever its checksums, and
// set aside. One that was only touched is used again.
func TestOverwritten(t *testing.T) {
	f := func(name string, other func(dir string) []byte) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openWith(t, dir)
			mustAppend(t, s, manyRows(1, 0, 30_000), manyRows(2, 1, 30_000))
			for _, f := range s.files.byName["objectdata"] {
				must(t, s.files.checkpoint(t.Context(), s.writer, f))
			}
			path := dayPath(dir, 1)
			out, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			must(t, err)
			_, err = out.Write(other(dir))
			must(t, errors.Join(err, out.Close()))
			if err := store.AppendAll(t.Context(), s, rowsOf(3, 1)); err == nil {
				t.Error("rows were added to a file of someone else")
			}
			mustAppend(t, s, rowsOf(3, 1)) // to a new file
			if list := s.Incomplete(); len(list) != 1 || list[0].Day != dayName(1) {
				t.Errorf("incomplete: %v", list)
			}
		})
	}
	dir := t.TempDir()
	s := openWith(t, dir)
	mustAppend(t, s, manyRows(1, 0, 3000))
	must(t, os.Chtimes(dayPath(dir, 0), time.Now(), time.Now().Add(-time.Hour)))
	must(t, s.Watch())
	mustAppend(t, s, manyRows(2, 0, 3000))
	if n := count(t, s); n != 6000 || len(s.Incomplete()) > 0 {
		t.Errorf("%d rows of a file that was touched, %v", n, s.Incomplete())
	}
	read := func(path string) []byte {
		content, err := os.ReadFile(path)
		must(t, err)
		return content
	}
	f("another day", func(dir string) []byte { return read(dayPath(dir, 0)) })
	f("nothing", func(string) []byte { return nil })
	f("half", func(dir string) []byte { all := read(dayPath(dir, 0)); return all[:len(all)/2] })
	f("an older copy with other rows", func(string) []byte {
		other := t.TempDir()
		s := openWith(t, other)
		mustAppend(t, s, manyRows(1, 1, 5))
		must(t, s.Close())
		return read(dayPath(other, 1))
	})
}

// TestCopyOfDamagedNotes damages, removes and replaces the small files and the names of removed items while the store has them open. A
// copy has what the store has in memory, or names the file.
func TestCopyOfDamagedNotes(t *testing.T) {
	f := func(name, want string, change func(dir string)) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := fullStore(t, dir)
			mustAppend(t, s, removedName(7, 7, "cpu"))
			copyStore(t, s, nil)
			change(dir)
			found := map[string]string{}
			to, missing := copyStore(t, s, func(f store.CopiedFile) {
				if f.Damaged != "" {
					found[f.Name] = f.Damaged
				}
			})
			for name, err := range missing {
				found[name] = err.Error()
			}
			if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || found[want] == "") {
				t.Fatalf("reported: %v, want %q", found, want)
			}
			if problems := verify(t, to); want == "" && len(problems) > 0 {
				t.Errorf("%v", problems)
			}
		})
	}
	for _, name := range []string{"objectdata/watermark", "objectdata/kept", names.MarkFile} {
		f(name+" damaged", "", func(dir string) { write(t, filepath.Join(dir, name), []byte("1763164800000000 5f1c09aa\n")) })
		f(name+" empty", "", func(dir string) { write(t, filepath.Join(dir, name), nil) })
		f(name+" removed", "", func(dir string) { must(t, os.Remove(filepath.Join(dir, name))) })
	}
	f("names removed", names.File, func(dir string) { must(t, os.Remove(filepath.Join(dir, names.File))) })
	other := t.TempDir()
	must(t, fullStore(t, other).Close())
	foreign, err := os.ReadFile(filepath.Join(other, names.File))
	must(t, err)
	f("names written over", names.File, func(dir string) { write(t, filepath.Join(dir, names.File), foreign) })
	f("names replaced", names.File, func(dir string) {
		must(t, os.Remove(filepath.Join(dir, names.File)))
		write(t, filepath.Join(dir, names.File), foreign)
	})
}

// TestCopyOfNotesDamagedBefore: notes that were damaged when the store was opened are reported.
func TestCopyOfNotesDamagedBefore(t *testing.T) {
	dir := t.TempDir()
	must(t, fullStore(t, dir).Close())
	write(t, filepath.Join(dir, "objectdata", "watermark"), []byte("1763164800000000 5f1c09aa\n"))
	must(t, os.Remove(filepath.Join(dir, "objectdata", "kept")))
	found, _ := damagedCopies(t, openWith(t, dir))
	if len(found) != 2 || !strings.Contains(found["objectdata/watermark"], "checksum") || !strings.Contains(found["objectdata/kept"], "missing") {
		t.Errorf("reported: %v", found)
	}
}
