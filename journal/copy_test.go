package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"belfry"
)

const copyInstance = "0123456789abcdef0123456789abcdef"

// noDamage is for copies of which nothing is damaged.
func noDamage(name, why string) error { return fmt.Errorf("%s: %s", name, why) }

// copyOf copies a journal into a new folder. It checks that every reader has as many bytes as announced.
func copyOf(t testing.TB, j *Journal) (dir string, pos belfry.Position) {
	t.Helper()
	dir = memoryDir(t)
	var names []string
	pos, err := j.Copy(func(name string, size int64, r io.Reader) error {
		content, err := io.ReadAll(r)
		if int64(len(content)) != size {
			t.Errorf("%s has %d bytes, announced were %d", name, len(content), size)
		}
		names = append(names, name)
		return errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}, noDamage)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(names); names[0] != instanceFile || names[n-1] != markName || !slices.IsSorted(names[1:n-1]) {
		t.Errorf("order of the files: %v", names)
	}
	return dir, pos
}

// checkCopy opens a copy, first for reading, and returns its records.
func checkCopy(t testing.TB, dir string, pos belfry.Position, note uint64) []entry {
	t.Helper()
	r, err := Read(dir, nil)
	if err != nil || len(r.Damaged()) > 0 || r.MarkProblem() != nil {
		t.Fatalf("copy up to %s: %v, damage %v, end %v", pos, err, r.Damaged(), r.MarkProblem())
	}
	list := replay(t, r, 0)
	o := fast()
	o.Marked = func(err error) { t.Errorf("copy up to %s: %v", pos, err) }
	j := open(t, dir, o)
	if d := j.Damaged(); len(d) > 0 || j.Last() != pos || ReadNote(dir) != note {
		t.Fatalf("copy up to %s: last %s, note %d, damage %v", pos, j.Last(), ReadNote(dir), d)
	}
	want(t, replay(t, j, 0), list...)
	if next := appendAll(t, j, "new"); next <= pos {
		t.Fatalf("position %s is used again", next)
	}
	return list
}

