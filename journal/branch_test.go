package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry"
)

// starts begins a journal in each of some branches one after the other, with two records each.
func starts(t *testing.T, dir string, branches *belfry.Branches, ids ...string) {
	t.Helper()
	for _, id := range ids {
		j := open(t, dir, Options{Branches: branches})
		_, reached, _ := j.Bounds()
		branches.Set(append(branches.List(), belfry.Branch{ID: id, Since: reached}))
		appendAll(t, j, id+" 1", id+" 2")
		must(t, j.Close())
	}
}

// TestForeignBranch: a segment that a copy of the instance has written is refused, also if its number and its positions fit.
func TestForeignBranch(t *testing.T) {
	dir, known := t.TempDir(), belfry.NewBranches(nil)
	must(t, WriteInstance(dir, strings.Repeat("a", 32)))
	starts(t, dir, known, "one", "two")
	backup := belfry.NewBranches(known.List())
	copied := memoryDir(t)
	must(t, os.CopyFS(copied, os.DirFS(dir)))
	starts(t, dir, known, "three", "four")
	starts(t, copied, backup, "other", "another")
	want(t, replay(t, open(t, dir, Options{Branches: known}), at(3, 1)), entry{at(3, 2), "three 2"}, entry{at(4, 1), "four 1"}, entry{at(4, 2), "four 2"})

	for _, x := range []struct {
		name          string
		segment, from uint64
		branches      []belfry.Branch
		why           string
	}{
		{"its own", 4, 0, known.List(), ""},
		{"the newest", 4, 4, known.List(), "0000000000000004.journal cannot be used: it is of another branch of this instance: it was written last in a start of the service that the list of starts does not have (another)"},
		{"one before", 3, 3, known.List(), "the list of starts does not have (other)"},
		{"known, and too late", 4, 0, append(known.List()[:4:4], belfry.Branch{ID: "five", Since: at(4, 1)}), "ended here at 4·1"},
		{"the list has lost its beginning", 4, 0, []belfry.Branch{{ID: "five", Since: at(4, 2)}}, ""},
		{"and another branch", 4, 4, []belfry.Branch{{ID: "five", Since: at(3, 2)}}, "does not have (another)"},
	} {
		t.Run(x.name, func(t *testing.T) {
			mixed := memoryDir(t)
			must(t, os.CopyFS(mixed, os.DirFS(dir)))
			if x.from != 0 {
				data, err := os.ReadFile(filepath.Join(copied, segmentName(x.from)))
				must(t, errors.Join(err, os.WriteFile(filepath.Join(mixed, segmentName(x.segment)), data, 0o600)))
			}
			list := belfry.NewBranches(x.branches)
			_, readErr := Read(mixed, list)
			j, err := Open(mixed, Options{Branches: list})
			if err == nil {
				must(t, j.Close())
			}
			for _, err := range []error{readErr, err} {
				if (err == nil) != (x.why == "") || err != nil && (!strings.Contains(err.Error(), x.why) || !errors.Is(err, ErrBranch) || !errors.Is(err, ErrForeign)) {
					t.Errorf("%v, want %q", err, x.why)
				}
			}
		})
	}
}

// TestBranchWhileOpen: a copy of an open journal names a segment that another branch has overwritten.
func TestBranchWhileOpen(t *testing.T) {
	dir, known := t.TempDir(), belfry.NewBranches(nil)
	starts(t, dir, known, "one")
	path := filepath.Join(dir, segmentName(1))
	data, err := os.ReadFile(path)
	must(t, err)
	other := memoryDir(t)
	starts(t, other, belfry.NewBranches(nil), "other")
	theirs, err := os.ReadFile(filepath.Join(other, segmentName(1)))
	must(t, err)

	j := open(t, dir, Options{Branches: known})
	found := func() (damaged string) {
		t.Helper()
		_, err := j.Copy(func(_ string, _ int64, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}, func(name, why string) error {
			damaged = name + ": " + why
			return nil
		})
		must(t, err)
		return damaged
	}
	if d := found(); d != "" {
		t.Error(d)
	}
	must(t, os.WriteFile(path, theirs, 0o600))
	if d := found(); !strings.Contains(d, `0000000000000001.journal: it was written in another start of the service ("other")`) {
		t.Errorf("%q", d)
	}
	must(t, os.WriteFile(path, data, 0o600))
	if d := found(); d != "" {
		t.Error(d)
	}
}
