package duck

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
	"belfry/store"
	"belfry/store/duck/damage"
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
	used, unused := 0, 0
	for at := 600; at < len(whole); at += 40_000 {
		if at > damage.FirstBlock && at%3 == 0 {
			continue
		}
		bad := bytes.Clone(whole)
		bad[at] ^= 4
		must(t, os.WriteFile(path, bad, 0o600))
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
		must(t, os.WriteFile(path, content, 0o600))
		if found, _ := damagedCopies(t, s); found[key] == "" {
			t.Errorf("%s: not found", name)
		}
	}
	must(t, os.WriteFile(path, whole, 0o600))
}
