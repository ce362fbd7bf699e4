package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestFailedSync: a record whose sync failed is not acknowledged and never replayed, although its bytes are on disk.
func TestFailedSync(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("device error")
	fail := false
	var onDisk []byte // the failed segment as the system may have written it
	o := Options{Sync: func(f *os.File) error {
		if !fail {
			return f.Sync()
		}
		fail = false
		onDisk, _ = os.ReadFile(f.Name())
		return broken
	}}
	j := open(t, dir, o)
	appendAll(t, j, "a", "b")
	path := filepath.Join(dir, segmentName(1))

	fail = true
	if _, err := j.Append([]byte("lost"), []byte("lost too")); !errors.Is(err, ErrFailed) || !errors.Is(err, broken) || errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
	if j.Last() != at(1, 2) {
		t.Fatalf("last %x", j.Last())
	}
	want(t, replay(t, j, 0), entry{at(1, 1), "a"}, entry{at(1, 2), "b"})
	if got := appendAll(t, j, "c"); got != at(2, 1) {
		t.Fatalf("position %x is in the failed segment", got)
	}
	all := []entry{{at(1, 1), "a"}, {at(1, 2), "b"}, {at(2, 1), "c"}}
	want(t, replay(t, j, 0), all...)
	j.Close()

	if !bytes.Contains(onDisk, []byte("lost too")) {
		t.Fatal("the test did not see the failed record on disk")
	}
	if err := os.WriteFile(path, onDisk, 0o600); err != nil { // as if cutting it had not reached the disk
		t.Fatal(err)
	}
	j = open(t, dir, Options{})
	want(t, replay(t, j, 0), all...)
	if d := j.Damaged(); len(d) > 0 {
		t.Fatalf("a failed append is no damage: %v", d)
	}
}

// TestFailedFirstAppend: the fence holds even if nothing in the failed segment is valid.
func TestFailedFirstAppend(t *testing.T) {
	dir := t.TempDir()
	var onDisk []byte
	syncs := 0
	o := Options{Sync: func(f *os.File) error {
		if syncs++; syncs == 2 { // the first was for the header
			onDisk, _ = os.ReadFile(f.Name())
			return errors.New("device error")
		}
		return nil
	}}
	j := open(t, dir, o)
	if _, err := j.Append([]byte("lost")); err == nil {
		t.Fatal("acknowledged")
	}
	appendAll(t, j, "a")
	j.Close()
	if !bytes.Contains(onDisk, []byte("lost")) {
		t.Fatal("the test did not see the failed record on disk")
	}
	if err := os.WriteFile(filepath.Join(dir, segmentName(1)), onDisk, 0o600); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir, Options{})
	want(t, replay(t, j, 0), entry{at(2, 1), "a"})
	if err := j.Release(at(2, 0)); err != nil {
		t.Fatal(err)
	}
	if _, n := j.Size(); n != 1 {
		t.Fatalf("%d segments: the one where nothing counts should go too", n)
	}
}

// TestShortWrite: part of a group reaches the disk, then the disk is full.
func TestShortWrite(t *testing.T) {
	dir := t.TempDir()
	room := -1 // bytes that one write can write before the disk is full; -1: all
	write := func(f *os.File, bufs [][]byte, off int64) (int, error) {
		all := slices.Concat(bufs...)
		if room < 0 || len(all) <= room {
			return f.WriteAt(all, off)
		}
		n, err := f.WriteAt(all[:room], off)
		return n, errors.Join(err, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC})
	}
	j := open(t, dir, Options{Write: write, Allocate: func(*os.File, int64) error { return errors.ErrUnsupported }})
	appendAll(t, j, "a")
	for _, room = range []int{70, 30, 10, 0} { // inside the second record, the first, its header; nothing
		if _, err := j.Append(bytes.Repeat([]byte("x"), 40), []byte("b")); !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		want(t, replay(t, j, 0), entry{at(1, 1), "a"})
	}
	room = -1
	first := appendAll(t, j, "c")
	if first.Epoch() < 2 {
		t.Fatalf("position %x is in the failed segment", first)
	}
	j.Close()
	j = open(t, dir, Options{})
	want(t, replay(t, j, 0), entry{at(1, 1), "a"}, entry{first, "c"})
	if d := j.Damaged(); len(d) > 0 {
		t.Fatal(d)
	}
}

// TestNoRoomForSegment: while no segment can be begun every append returns an error, and the first with space succeeds.
func TestNoRoomForSegment(t *testing.T) {
	dir := t.TempDir()
	var refuse error
	j := open(t, dir, Options{SegmentSize: 200, Allocate: func(f *os.File, n int64) error {
		if refuse != nil {
			return refuse
		}
		return Allocate(f, n)
	}})
	appendAll(t, j, string(make([]byte, 100)))
	f := func(reason, want error) {
		t.Helper()
		refuse = reason
		for range 3 {
			if _, err := j.Append(make([]byte, 100)); !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
		}
		refuse = nil
		if _, err := j.Append(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if n := len(replay(t, j, 0)); n < 2 {
			t.Fatalf("%d records", n)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(files) > 0 {
			t.Fatal(files)
		}
	}
	f(syscall.ENOSPC, ErrNoSpace)
	f(syscall.EDQUOT, ErrNoSpace)
	f(syscall.EIO, ErrFailed)
	if n := len(replay(t, j, 0)); n != 4 {
		t.Fatalf("%d records, want 4", n)
	}
}

// TestFailedFolder: a segment whose name is not durable is not used.
func TestFailedFolder(t *testing.T) {
	dir := t.TempDir()
	fail := true
	j := open(t, dir, Options{SyncDir: func(dir string) error {
		if fail {
			return syscall.EIO
		}
		return SyncDir(dir)
	}})
	for range 3 {
		if _, err := j.Append([]byte("a")); !errors.Is(err, ErrFailed) {
			t.Fatal(err)
		}
	}
	fail = false
	pos := appendAll(t, j, "b")
	if pos.Epoch() != 4 {
		t.Fatalf("position %x: the number of a failed segment was used again", pos)
	}
	j.Close()
	want(t, replay(t, open(t, dir, Options{}), 0), entry{pos, "b"})
}