// TestCopy copies a journal while another goroutine appends and releases segments, and opens each copy.
func TestCopy(t *testing.T) {
	dir := memoryDir(t)
	must(t, WriteInstance(dir, copyInstance))
	o := fast()
	o.SegmentSize = 1 << 10
	j := open(t, dir, o)
	var all []entry // read after the goroutine has ended
	record := func() {
		text := fmt.Sprintf("record %d %s", len(all), strings.Repeat("x", len(all)%50))
		all = append(all, entry{appendAll(t, j, text), text})
	}
	record()
	type taken struct {
		dir string
		pos belfry.Position
	}
	var copies []taken
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for len(all) < 500 { // at least, so that some segments fill up
			record()
		}
		for {
			select {
			case <-stop:
				return
			default:
				record()
				if err := j.Release(all[len(all)-20].pos); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	for range 30 {
		release := j.Hold()
		before := j.Last()
		copied, pos := copyOf(t, j)
		release()
		if pos < before {
			t.Errorf("the copy ends at %s, but %s was acknowledged before", pos, before)
		}
		copies = append(copies, taken{copied, pos})
	}
	close(stop)
	<-done
	for _, c := range copies {
		got := checkCopy(t, c.dir, c.pos, 0)
		if len(got) == 0 || got[len(got)-1].pos != c.pos {
			t.Fatalf("the copy up to %s has %d records", c.pos, len(got))
		}
		first := slices.IndexFunc(all, func(e entry) bool { return e.pos == got[0].pos })
		want(t, all[first:first+len(got)], got...)
	}
}

// TestCopyOfFailedAppend: what a failed append has written is in no copy, even if cutting it did not reach the disk, whether
// the next segment could be begun or not.
func TestCopyOfFailedAppend(t *testing.T) {
	f := func(name string, begin bool) {
		t.Run(name, func(t *testing.T) {
			dir, broken := memoryDir(t), errors.New("device error")
			must(t, WriteInstance(dir, copyInstance))
			failing := false
			var onDisk []byte
			o := fast()
			o.Sync = func(f *os.File) error {
				if failing && onDisk == nil {
					onDisk, _ = os.ReadFile(f.Name())
					return broken
				}
				return nil
			}
			o.Allocate = func(f *os.File, size int64) error {
				if failing && !begin {
					return broken
				}
				return f.Truncate(size)
			}
			j := open(t, dir, o)
			j.SetNote(7)
			appendAll(t, j, "a", "b")
			failing = true
			if _, err := j.Append([]byte("lost")); !errors.Is(err, broken) || !bytes.Contains(onDisk, []byte("lost")) {
				t.Fatal(err)
			}
			must(t, os.WriteFile(filepath.Join(dir, segmentName(1)), onDisk, 0o600))
			copied, pos := copyOf(t, j)
			want(t, checkCopy(t, copied, pos, 7), entry{at(1, 1), "a"}, entry{at(1, 2), "b"})
			failing = false
			next := appendAll(t, j, "c")
			copied, pos = copyOf(t, j)
			want(t, checkCopy(t, copied, pos, 7), entry{at(1, 1), "a"}, entry{at(1, 2), "b"}, entry{next, "c"})
		})
	}
	f("next segment begun", true)
	f("no space for the next segment", false)
}

// TestCopyAfterStart copies a journal to which nothing has been appended since it was opened: after a clean stop, after a crash
// and with a lost end, which the copy shows too.
func TestCopyAfterStart(t *testing.T) {
	s := smallJournal(t)
	first, second := segmentName(1), segmentName(2)
	end := s.ends[at(2, 6)]
	f := func(name string, newest []byte, damaged bool) {
		t.Run(name, func(t *testing.T) {
			dir := s.copyWith(t, map[string][]byte{second: newest})
			j := open(t, dir, fast())
			copied := memoryDir(t)
			_, err := j.Copy(func(name string, _ int64, r io.Reader) error {
				content, err := io.ReadAll(r)
				return errors.Join(err, os.WriteFile(filepath.Join(copied, name), content, 0o600))
			}, noDamage)
			must(t, err)
			c, err := Read(copied, nil)
			must(t, err)
			want(t, replay(t, c, 0), replay(t, j, 0)...)
			if (len(c.Damaged()) > 0) != damaged || !slices.Equal(lostPositions(c), lostPositions(j)) {
				t.Errorf("damage %v, want that of %v", c.Damaged(), j.Damaged())
			}
		})
	}
	f("stopped", s.files[second], false)
	f("unused space", append(bytes.Clone(s.files[second]), make([]byte, 500)...), false)
	f("torn end", append(bytes.Clone(s.files[second]), s.files[first][headerSize:headerSize+30]...), false)
	f("lost end", s.files[second][:end-1], true)
}

func lostPositions(j *Journal) (list [][2]belfry.Position) {
	for _, d := range j.Damaged() {
		if !d.Torn {
			list = append(list, [2]belfry.Position{d.From, d.To})
		}
	}
	return list
}

// TestHold: while one of several holds is left, Release and Shrink remove nothing; releasing one twice does not end another.
func TestHold(t *testing.T) {
	o := fast()
	j := open(t, memoryDir(t), o)
	for range 3 {
		appendAll(t, j, "a")
		j.Rotate()
	}
	one, two := j.Hold(), j.Hold()
	f := func(what string, segments int) {
		t.Helper()
		must(t, j.Release(j.Last()))
		must(t, j.Shrink(j.Last()))
		if _, n := j.Size(); n != segments {
			t.Errorf("%s: %d segments, want %d", what, n, segments)
		}
	}
	f("two holds", 3)
	one()
	one()
	f("one hold", 3)
	two()
	f("no hold", 1)
	if got := replay(t, j, 0); len(got) > 0 {
		t.Errorf("%d records are left after Shrink", len(got))
	}
}

// TestCopyFindsDamage: whatever is changed in a segment while the journal is open, Copy says so, and copies the rest.
func TestCopyFindsDamage(t *testing.T) {
	s := smallJournal(t)
	for i, name := range []string{segmentName(1), segmentName(2)} {
		for at := range len(s.files[name]) {
			j := open(t, s.copyWith(t, nil), fast())
			path := filepath.Join(filepath.Dir(j.segments[0].path), name)
			content, err := os.ReadFile(path)
			must(t, err)
			if int64(at) >= j.segments[i].end || at >= int(headerSize) && at%7 != 0 { // a sample of the records
				continue
			}
			content[at] ^= 0x20
			must(t, os.WriteFile(path, content, 0o600))
			files, found := 0, ""
			_, err = j.Copy(func(string, int64, io.Reader) error { files++; return nil }, func(file, why string) error {
				found += file
				return nil
			})
			if err != nil || files != 3 || found != name {
				t.Fatalf("byte %d of %s: %d files, %v, found in %q", at, name, files, err, found)
			}
			must(t, j.Close())
		}
	}
}
