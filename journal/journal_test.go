package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"belfry"
)

// open opens a journal that is closed with the test.
func open(t testing.TB, dir string, o Options) *Journal {
	t.Helper()
	j, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func appendAll(t testing.TB, j *Journal, payloads ...string) belfry.Position {
	t.Helper()
	var list [][]byte
	for _, p := range payloads {
		list = append(list, []byte(p))
	}
	first, err := j.Append(list...)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// entry is a record as a test compares it.
type entry struct {
	pos     belfry.Position
	payload string
}

func (e entry) String() string {
	return fmt.Sprintf("%d·%d=%q", e.pos.Epoch(), e.pos.Index(), e.payload)
}

func at(segment, index uint64) belfry.Position { return belfry.PositionOf(segment, uint32(index)) }

func replay(t testing.TB, j *Journal, after belfry.Position) []entry {
	t.Helper()
	var list []entry
	err := j.Replay(after, func(pos belfry.Position, payload []byte) error {
		list = append(list, entry{pos, string(payload)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func want(t testing.TB, got []entry, want ...entry) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}

func TestAppendReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "journal")
	j := open(t, dir, Options{})
	want(t, replay(t, j, 0))
	if got := appendAll(t, j, "a"); got != at(1, 1) {
		t.Fatalf("first position %x", got)
	}
	if got := appendAll(t, j, "b", "", "d"); got != at(1, 2) {
		t.Fatalf("first position of the group %x", got)
	}
	if first, err := j.Append(); first != 0 || err != nil {
		t.Fatal("appending nothing must do nothing")
	}
	all := []entry{{at(1, 1), "a"}, {at(1, 2), "b"}, {at(1, 3), ""}, {at(1, 4), "d"}}
	want(t, replay(t, j, 0), all...)
	want(t, replay(t, j, at(1, 2)), all[2:]...)
	if j.Last() != at(1, 4) {
		t.Fatalf("last %x", j.Last())
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}

	j = open(t, dir, Options{})
	want(t, replay(t, j, 0), all...)
	if got := appendAll(t, j, "e"); got != at(2, 1) {
		t.Fatalf("position after reopening %x", got)
	}
	want(t, replay(t, j, at(1, 4)), entry{at(2, 1), "e"})
	if d := j.Damaged(); len(d) > 0 {
		t.Fatal(d)
	}
}

// TestCrash opens a journal whose segment was not sealed: the zeros after the records are no damage and are freed.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, Options{SegmentSize: 3 << 20})
	appendAll(t, first, "a", "b")
	if n, _ := first.Size(); n != 3<<20 {
		t.Skipf("the file system cannot allocate beforehand: %d bytes", n)
	}
	j := open(t, dir, Options{}) // the first never got to Close
	want(t, replay(t, j, 0), entry{at(1, 1), "a"}, entry{at(1, 2), "b"})
	if d := j.Damaged(); len(d) > 0 {
		t.Fatal(d)
	}
	if n, _ := j.Size(); n != headerSize+2*(recordHeaderSize+1) {
		t.Fatalf("%d bytes left", n)
	}
}

func TestAfter(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{SegmentSize: 140})
	for i := range 4 {
		appendAll(t, j, fmt.Sprint(i)) // one a segment
	}
	j.Close()
	j = open(t, dir, Options{After: at(2, 1)})
	want(t, replay(t, j, 0), entry{at(3, 1), "2"}, entry{at(4, 1), "3"})
	j.Close()
	j = open(t, dir, Options{After: at(9, 5)})
	want(t, replay(t, j, 0))
	if j.Last() != at(9, 5) {
		t.Fatalf("last %x", j.Last())
	}
	if got := appendAll(t, j, "x"); got != at(10, 1) {
		t.Fatalf("position %x must be above what is known elsewhere", got)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{SegmentSize: 1000})
	var all []entry
	put := func(sizes ...int) {
		t.Helper()
		var group []string
		for _, n := range sizes {
			group = append(group, strings.Repeat(string(rune('a'+len(all)%26)), n))
		}
		first := appendAll(t, j, group...)
		for i, p := range group {
			all = append(all, entry{first + belfry.Position(i), p})
		}
	}
	for range 20 {
		put(100)
		put(200, 10, 0)
	}
	put(300, 300, 300)    // fits a segment whole, but not the rest of one
	put(5000)             // needs one of its own size
	put(1, 4000, 1, 4000) // and so does this group
	put(1)
	want(t, replay(t, j, 0), all...)
	segments := make(map[uint64]bool)
	for i, e := range all {
		segments[e.pos.Epoch()] = true
		if i > 0 && e.pos <= all[i-1].pos {
			t.Fatalf("positions do not grow: %v", all)
		}
	}
	if _, n := j.Size(); n != len(segments) || n < 10 {
		t.Fatalf("%d segments, %d have records", n, len(segments))
	}
	j.Close()
	want(t, replay(t, open(t, dir, Options{}), 0), all...)
}

func TestTooLarge(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	if _, err := j.Append([]byte("a"), make([]byte, MaxRecord+1)); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if got := appendAll(t, j, "a"); got != at(1, 1) {
		t.Fatalf("the refused record took a position: %x", got)
	}
}

func TestRelease(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{SegmentSize: headerSize + 2*(recordHeaderSize+1)})
	for i := range 8 {
		appendAll(t, j, fmt.Sprint(i)) // two a segment
	}
	f := func(pos belfry.Position, segments int) {
		t.Helper()
		if err := j.Release(pos); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
		if _, n := j.Size(); n != segments || len(files) != segments {
			t.Fatalf("%d segments and %d files, want %d", n, len(files), segments)
		}
	}
	f(0, 4)
	f(at(1, 1), 4)
	f(at(1, 2), 3)
	f(at(3, 1), 2)
	f(at(4, 2), 1) // never the active one
	want(t, replay(t, j, 0), entry{at(4, 1), "6"}, entry{at(4, 2), "7"})
	j.Close()
	// Nor the newest one of an idle journal: its number prevents reuse of positions even if After is lost.
	j = open(t, dir, Options{})
	f(at(9, 9), 1)
	if d := j.Damaged(); len(d) > 0 {
		t.Fatalf("released segments are no damage: %v", d)
	}
	if got := appendAll(t, j, "x"); got != at(5, 1) {
		t.Fatalf("position %x", got)
	}
}

// TestReplayError: an error of f ends the replay and is returned unchanged.
func TestReplayError(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	appendAll(t, j, "a", "b", "c")
	stop := errors.New("stop")
	n := 0
	err := j.Replay(0, func(belfry.Position, []byte) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	})
	if err != stop || n != 2 {
		t.Fatal(n, err)
	}
}

