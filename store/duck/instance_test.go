package duck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry/catalog"
)

// instanceStore makes a store of an instance with rows of day 0, in its file and in its log.
func instanceStore(t *testing.T, id string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, instanceFile), []byte(id+"\n"))
	s := openInstance(t, dir, id)
	must(t, s.Append(t.Context(), manyRows(1, 0, 10)))
	must(t, s.files.checkpoint(t.Context(), s.writer, s.files.byName["objectdata"][0]))
	must(t, s.Append(t.Context(), manyRows(2, 0, 10)))
	must(t, s.Append(t.Context(), rowsOf(3, 1)))
	must(t, s.Close())
	return dir
}

// TestForeignFile puts a day file of another instance, or its log alone, in the place of ours. It is set aside.
func TestForeignFile(t *testing.T) {
	const ours, theirs = testInstance, "fedcba9876543210fedcba9876543210"
	from := instanceStore(t, theirs)
	for _, suffixes := range [][]string{{"", ".wal"}, {".wal"}} {
		dir := instanceStore(t, ours)
		for _, suffix := range suffixes {
			content, err := os.ReadFile(dayPath(from, 0) + suffix)
			must(t, err)
			write(t, dayPath(dir, 0)+suffix, content)
		}
		cat, err := catalog.Load()
		must(t, err)
		v, err := Verify(t.Context(), Config{Dir: copyDir(t, dir), Catalog: cat, Instance: ours})
		if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Problem, theirs) && suffixes[0] == "" {
			t.Errorf("%q: verify: %v, %v", suffixes, v, err)
		}
		if suffixes[0] == "" { // the same as the second file of a day
			with := copyDir(t, instanceStore(t, ours))
			for _, suffix := range suffixes {
				content, err := os.ReadFile(dayPath(from, 0) + suffix)
				must(t, err)
				write(t, dayPath(with, 0)+lateSuffix+suffix, content)
			}
			v, err := Verify(t.Context(), Config{Dir: with, Catalog: cat, Instance: ours})
			if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Problem, theirs) || v.Problems[0].Remedy != remedyBadLate {
				t.Errorf("second file: verify: %v, %v", v, err)
			}
		}
		s := openInstance(t, dir, ours)
		wantMissing(t, s, countAll, 0, 1)
		must(t, s.Append(t.Context(), rowsOf(9, 0)))
		wantMissing(t, s, countAll, 0, 2)
	}
}

// TestFileGetsInstance: a file of an earlier version is taken as it is, and has the id after the next commit.
func TestFileGetsInstance(t *testing.T) {
	dir := makeDays(t)
	s := openInstance(t, dir, "")
	must(t, s.Close())
	write(t, filepath.Join(dir, instanceFile), []byte(testInstance+"\n"))
	s = openInstance(t, dir, testInstance)
	must(t, s.Append(t.Context(), rowsOf(9, 0)))
	if n, _, err := askFirst(t, s, countAll, false); err != nil || n != oldRows+3 {
		t.Errorf("%d rows, %v; want %d", n, err, oldRows+3)
	}
	must(t, s.Close())
	other := strings.Repeat("a", 32)
	write(t, filepath.Join(dir, instanceFile), []byte(other+"\n"))
	s = openInstance(t, dir, other)
	wantMissing(t, s, countAll, 0, 2)
}
