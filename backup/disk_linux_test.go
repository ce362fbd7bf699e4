package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mount makes a small file system that goes with the test.
func mount(t *testing.T, dir, size string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system of our own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// silent is a source that grows after its estimate, so that the disk is full in the middle.
type silent struct{ Source }

func (silent) Estimate(context.Context) ([]File, error) { return nil, nil }

// TestBackupFullDisk: a disk that fills up during a backup ends it with a message, the incomplete folder goes, and those before stay.
// A restore onto a full disk says so, and is whole when there is space.
func TestBackupFullDisk(t *testing.T) {
	cfg, target := newInstance(t, 600_000), t.TempDir()
	mount(t, target, "6m")
	src, err := StoppedSource(cfg, noLoss)
	if err != nil {
		t.Fatal(err)
	}
	backup := func(src Source) error {
		_, err := Create(context.Background(), src, Options{Target: target, Config: cfg, Full: true, Now: time.Now})
		return err
	}
	if err := backup(src); err != nil {
		t.Fatal(err)
	}
	wantError(t, backup(src), target, "has", "free", "this backup needs")
	full := backup(silent{src})
	wantError(t, full, "no space left in "+target, "needs more space", "remove old backups")
	if !errors.Is(full, unix.ENOSPC) {
		t.Error(full)
	}
	if partial, _ := filepath.Glob(filepath.Join(target, "*"+partialSuffix)); len(partial) > 0 {
		t.Errorf("the disk stays full: %v", partial)
	}
	wantWhole(t, target)

	disk := t.TempDir()
	mount(t, disk, "3m")
	again := configFor(t, filepath.Join(disk, "data"))
	_, err = Restore(context.Background(), target, again, RestoreOptions{})
	wantError(t, err, again.Data, "not complete", "no space left", "free space there", "run the restore again")
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=10m"); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(context.Background(), target, again, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, contents(t, cfg), again)
}

// TestOtherDisk: files that cannot be linked, because those of the last backup are on another disk, are copied.
func TestOtherDisk(t *testing.T) {
	cfg, target := newInstance(t, 10_000), t.TempDir()
	now := clock()
	mustCreate(t, cfg, Options{Target: target, Now: now})
	rows := filepath.Join(target, "20261119T013100Z", "rows")
	files := os.DirFS(rows + ".aside")
	if err := os.Rename(rows, rows+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(rows, 0o700); err != nil {
		t.Fatal(err)
	}
	mount(t, rows, "8m")
	if err := errors.Join(os.CopyFS(rows, files), os.RemoveAll(rows+".aside")); err != nil {
		t.Fatal(err)
	}
	var last Progress
	m := mustCreate(t, cfg, Options{Target: target, Now: now, Progress: func(p Progress) { last = p }})
	outside := int64(0)
	for _, e := range m.Files {
		if !strings.HasPrefix(e.Name, rowsDir) {
			outside += e.Source
		}
	}
	if last.Linked != outside || outside == 0 {
		t.Errorf("%d bytes were linked, want %d", last.Linked, outside)
	}
	wantWhole(t, target)
}
