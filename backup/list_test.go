package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPartialRemoved: the next backup removes incomplete ones, at whatever step they ended, and nothing else.
func TestPartialRemoved(t *testing.T) {
	cfg, target := newInstance(t, 1000), t.TempDir()
	now := clock()
	mustCreate(t, cfg, Options{Target: target, Now: now})
	done := filepath.Join(target, "20261119T013100Z")
	name := func(n string) string { return filepath.Join(target, n+partialSuffix) }
	if err := os.CopyFS(name("20261118T000000Z"), os.DirFS(done)); err != nil { // ended before the rename
		t.Fatal(err)
	}
	if err := os.Mkdir(name("20261118T000001Z"), 0o700); err != nil { // ended at once
		t.Fatal(err)
	}
	write(t, name("20261118T000002Z"), unfinishedFile, nil)
	write(t, name("20261118T000002Z"), "rows/a/b", nil)

	write(t, target, "notes.partial", nil)
	write(t, name("20261118T000003Z"), "mine", nil)
	write(t, name("20261118T000004"), unfinishedFile, nil)
	write(t, name("20261340T000000Z"), unfinishedFile, nil)
	write(t, name("20261118T000005Z"), unfinishedFile+"/x", nil)
	elsewhere := t.TempDir()
	write(t, elsewhere, unfinishedFile, nil)
	if err := os.Symlink(elsewhere, name("20261118T000006Z")); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, cfg, Options{Target: target, Now: now})
	entries, err := os.ReadDir(target)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{
		"20261118T000003Z.partial", "20261118T000004.partial", "20261118T000005Z.partial", "20261118T000006Z.partial",
		"20261119T013100Z", "20261119T013300Z", "20261340T000000Z.partial", "lock", "notes.partial",
	}
	if !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, unfinishedFile)); err != nil {
		t.Error(err)
	}
}

// TestPrune: the oldest backups of the instance go; the newest one, the newest whole one, and those of others stay.
func TestPrune(t *testing.T) {
	target, now := t.TempDir(), clock()
	cfg := configFor(t, t.TempDir())
	good := memoryFile("rows/a", noise(1, 100))
	lost := File{Name: "rows/b", Err: errDisk}
	for _, files := range [][]File{{good}, {good}, {good, lost}, {good, lost}} {
		if _, err := Create(context.Background(), &memorySource{files: files}, Options{Target: target, Config: cfg, Now: now}); err != nil {
			t.Fatal(err)
		}
	}
	other := newInstance(t, 100)
	mustCreate(t, other, Options{Target: target, Now: now})
	write(t, target, "20261119T000000Z/mine", nil)
	f := func(keep int, want ...string) {
		t.Helper()
		removed, err := Prune(target, testInstance, keep)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, path := range removed {
			names = append(names, filepath.Base(path))
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s is still there", path)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("removed %v, want %v", names, want)
		}
	}
	f(5)
	f(4)
	f(3, "20261119T013100Z")
	f(0, "20261119T013500Z") // 0133 is the newest from which nothing is missing, 0137 the newest of all
	list, err := List(target)
	if err != nil || len(list) != 4 {
		t.Fatal(list, err)
	}
	if err := os.WriteFile(filepath.Join(list[1].Path, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(context.Background(), &memorySource{files: []File{good}}, Options{Target: target, Config: cfg, Now: now}); err != nil {
		t.Fatal(err)
	}
	removed, err := Prune(target, testInstance, 1)
	wantError(t, err, list[1].Path, "notes", "move them away")
	if len(removed) != 1 || !strings.HasSuffix(removed[0], "20261119T013700Z") {
		t.Errorf("removed %v", removed)
	}
	if _, err := os.Stat(filepath.Join(list[1].Path, ManifestFile)); err != nil {
		t.Error(err)
	}
	last, err := Latest(target, testInstance)
	if err != nil || filepath.Base(last.Path) != "20261119T014100Z" {
		t.Error(last, err)
	}
	none, err := Latest(target, strings.Repeat("f", 32))
	if err != nil || none != nil {
		t.Error(none, err)
	}
	if _, err := Latest(filepath.Join(target, "none"), testInstance); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	_, _, err = restoreTo(t, target, RestoreOptions{})
	wantError(t, err, "several instances", "20261119T013300Z")
}
