package duck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
)

// instanceStore makes a store of an instance with rows of day 0, in its file and in its log.
func instanceStore(t *testing.T, id string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, folder.InstanceFile), []byte(id+"\n"))
	s := openInstance(t, dir, id)
	must(t, store.AppendAll(t.Context(), s, manyRows(1, 0, 10)))
	must(t, s.files.checkpoint(t.Context(), s.writer, s.files.byName["objectdata"][0]))
	must(t, store.AppendAll(t.Context(), s, manyRows(2, 0, 10)))
	must(t, store.AppendAll(t.Context(), s, rowsOf(3, 1)))
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
		v, err := Verify(t.Context(), store.Config{Dir: copyDir(t, dir), Catalog: cat, Instance: ours})
		if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Problem, theirs) && suffixes[0] == "" {
			t.Errorf("%q: verify: %v, %v", suffixes, v, err)
		}
		if suffixes[0] == "" { // the same as the second file of a day
			with := copyDir(t, instanceStore(t, ours))
			for _, suffix := range suffixes {
				content, err := os.ReadFile(dayPath(from, 0) + suffix)
				must(t, err)
				write(t, dayPath(with, 0)+folder.LateSuffix+suffix, content)
			}
			v, err := Verify(t.Context(), store.Config{Dir: with, Catalog: cat, Instance: ours})
			if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Problem, theirs) || !strings.HasPrefix(v.Problems[0].Remedy, "Before you start the service, put back a good copy") {
				t.Errorf("second file: verify: %v, %v", v, err)
			}
		}
		s := openInstance(t, dir, ours)
		wantMissing(t, s, countAll, 0, 1)
		must(t, store.AppendAll(t.Context(), s, rowsOf(9, 0)))
		wantMissing(t, s, countAll, 0, 2)
	}
}

// TestFileWithoutInstance: a file that does not name an instance is set aside.
func TestFileWithoutInstance(t *testing.T) {
	for text, want := range map[string]string{
		"DROP TABLE ":  "it has no table that names its instance",
		"DELETE FROM ": "it does not name its instance",
	} {
		dir := instanceStore(t, testInstance)
		s := openInstance(t, dir, testInstance)
		used, err := s.files.acquire(t.Context(), s.cfg.Catalog.Collection("objectdata"), crashDay0, crashDay0)
		must(t, err)
		must(t, s.writer.Exec(t.Context(), text+used[0].alias+".main."+rowfile.InstanceTable))
		s.files.release(used)
		must(t, s.Close())
		v, err := Verify(t.Context(), store.Config{Dir: copyDir(t, dir), Catalog: s.cfg.Catalog, Instance: testInstance})
		if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Problem, want) {
			t.Errorf("%s: verify: %+v, %v", text, v.Problems, err)
		}
		s = openInstance(t, dir, testInstance)
		wantMissing(t, s, countAll, 0, 1)
	}
}
