package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
)

// TestFolderGone: nothing is acknowledged while the folder, or the segment being written, is not where a restart would
// look for it. When the same folder is put back, appends succeed again and no valid record is missing.
func TestFolderGone(t *testing.T) {
	top := t.TempDir()
	dir, away := filepath.Join(top, "journal"), filepath.Join(top, "away")
	var reported []bool // whether there was an error
	j := open(t, dir, Options{Failed: func(err error) { reported = append(reported, err != nil) }})
	first := appendAll(t, j, "a")
	if err := j.Check(); err != nil {
		t.Fatal(err)
	}
	refused := func(when string) {
		t.Helper()
		if err := j.Check(); !errors.Is(err, ErrGone) {
			t.Errorf("%s: check says %v", when, err)
		}
		for range 2 {
			if _, err := j.Append([]byte("lost")); !errors.Is(err, ErrGone) || !errors.Is(err, ErrFailed) {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	must(t, os.Rename(dir, away))
	refused("moved away")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, segmentName(1)), []byte("another's"), 0o600))
	refused("replaced")
	if err := j.Release(first); !errors.Is(err, ErrGone) {
		t.Errorf("released in another's folder: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, segmentName(1))); err != nil {
		t.Errorf("another's segment: %v", err)
	}
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(away, dir))
	if err := j.Check(); err != nil {
		t.Errorf("put back: %v", err)
	}
	second := appendAll(t, j, "b")
	want(t, replay(t, j, 0), entry{first, "a"}, entry{second, "b"})

	must(t, os.Remove(filepath.Join(dir, segmentName(second.Epoch())))) // the segment alone
	if err := j.Check(); !errors.Is(err, ErrGone) {
		t.Errorf("segment removed: check says %v", err)
	}
	if _, err := j.Append([]byte("lost")); !errors.Is(err, ErrGone) {
		t.Errorf("segment removed: %v", err)
	}
	appendAll(t, j, "c") // in a new one
	if len(reported) < 3 || !reported[0] || reported[len(reported)-1] {
		t.Errorf("reported %v", reported)
	}
}

// TestGuard: a process that has lost the folder writes nothing, and acknowledges nothing that it wrote while it lost it.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	lost, calls, at := errors.New("lost"), 0, 0
	j := open(t, dir, Options{Guard: func() error {
		if calls++; at > 0 && calls >= at {
			return lost
		}
		return nil
	}})
	j.guardInterval = 0
	appendAll(t, j, "a")
	at = calls + 2 // after the write
	if _, err := j.Append([]byte("x")); !errors.Is(err, lost) {
		t.Error(err)
	}
	_, before := j.Size()
	for range 3 {
		if _, err := j.Append([]byte("x")); !errors.Is(err, lost) {
			t.Error(err)
		}
	}
	if _, n := j.Size(); n != before {
		t.Errorf("%d segments were begun", n-before)
	}
	at = 0
	appendAll(t, j, "b")
	if got := replay(t, j, 0); len(got) != 2 {
		t.Errorf("replayed %v", got)
	}
}

// TestGuardNotAlways: a successful check is valid for a while, also for later appends; a failed one is not.
func TestGuardNotAlways(t *testing.T) {
	calls, lost := 0, error(nil)
	j := open(t, t.TempDir(), Options{Guard: func() error { calls++; return lost }})
	j.guardInterval = time.Hour
	for range 10 {
		appendAll(t, j, "a")
	}
	if calls != 1 {
		t.Errorf("asked %d times", calls)
	}
	j.guardInterval, lost = 0, errors.New("lost")
	if _, err := j.Append([]byte("x")); !errors.Is(err, lost) {
		t.Error(err)
	}
	j.guardInterval, lost = time.Hour, nil
	appendAll(t, j, "b")
	if calls != 3 {
		t.Errorf("asked %d times", calls)
	}
}

