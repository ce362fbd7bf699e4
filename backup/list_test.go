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
	last, _, err := Latest(target, testInstance)
	if err != nil || filepath.Base(last.Path) != "20261119T014100Z" {
		t.Error(last, err)
	}
	none, _, err := Latest(target, strings.Repeat("f", 32))
	if err != nil || none != nil {
		t.Error(none, err)
	}
	if _, _, err := Latest(filepath.Join(target, "none"), testInstance); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	_, _, err = restoreTo(t, target, RestoreOptions{})
	wantError(t, err, "several instances", "20261119T013300Z")
}

// TestDamagedManifest: a backup whose manifest is damaged, empty or gone is not passed over silently. A restore from the folder of
// backups names it, verify reports it also if it is named alone under another name, and it does not count among those that are kept.
func TestDamagedManifest(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{}\n"), 0o600) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"gone":    os.Remove,
	} {
		cfg, target, now := newInstance(t, 1000), t.TempDir(), clock()
		for range 3 {
			mustCreate(t, cfg, Options{Target: target, Now: now})
		}
		list, err := List(target)
		if err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		newest := list[2].Path
		manifest := filepath.Join(newest, ManifestFile)
		if err := errors.Join(os.Chmod(manifest, 0o600), damage(manifest)); err != nil {
			t.Fatal(err)
		}
		_, _, err = restoreTo(t, target, RestoreOptions{})
		wantError(t, err, "the newest backup", newest, "name the folder of an earlier one", list[1].Path)
		if _, _, err := restoreTo(t, list[1].Path, RestoreOptions{}); err != nil {
			t.Error(name, err)
		}
		if removed, err := Prune(target, list[0].Manifest.Instance, 2); err != nil || len(removed) > 0 {
			t.Errorf("%s: removed %v, %v", name, removed, err)
		}
		m := mustCreate(t, cfg, Options{Target: target, Now: now})
		if passed := m.Passed(); len(passed) != 1 || !strings.Contains(passed[0], newest) {
			t.Errorf("%s: the next backup passes over %q", name, passed)
		}
		if _, _, err := restoreTo(t, target, RestoreOptions{}); err != nil {
			t.Errorf("%s, with a newer one: %v", name, err)
		}
		alone := filepath.Join(t.TempDir(), "alone")
		if err := os.Rename(newest, alone); err != nil {
			t.Fatal(err)
		}
		if files, _ := problems(t, alone); !slices.Equal(files, []string{filepath.Join(alone, ManifestFile)}) {
			t.Errorf("%s: verify reports %v", name, files)
		}
	}
}

// TestLinkAsBackup: what has the name of a backup and is not a folder is named wherever it is passed over, and stays.
func TestLinkAsBackup(t *testing.T) {
	for what, replace := range map[string]func(elsewhere, path string) error{
		"link":          os.Symlink,
		"dangling link": func(elsewhere, path string) error { return os.Symlink(elsewhere+"x", path) },
		"file":          func(_, path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		cfg, target, now := newInstance(t, 1000), t.TempDir(), clock()
		newest := mustCreate(t, cfg, Options{Target: target, Now: now}).Path()
		elsewhere := filepath.Join(t.TempDir(), "moved")
		f := func(step string, err error) {
			t.Helper()
			for _, part := range []string{newest, "because it is a link or a file", "put the folder"} {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s, %s: %v, want %q", what, step, err, part)
				}
			}
		}
		if err := errors.Join(os.Rename(newest, elsewhere), replace(elsewhere, newest)); err != nil {
			t.Fatal(err)
		}
		_, _, err := restoreTo(t, target, RestoreOptions{})
		f("restore of the only one", err)
		if err := os.CopyFS(filepath.Join(target, "20261119T010000Z"), os.DirFS(elsewhere)); err != nil {
			t.Fatal(err)
		}
		_, _, err = restoreTo(t, target, RestoreOptions{})
		f("restore", err)
		f("backup", errors.New(strings.Join(mustCreate(t, cfg, Options{Target: target, Now: now}).Passed(), " ")))
		f("full backup", errors.New(strings.Join(mustCreate(t, cfg, Options{Target: target, Now: now, Full: true}).Passed(), " ")))
		if files, _ := problems(t, target); !slices.Equal(files, []string{newest}) {
			t.Errorf("%s: verify reports %v", what, files)
		}
		if _, err := Prune(target, mustCreate(t, cfg, Options{Target: target, Now: now}).Instance, 1); err != nil {
			t.Error(what, err)
		}
		if _, err := os.Lstat(newest); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestPruneDamaged: the last backup from which nothing is missing stays if later ones have lost files since they were made.
func TestPruneDamaged(t *testing.T) {
	target, now := t.TempDir(), clock()
	cfg := configFor(t, t.TempDir())
	good := memoryFile("rows/a", noise(1, 100))
	lost := File{Name: "rows/b", Err: errDisk}
	for _, files := range [][]File{{good}, {good}, {good, lost}} {
		if _, err := Create(context.Background(), &memorySource{files: files}, Options{Target: target, Config: cfg, Now: now, Full: true}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(list[1].Path, "rows", "a")); err != nil {
		t.Fatal(err)
	}
	if removed, err := Prune(target, testInstance, 1); err != nil || !slices.Equal(removed, []string{list[1].Path}) {
		t.Errorf("removed %v, %v, want %s", removed, err, list[1].Path)
	}
}
