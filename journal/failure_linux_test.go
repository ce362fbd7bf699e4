package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFullDisk fills a real file system.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no file system of our own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	j, err := Open(filepath.Join(dir, "journal"), Options{SegmentSize: 128 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	var failed error
	for i := range 1000 {
		p := fmt.Sprintf("%08d%s", i, make([]byte, 3000))
		pos, err := j.Append([]byte(p))
		if failed = err; err != nil {
			break
		}
		all = append(all, entry{pos, p})
	}
	if !errors.Is(failed, ErrNoSpace) {
		t.Fatalf("after %d records: %v", len(all), failed)
	}
	want(t, replay(t, j, 0), all...)
	half := all[len(all)/2].pos
	if err := j.Release(half); err != nil {
		t.Fatal(err)
	}
	pos, err := j.Append([]byte("again"))
	if err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	j.Close()
	j, err = Open(filepath.Join(dir, "journal"), Options{SegmentSize: 128 << 10, After: half})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	want(t, replay(t, j, 0), append(all[len(all)/2+1:], entry{pos, "again"})...)
	if d := j.Damaged(); len(d) > 0 {
		t.Fatal(d)
	}
}
