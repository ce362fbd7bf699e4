package journal

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// onDiskOf returns options for a journal on a disk of that many bytes.
func onDiskOf(dir string, bytes, segment int64) Options {
	return Options{SegmentSize: segment, Allocate: func(f *os.File, n int64) error {
		if folderSize(dir)+n > bytes {
			return &os.PathError{Op: "fallocate", Path: f.Name(), Err: syscall.ENOSPC}
		}
		return f.Truncate(n)
	}}
}

func folderSize(dir string) (n int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// TestOneSegmentDisk: a disk with space for only one segment. When everything in it is in all stores, there is space again,
// also after a restart.
func TestOneSegmentDisk(t *testing.T) {
	dir := t.TempDir()
	const segment = 256 << 10
	const disk = segment + markSize
	j := open(t, dir, onDiskOf(dir, disk, segment))
	record := strings.Repeat("x", 20<<10)
	fill := func() (n int) {
		t.Helper()
		for {
			_, err := j.Append([]byte(record))
			if errors.Is(err, ErrNoSpace) {
				return n
			}
			must(t, err)
			n++
		}
	}
	for round := range 3 {
		if n := fill(); n < 5 {
			t.Fatalf("round %d: full after %d records", round, n)
		}
		last := j.Last()
		must(t, j.Release(last-1))                                                         // the last one has not arrived
		if _, err := j.Append([]byte(record)); round == 0 && !errors.Is(err, ErrNoSpace) { // later there are several small ones
			t.Fatalf("%v although a record has not arrived", err)
		}
		if got := replay(t, j, last-1); len(got) == 0 || got[0].pos != last {
			t.Fatalf("round %d: %d records left", round, len(got))
		}
		if last = j.Last(); round == 0 { // a restart in that state
			must(t, j.Close())
			j = open(t, dir, onDiskOf(dir, disk, segment))
			if j.Last() != last {
				t.Fatalf("last is %x, want %x", j.Last(), last)
			}
			if _, err := j.Append([]byte(record)); !errors.Is(err, ErrNoSpace) {
				t.Fatal(err)
			}
		}
		must(t, j.Release(last))
		if pos := appendAll(t, j, record); pos <= last {
			t.Fatalf("round %d: position %x comes after %x", round, pos, last)
		}
	}
	must(t, j.Shrink(j.Last()))
	last := j.Last()
	must(t, j.Close())
	j = open(t, dir, onDiskOf(dir, disk, segment))
	if len(j.Damaged()) > 0 || j.Last() != last {
		t.Errorf("after a restart: last %x, want %x; damage %v", j.Last(), last, j.Damaged())
	}
	if got := replay(t, j, 0); len(got) != 0 {
		t.Errorf("%d records came back", len(got))
	}
}