func TestLockLost(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "data")
	must(t, os.Mkdir(dir, 0o700))
	l, err := LockDir(dir)
	must(t, err)
	path := filepath.Join(dir, "lock")
	must(t, l.Check())

	must(t, os.Remove(path)) // no other process has locked the folder
	if err := l.Check(); !errors.Is(err, ErrLockLost) {
		t.Errorf("removed: %v", err)
	}
	must(t, l.Renew())
	must(t, l.Check())
	if _, err := LockDir(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("renewed, and a second taker gets %v", err)
	}

	must(t, os.Remove(path))
	other, err := LockDir(dir)
	must(t, err)
	for range 2 { // while the other one runs, and after it has ended
		if err := l.Renew(); !errors.Is(err, ErrLockLost) || !errors.Is(err, ErrLockTaken) {
			t.Errorf("another one took the folder: %v", err)
		}
		if err := l.Check(); !errors.Is(err, ErrLockLost) {
			t.Errorf("another one took the folder: %v", err)
		}
		must(t, other.Unlock())
		other, err = LockDir(dir)
		must(t, err)
	}
	must(t, other.Unlock())

	must(t, os.Rename(dir, dir+".away"))
	must(t, os.Mkdir(dir, 0o700))
	if err := l.Renew(); !errors.Is(err, ErrLockLost) {
		t.Errorf("another folder of that name: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it locked another folder")
	}
	must(t, l.Unlock())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSegmentCut: what is sent after the active segment was cut off is not acknowledged into it, and goes into a new one.
func TestSegmentCut(t *testing.T) {
	for _, size := range []int64{0, headerSize, headerSize + 10} {
		dir := t.TempDir()
		j := open(t, dir, Options{})
		first := appendAll(t, j, "a")
		path := filepath.Join(dir, segmentName(first.Epoch()))
		must(t, os.Truncate(path, size))
		if _, err := j.Append([]byte("lost")); !errors.Is(err, ErrGone) || !errors.Is(err, ErrFailed) {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
		second := appendAll(t, j, "b")
		if second.Epoch() == first.Epoch() {
			t.Errorf("cut to %d bytes: %s is in the same segment", size, second)
		}
		must(t, j.Close())
		j = open(t, dir, Options{})
		want(t, replay(t, j, first), entry{second, "b"})
	}
}

// TestWrittenOver: what is written over a segment is noticed, and nothing is added to it.
func TestWrittenOver(t *testing.T) {
	known, dir, other := belfry.NewBranches([]belfry.Branch{{ID: "one"}}), t.TempDir(), t.TempDir()
	j := open(t, dir, Options{Branches: known})
	first := appendAll(t, j, "a")
	theirs := open(t, other, Options{Branches: belfry.NewBranches([]belfry.Branch{{ID: "other"}})})
	appendAll(t, theirs, "b")
	must(t, j.Check())
	path := filepath.Join(dir, segmentName(first.Epoch()))
	text, err := os.ReadFile(filepath.Join(other, segmentName(1)))
	must(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.Write(text)
	must(t, errors.Join(err, f.Close()))
	for range 2 {
		if err := j.Check(); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "was written over") {
			t.Fatal(err)
		}
	}
	second := appendAll(t, j, "c")
	third := appendAll(t, j, "d")
	if second.Epoch() == first.Epoch() || third.Epoch() != second.Epoch() {
		t.Errorf("records at %s, %s and %s", first, second, third)
	}
	must(t, j.Release(first)) // it is in the stores
	must(t, j.Check())
	must(t, j.Close())
	want(t, replay(t, open(t, dir, Options{Branches: known}), first), entry{second, "c"}, entry{third, "d"})
}

// TestMarkReplaced: another file in the place of the mark is replaced, while the journal is open or when it is closed.
func TestMarkReplaced(t *testing.T) {
	for _, checked := range []bool{true, false} {
		dir := t.TempDir()
		j := open(t, dir, Options{})
		last := appendAll(t, j, "a", "b") + 1
		foreign := filepath.Join(dir, "x")
		must(t, os.WriteFile(foreign, appendMark(nil, at(9, 9), "", 0), 0o600))
		must(t, os.Rename(foreign, markPath(dir)))
		if checked {
			must(t, j.Check())
			if m := readMark(dir); m.pos != last {
				t.Errorf("the mark is at %s, want %s", m.pos, last)
			}
		}
		must(t, j.Close())
		if m := readMark(dir); m.pos != last {
			t.Errorf("checked %t: the mark is at %s, want %s", checked, m.pos, last)
		}
		if d := open(t, dir, Options{}).Damaged(); len(d) > 0 {
			t.Errorf("checked %t: %v", checked, d)
		}
	}
}
