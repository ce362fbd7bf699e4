package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"belfry"
)

// Segments that were spares have what was written, and no spare is left after Close or a crash.
func TestSpares(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, Options{SegmentSize: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	const records = 200
	for i := range records {
		if _, err := j.Append(bytes.Repeat([]byte{byte(i + 1)}, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if _, n := j.Size(); n < 5 {
		t.Fatalf("%d segments, too few to have needed a spare", n)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	spare := filepath.Join(dir, spareName)
	if _, err := os.Stat(spare); !os.IsNotExist(err) {
		t.Errorf("a spare is left after Close: %v", err)
	}
	if err := os.WriteFile(spare, []byte("half made"), 0o600); err != nil { // as a crash leaves it
		t.Fatal(err)
	}
	if j, err = Open(dir, Options{SegmentSize: 16 << 10}); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := os.Stat(spare); !os.IsNotExist(err) {
		t.Errorf("a spare is left after Open: %v", err)
	}
	seen := 0
	err = j.Replay(0, func(_ belfry.Position, p []byte) error {
		seen++
		if len(p) != 1000 || p[0] != byte(seen) || p[999] != byte(seen) {
			t.Errorf("record %d is not what was written", seen)
		}
		return nil
	})
	if err != nil || seen != records || len(j.Damaged()) != 0 {
		t.Errorf("%d records, %v, %v", seen, err, j.Damaged())
	}
}

// TestSealedBehind: appends do not wait until the space that a segment did not need is free, and Close does.
func TestSealedBehind(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, segmentName(1))
	freed, freeing := make(chan struct{}), make(chan struct{}, 1)
	var shortened atomic.Bool
	o := Options{SegmentSize: 16 << 10, Sync: func(f *os.File) error {
		if info, err := f.Stat(); err != nil || f.Name() != first || info.Size() == 16<<10 {
			return err
		}
		freeing <- struct{}{}
		<-freed
		defer shortened.Store(true)
		return f.Sync()
	}}
	j := open(t, dir, o)
	for j.Last().Epoch() < 3 {
		appendAll(t, j, string(bytes.Repeat([]byte("x"), 1000)))
	}
	<-freeing
	go close(freed)
	if err := j.Close(); err != nil || !shortened.Load() {
		t.Errorf("closed before the segment was shortened: %v", err)
	}
	j = open(t, dir, Options{})
	if info, err := os.Stat(first); err != nil || info.Size() >= 16<<10 {
		t.Errorf("the first segment was not shortened: %v", err)
	}
	if n := len(replay(t, j, 0)); n == 0 || len(j.Damaged()) > 0 {
		t.Errorf("%d records, damage %v", n, j.Damaged())
	}
}
