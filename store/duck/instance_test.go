package duck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
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

// TestBranches: a file has the branch of the start that wrote it last, also if that went on in the log of an earlier one. One that is
// not in the list, or has more than its branch had, is set aside.
func TestBranches(t *testing.T) {
	cat, err := catalog.Load()
	must(t, err)
	a, b, c, other := belfry.Branch{ID: "a"}, belfry.Branch{ID: "b", Since: 1}, belfry.Branch{ID: "c", Since: 2}, belfry.Branch{ID: "x", Since: 1}
	open := func(dir string, list ...belfry.Branch) *Store {
		t.Helper()
		s, err := openStore(t.Context(), config{Config: store.Config{Dir: dir, Catalog: cat, Instance: testInstance, Branches: belfry.NewBranches(list), Journal: func(func(*belfry.Batch) error) error { return nil }}})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	for _, whole := range []bool{false, true} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, folder.InstanceFile), []byte(testInstance+"\n"))
		s := open(dir, a)
		must(t, store.AppendAll(t.Context(), s, rowsOf(1, 0)))
		must(t, s.Close())
		s = open(dir, a, b)
		must(t, store.AppendAll(t.Context(), s, rowsOf(2, 0)))
		if whole {
			must(t, s.files.checkpoint(t.Context(), s.writer, s.files.byName["objectdata"][0]))
		}
		must(t, s.Close())
		if n := Noted(store.Config{Dir: dir}); n.Branch != "b" || n.Reached != 2 {
			t.Errorf("the manifest says %+v", n)
		}
		for _, x := range []struct {
			list  []belfry.Branch
			wrong string
		}{
			{[]belfry.Branch{a, b}, ""},
			{[]belfry.Branch{a, b, c}, ""},
			{[]belfry.Branch{c}, ""}, // begun again
			{[]belfry.Branch{a, other}, "that the list of starts does not have (b)"},
			{[]belfry.Branch{a, b, {ID: "d", Since: 1}}, "ended here at 0·1"},
		} {
			dir := copyDir(t, dir)
			v, err := Verify(t.Context(), store.Config{Dir: copyDir(t, dir), Catalog: cat, Instance: testInstance, Branches: belfry.NewBranches(x.list)})
			if err != nil || (x.wrong == "") != (len(v.Problems) == 0) || x.wrong != "" && !strings.Contains(v.Problems[0].Problem, x.wrong) {
				t.Errorf("%v: verify: %v, %v", x.list, v, err)
			}
			s := open(dir, x.list...)
			if x.wrong == "" {
				must(t, store.AppendAll(t.Context(), s, rowsOf(9, 0)))
				if n, missing, err := askFirst(t, s, countAll, false); n != 3 || len(missing) > 0 || err != nil {
					t.Errorf("%v: %d rows without %v, %v", x.list, n, missing, err)
				}
			} else {
				wantMissing(t, s, countAll, 0, 0)
			}
			must(t, s.Close())
		}
	}
}
