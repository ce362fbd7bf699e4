package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// copyWith copies the small journal to a new folder, with some files changed; nil omits one.
func (s small) copyWith(t *testing.T, changed map[string][]byte) string {
	t.Helper()
	dir := memoryDir(t)
	files := map[string][]byte{markName: s.mark}
	for name, data := range s.files {
		files[name] = data
	}
	for name, data := range changed {
		files[name] = data
	}
	for name, data := range files {
		if data != nil {
			must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
	}
	return dir
}

// TestLostEnd checks the text that reports a lost end: at every start, with the same position, until the journal has
// continued after it.
func TestLostEnd(t *testing.T) {
	s := smallJournal(t)
	first, second := segmentName(1), segmentName(2)
	end := s.ends[at(2, 6)]
	changed := func(change func(b []byte) []byte) []byte { return change(bytes.Clone(s.files[second])) }
	f := func(name string, files map[string][]byte, want Damage) {
		t.Run(name, func(t *testing.T) {
			dir := s.copyWith(t, files)
			for range 2 {
				j := open(t, dir, fast())
				if got := j.Damaged(); !slices.Contains(got, want) {
					t.Errorf("got %+v, want %+v", got, want)
				}
				must(t, j.Close())
			}
			j := open(t, dir, fast())
			if pos := appendAll(t, j, "new"); pos <= at(2, 6) {
				t.Errorf("position %x was used before", pos)
			}
			must(t, j.Close())
			for _, d := range open(t, dir, fast()).Damaged() {
				if d.From == want.From {
					t.Errorf("reported again: %+v", d)
				}
			}
		})
	}
	f("cut at a record", map[string][]byte{second: s.files[second][:s.ends[at(2, 3)]]},
		Damage{second, s.ends[at(2, 3)], at(2, 4), at(2, 6), false, "segment ends too early"})
	f("cut inside the last record", map[string][]byte{second: s.files[second][:end-1]},
		Damage{second, s.ends[at(2, 5)], at(2, 6), at(2, 6), false, "record header is damaged"})
	f("zeros from a record on", map[string][]byte{second: changed(func(b []byte) []byte { clear(b[s.ends[at(2, 4)]:]); return b })},
		Damage{second, s.ends[at(2, 4)], at(2, 5), at(2, 6), false, "segment ends too early"})
	f("zeros from the middle of a record on", map[string][]byte{second: changed(func(b []byte) []byte { clear(b[s.ends[at(2, 4)]-2:]); return b })},
		Damage{second, s.ends[at(2, 3)], at(2, 4), at(2, 6), false, "payload does not match its checksum"})
	f("a bit of the last record", map[string][]byte{second: changed(func(b []byte) []byte { b[end-2] ^= 8; return b })},
		Damage{second, s.ends[at(2, 5)], at(2, 6), at(2, 6), false, "payload does not match its checksum"})
	f("empty", map[string][]byte{second: {}},
		Damage{second, headerSize, at(2, 1), at(2, 6), false, "segment ends too early"})
	f("segment gone", map[string][]byte{second: nil},
		Damage{second, 0, at(1, 7), at(2, 6), false, "segment is missing"})
	f("all segments gone", map[string][]byte{first: nil, second: nil},
		Damage{second, 0, 1, at(2, 6), false, "segment is missing"})
}

// TestCrashBehindMark: records of an unacknowledged append are torn or valid, and never a loss.
func TestCrashBehindMark(t *testing.T) {
	s := smallJournal(t)
	end := int(s.ends[at(2, 6)])
	next := append(appendRecordHeader(nil, checksum(nil), at(2, 7), []byte("late")), "late"...)
	for n := range len(next) + 1 {
		data := append(bytes.Clone(s.files[segmentName(2)]), make([]byte, 100)...)
		copy(data[end:], next[:n])
		j := open(t, s.copyWith(t, map[string][]byte{segmentName(2): data}), fast())
		got, want := replay(t, j, 0), s.records
		if n == len(next) {
			want = append(slices.Clone(want), entry{at(2, 7), "late"})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d bytes of a record: %v", n, got)
		}
		if slices.ContainsFunc(j.Damaged(), func(d Damage) bool { return !d.Torn }) {
			t.Fatalf("%d bytes of a record: %+v", n, j.Damaged())
		}
	}
}

// TestUnusableMark: a mark that is missing, old, damaged or from elsewhere causes no loss, and is replaced.
func TestUnusableMark(t *testing.T) {
	s := smallJournal(t)
	f := func(data []byte, used bool) {
		t.Helper()
		dir := s.copyWith(t, map[string][]byte{markName: data})
		j := open(t, dir, fast())
		if d := j.Damaged(); len(d) > 0 {
			t.Fatalf("%x: %+v", data, d)
		}
		if (j.MarkProblem() == nil) != (used || data == nil) || (j.Acknowledged() != 0) != used {
			t.Fatalf("%x: %v, %x", data, j.MarkProblem(), j.Acknowledged())
		}
		appendAll(t, j, "a", "b")
		must(t, j.Close())
		if got := readMark(dir); got.pos != at(3, 2) {
			t.Fatalf("%x: afterwards %+v", data, got)
		}
	}
	f(s.mark, true)
	f(appendMark(nil, at(1, 3), "", 7), true)
	f(nil, false)
	f(appendMark(nil, at(9, 9), strings.Repeat("a", 32), 0), false)
	for n := range s.mark {
		f(s.mark[:n], false)
		for bit := range 8 {
			bad := bytes.Clone(s.mark)
			bad[n] ^= 1 << bit
			f(bad, false)
		}
	}
	f(append(bytes.Clone(s.mark), 0), false)
}

// TestCutWithoutMark: a crash does not leave a file that ends inside a record, as segments are allocated in advance.
func TestCutWithoutMark(t *testing.T) {
	s := smallJournal(t)
	second := segmentName(2)
	start, end := s.ends[at(2, 5)], s.ends[at(2, 6)]
	for n := start + 1; n < end; n++ {
		j := open(t, s.copyWith(t, map[string][]byte{markName: nil, second: s.files[second][:n]}), fast())
		want := []Damage{{second, start, at(2, 6), 0, false, "record header is damaged"}}
		if got := j.Damaged(); !slices.Equal(got, want) {
			t.Fatalf("cut at %d: %+v", n, got)
		}
	}
}

// TestMarkInTheWay: anything but a file is neither read nor followed, and the mark is written with the first append after it is removed.
func TestMarkInTheWay(t *testing.T) {
	for want, put := range map[string]func(path string) error{
		"a folder":        func(path string) error { return os.Mkdir(path, 0o700) },
		"a symbolic link": func(path string) error { return os.Symlink(path+".aside", path) },
		"a pipe":          func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		t.Run(want, func(t *testing.T) {
			dir := t.TempDir()
			path := markPath(dir)
			must(t, put(path))
			var reported []error
			o := fast()
			o.Marked = func(err error) { reported = append(reported, err) }
			j := open(t, dir, o)
			first := appendAll(t, j, "a")
			if len(reported) != 2 || reported[0] == nil || reported[1] == nil || reported[0].Error() != "it is "+want+", not a file" || reported[1].Error() != reported[0].Error() {
				t.Fatalf("reported %v", reported)
			}
			if err := j.MarkProblem(); err == nil || errors.Is(err, ErrBadMark) {
				t.Errorf("%v", err)
			}
			must(t, os.Remove(path))
			appendAll(t, j, "b")
			if got := readMark(dir); got.pos != first+1 || len(reported) != 3 || reported[2] != nil {
				t.Errorf("%+v, reported %v", got, reported)
			}
			if _, err := os.Lstat(path + ".aside"); err == nil {
				t.Error("the link was followed")
			}
			must(t, j.Close())
		})
	}
}

// TestMarkNotWritable: an append does not need the mark, and the problem is logged once.
func TestMarkNotWritable(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, markName), 0o700))
	var log bytes.Buffer
	j := open(t, dir, Options{SegmentSize: 100, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 4 {
		appendAll(t, j, "a")
	}
	if n := strings.Count(log.String(), "cannot be noted"); n != 1 {
		t.Errorf("reported %d times:\n%s", n, log.String())
	}
	must(t, j.Close())
	if j = open(t, dir, fast()); len(replay(t, j, 0)) != 4 || len(j.Damaged()) != 0 || j.MarkProblem() == nil {
		t.Errorf("%v, %v", j.Damaged(), j.MarkProblem())
	}
}

// TestNote: the owner's number is written with an append and survives an Open. It is unknown in a mark of another format.
func TestNote(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, fast())
	j.SetNote(7)
	if n := ReadNote(dir); n != 0 {
		t.Errorf("%d before the append", n)
	}
	appendAll(t, j, "a")
	must(t, j.Close())
	j = open(t, dir, fast())
	last := appendAll(t, j, "b")
	must(t, j.Close())
	if n := ReadNote(dir); n != 7 {
		t.Errorf("%d", n)
	}
	for _, format := range []uint32{markVersion - 1, markVersion + 1} {
		other := appendMark(nil, last, "", 7)[:markSize-4]
		binary.LittleEndian.PutUint32(other[8:], format)
		other = binary.LittleEndian.AppendUint32(other, checksum(other))
		must(t, os.WriteFile(markPath(dir), other, 0o600))
		j = open(t, dir, fast())
		want := fmt.Sprintf("it has format %d, this program knows format %d", format, markVersion)
		if err := j.MarkProblem(); !errors.Is(err, ErrBadMark) || err.Error() != want || j.Acknowledged() != 0 || ReadNote(dir) != 0 {
			t.Errorf("%v, %x, %d", err, j.Acknowledged(), ReadNote(dir))
		}
		must(t, j.Close())
	}
	j = open(t, dir, fast())
	j.SetNote(8)
	last = appendAll(t, j, "c")
	must(t, j.Close())
	if got := readMark(dir); got.pos != last || got.note != 8 {
		t.Errorf("%+v", got)
	}
}