// TestTogether appends, replays and releases concurrently, for the race detector.
func TestTogether(t *testing.T) {
	o := fast()
	o.SegmentSize = 2000
	j := open(t, t.TempDir(), o)
	done := make(chan struct{})
	var wg sync.WaitGroup
	reader := func(f func()) {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					f()
				}
			}
		})
	}
	reader(func() {
		lastPos, lastN := belfry.Position(0), -1
		err := j.Replay(0, func(pos belfry.Position, payload []byte) error {
			n, err := strconv.Atoi(string(payload))
			if err != nil || pos <= lastPos || n <= lastN {
				return fmt.Errorf("%x with %q after %x with %d", pos, payload, lastPos, lastN)
			}
			lastPos, lastN = pos, n
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	reader(func() {
		if last := j.Last(); last.Epoch() > 5 {
			if err := j.Release(last - 3<<32); err != nil {
				t.Error(err)
			}
		}
		j.Size()
		j.Damaged()
	})
	for i := range 2000 {
		appendAll(t, j, strconv.Itoa(i))
	}
	close(done)
	wg.Wait()
	if d := j.Damaged(); len(d) > 0 {
		t.Fatal(d)
	}
}

func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{})
	appendAll(t, j, "a")
	j.Close()
	path := filepath.Join(dir, segmentName(1))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := bytes.Clone(data[:commonHeaderSize-4])
	c[8] = formatVersion + 1
	sum := checksum(c)
	c = append(c, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	if err := os.WriteFile(path, append(append(bytes.Clone(c), data[commonHeaderSize:headerCopySize]...), data[headerCopySize:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "format 5, this program knows format 4") {
		t.Fatal(err)
	}
}

// TestForeignSegment: a segment of another instance is refused, whatever its number. Its records would be replayed here otherwise.
func TestForeignSegment(t *testing.T) {
	dirs := map[string]string{}
	for _, id := range []string{strings.Repeat("a", 32), strings.Repeat("b", 32)} {
		dir := t.TempDir()
		if err := WriteInstance(dir, id); err != nil {
			t.Fatal(err)
		}
		for range 2 { // each start begins a segment
			j := open(t, dir, Options{})
			appendAll(t, j, "of "+id)
			j.Close()
		}
		dirs[id[:1]] = dir
	}
	for _, number := range []uint64{1, 2} {
		path := filepath.Join(dirs["a"], segmentName(number))
		own, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		foreign, err := os.ReadFile(filepath.Join(dirs["b"], segmentName(number)))
		if err != nil {
			t.Fatal(err)
		}
		write := func(content []byte) {
			t.Helper()
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(foreign)
		for _, after := range []belfry.Position{0, at(3, 1)} {
			if _, err := Open(dirs["a"], Options{After: after}); err == nil || !strings.Contains(err.Error(), segmentName(number)+" has records of another instance") {
				t.Errorf("with a foreign segment %d, after %s: %v", number, after, err)
			}
		}
		if _, err := Read(dirs["a"], nil); err == nil || !strings.Contains(err.Error(), "another instance") {
			t.Errorf("read with a foreign segment %d: %v", number, err)
		}
		write(own)
		renamed := filepath.Join(dirs["a"], segmentName(9-number))
		if err := os.WriteFile(renamed, foreign, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dirs["a"], Options{}); err == nil || !strings.Contains(err.Error(), segmentName(9-number)+" has records of another instance") {
			t.Errorf("with the foreign segment %d as %d: %v", number, 9-number, err)
		}
		if err := os.Remove(renamed); err != nil {
			t.Fatal(err)
		}
	}
	j := open(t, dirs["a"], Options{})
	defer j.Close()
	if d := j.Damaged(); len(d) > 0 {
		t.Errorf("%v", d)
	}
}

// TestForeignRecords: records of another instance in an own segment are damage, even where all else about them fits.
func TestForeignRecords(t *testing.T) {
	make := func(id string, count int) (dir string, segment []byte) {
		dir = t.TempDir()
		if err := WriteInstance(dir, strings.Repeat(id, 32)); err != nil {
			t.Fatal(err)
		}
		j := open(t, dir, fast())
		for range count {
			appendAll(t, j, "of "+id)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		segment, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
		if err != nil {
			t.Fatal(err)
		}
		return dir, segment
	}
	own, a := make("a", 5)
	_, b := make("b", 9)
	const size = recordHeaderSize + len("of a")
	for cut := headerSize; cut <= headerSize+5*size; cut++ {
		dir := t.TempDir()
		for name, data := range map[string][]byte{segmentName(1): append(slices.Clone(a[:cut]), b[cut:]...), instanceFile: nil, markName: nil} {
			if data == nil {
				var err error
				if data, err = os.ReadFile(filepath.Join(own, name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j := open(t, dir, fast())
		for _, r := range replay(t, j, 0) {
			if r.payload != "of a" {
				t.Errorf("cut at %d: %v", cut, r)
			}
		}
		if kept := (cut - headerSize) / size; len(replay(t, j, 0)) != kept || len(j.Damaged()) == 0 || kept < 5 && j.Damaged()[0].Torn {
			t.Errorf("cut at %d: %d records, %v", cut, len(replay(t, j, 0)), j.Damaged())
		}
		j.Close()
	}
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notes.txt", "1.journal", "000000000000000G.journal", "ffffffffffffffff.journal", "0000000000000003.journal.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := open(t, dir, Options{})
	if _, n := j.Size(); n != 0 {
		t.Fatalf("%d segments", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "0000000000000003.journal.tmp")); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("a segment that was never begun is still there")
	}
	appendAll(t, j, "a")
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{512, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			j := open(b, b.TempDir(), Options{})
			payload := bytes.Repeat([]byte("x"), size)
			b.SetBytes(int64(size))
			for b.Loop() {
				pos, err := j.Append(payload)
				if err != nil {
					b.Fatal(err)
				}
				if uint32(pos) == 1 {
					if err := j.Release(pos - 1); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
