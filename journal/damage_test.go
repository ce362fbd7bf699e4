package journal

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"belfry"
)

// small is a journal of twelve records in two segments, the second not sealed, as a crash leaves it.
type small struct {
	files   map[string][]byte
	records []entry
	ends    map[belfry.Position]int64 // offset after each record
	mark    []byte                    // the file "end"
}

func smallJournal(t testing.TB) small {
	t.Helper()
	dir := memoryDir(t)
	j := open(t, dir, Options{SegmentSize: 360})
	s := small{files: make(map[string][]byte), ends: make(map[belfry.Position]int64)}
	put := func(payloads ...string) {
		first := appendAll(t, j, payloads...)
		end := j.active.end
		for i, p := range slices.Backward(payloads) {
			pos := first + belfry.Position(i)
			s.ends[pos] = end
			end -= recordHeaderSize + int64(len(p))
		}
		for i, p := range payloads {
			s.records = append(s.records, entry{first + belfry.Position(i), p})
		}
	}
	put("one")
	put("two", "three", "")
	put("five is longer than its neighbours")
	put(marker + "six looks like a record")
	put("seven is what begins another segment")
	put("eight")
	put("nine", "ten")
	put("eleven")
	put("twelve")
	for _, seg := range j.segments {
		data, err := os.ReadFile(seg.path)
		if err != nil {
			t.Fatal(err)
		}
		s.files[filepath.Base(seg.path)] = data
	}
	var err error
	if s.mark, err = os.ReadFile(filepath.Join(dir, markName)); err != nil {
		t.Fatal(err)
	}
	if len(s.files) != 2 || j.segments[0].index() != 6 {
		t.Fatalf("%d segments, %d records in the first", len(s.files), j.segments[0].index())
	}
	return s
}

// memoryDir returns a folder in memory, if the machine has one: thousands of small files are many times faster there.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// fast opens a journal that does not sync, which makes no difference for damage.
func fast() Options {
	return Options{
		SegmentSize: 4096,
		Sync:        func(*os.File) error { return nil },
		SyncDir:     func(string) error { return nil },
	}
}

// check opens the journal with one file replaced and checks what holds for all damage: it opens, replays the records of
// want, reports damage if reported is set, accepts new records at new positions, and replays all of them again. With a mark
// every loss is reported as one; without it a damaged end may have been torn by a crash.
func (s small) check(t *testing.T, dir, name string, data []byte, want []entry, reported bool) {
	t.Helper()
	s.put(t, dir)
	for n, d := range s.files {
		if n == name {
			d = data
		}
		if err := os.WriteFile(filepath.Join(dir, n), d, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, err := Open(dir, fast())
	if err != nil {
		t.Fatal(err)
	}
	got := replay(t, j, 0)
	if !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v\ndamage %v", got, want, j.Damaged())
	}
	if reported && len(j.Damaged()) == 0 {
		t.Fatal("a record is lost and not reported")
	}
	for _, r := range s.records {
		if reported && !slices.Contains(want, r) && !covered(j.Damaged(), r.pos, name, s.mark != nil) {
			t.Fatalf("%v is lost, but the damage is %+v", r, j.Damaged())
		}
	}
	if s.mark != nil && len(want) == len(s.records) && slices.ContainsFunc(j.Damaged(), func(d Damage) bool { return d.From != 0 && !d.Torn }) {
		t.Fatalf("nothing is lost, but the damage is %+v", j.Damaged())
	}
	pos, err := j.Append([]byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	if pos <= s.records[len(s.records)-1].pos {
		t.Fatalf("position %x was used before", pos)
	}
	j.Close()
	if j, err = Open(dir, fast()); err != nil {
		t.Fatal(err)
	}
	if got, want := replay(t, j, 0), append(slices.Clone(want), entry{pos, "new"}); !slices.Equal(got, want) {
		t.Fatalf("opened again: got  %v\nwant %v", got, want)
	}
	j.Close()
	os.Remove(filepath.Join(dir, segmentName(pos.Epoch())))
}

// put writes the mark, or removes it.
func (s small) put(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, markName)
	err := os.Remove(path)
	if os.IsNotExist(err) {
		err = nil
	}
	if s.mark != nil {
		err = os.WriteFile(path, s.mark, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// covered reports whether the damage includes pos, or an unknown range. With sure, a torn end does not count.
func covered(damaged []Damage, pos belfry.Position, file string, sure bool) bool {
	return slices.ContainsFunc(damaged, func(d Damage) bool {
		header := d.From == 0 && d.Segment == file && !sure
		return header || d.From != 0 && d.From <= pos && (pos <= d.To || d.To == 0) && !(sure && d.Torn)
	})
}

// TestEveryCut truncates each file at every offset: the records before the cut and those of the other file stay, and the
// loss is reported, even if the newest segment ends exactly after a record.
func TestEveryCut(t *testing.T) {
	s := smallJournal(t)
	s.everyCut(t, func(bool) bool { return true })
	s.mark = nil
	// Then nothing shows that there were more records after the last one.
	s.everyCut(t, func(boundary bool) bool { return !boundary })
}

func (s small) everyCut(t *testing.T, reported func(boundary bool) bool) {
	t.Helper()
	dir := memoryDir(t)
	for name, data := range s.files {
		number, _ := parseName(name)
		for n := range data {
			var left []entry
			boundary := n == headerSize
			for _, r := range s.records {
				if r.pos.Epoch() != number || s.ends[r.pos] <= int64(n) {
					left = append(left, r)
				}
				boundary = boundary || r.pos.Epoch() == number && s.ends[r.pos] == int64(n)
			}
			s.check(t, dir, name, data[:n], left, len(left) < len(s.records) && (number == 1 || reported(boundary)))
		}
	}
}

// TestEveryFlip changes each byte of each file, in one random bit and in all: at most the record that was hit is lost.
func TestEveryFlip(t *testing.T) {
	s := smallJournal(t)
	dir := memoryDir(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, data := range s.files {
		number, _ := parseName(name)
		for n := range data {
			left := slices.DeleteFunc(slices.Clone(s.records), func(r entry) bool {
				end := s.ends[r.pos]
				start := end - recordHeaderSize - int64(len(r.payload))
				return r.pos.Epoch() == number && start <= int64(n) && int64(n) < end
			})
			for _, mask := range []byte{1 << rnd.IntN(8), 0xff} {
				bad := bytes.Clone(data)
				bad[n] ^= mask
				s.check(t, dir, name, bad, left, len(left) < len(s.records))
			}
		}
	}
}

// TestRandomDamage overwrites ranges of bytes: every other record stays, as long as its segment's fence is known.
func TestRandomDamage(t *testing.T) {
	s := smallJournal(t)
	dir := memoryDir(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		for name, data := range s.files {
			number, _ := parseName(name)
			bad := bytes.Clone(data)
			from := rnd.IntN(len(bad))
			to := min(from+1+rnd.IntN(120), len(bad))
			for i := from; i < to; i++ {
				bad[i] ^= byte(1 + rnd.IntN(255))
			}
			left := slices.DeleteFunc(slices.Clone(s.records), func(r entry) bool {
				end := s.ends[r.pos]
				start := end - recordHeaderSize - int64(len(r.payload))
				return r.pos.Epoch() == number && start < int64(to) && int64(from) < end
			})
			s.check(t, dir, name, bad, left, len(left) < len(s.records))
		}
	}
}

// TestDamageReported checks the texts that describe damage.
func TestDamageReported(t *testing.T) {
	s := smallJournal(t)
	first, second := segmentName(1), segmentName(2)
	f := func(name string, change func(data []byte) []byte, want ...Damage) {
		t.Helper()
		dir := t.TempDir()
		for n, d := range s.files {
			if n == name {
				d = change(bytes.Clone(d))
			}
			if d == nil {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, n), d, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j := open(t, dir, Options{})
		replay(t, j, 0) // finds the same damage and must not report it twice
		if got := j.Damaged(); !slices.Equal(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	}
	flip := func(off int64) func([]byte) []byte {
		return func(b []byte) []byte { b[off] ^= 1; return b }
	}
	f("", nil)
	f(first, flip(0), Damage{Segment: first, Reason: "segment header is damaged"})
	f(first, flip(s.ends[at(1, 5)]-1), Damage{first, s.ends[at(1, 4)], at(1, 5), at(1, 5), false, "payload does not match its checksum"})
	f(first, flip(s.ends[at(1, 4)]), Damage{first, s.ends[at(1, 4)], at(1, 5), at(1, 5), false, "record header is damaged"})
	f(first, flip(s.ends[at(1, 6)]-1), Damage{first, s.ends[at(1, 5)], at(1, 6), at(1, 6), false, "payload does not match its checksum"})
	f(second, flip(s.ends[at(2, 6)]-1), Damage{second, s.ends[at(2, 5)], at(2, 6), at(2, 6), true, "payload does not match its checksum"})
	f(second, flip(s.ends[at(2, 5)]), Damage{second, s.ends[at(2, 5)], at(2, 6), 0, true, "record header is damaged"})
	f(first, func(b []byte) []byte { return b[:s.ends[at(1, 4)]] },
		Damage{first, s.ends[at(1, 4)], at(1, 5), at(1, 6), false, "segment ends too early"})
	f(first, func(b []byte) []byte { return append(b[:s.ends[at(1, 2)]], b[s.ends[at(1, 4)]:]...) },
		Damage{first, s.ends[at(1, 2)], at(1, 3), at(1, 4), false, "records are missing"})
	f(first, func(b []byte) []byte { return slices.Insert(b, int(s.ends[at(1, 2)]), 'x', 'y') },
		Damage{first, s.ends[at(1, 2)], 0, 0, false, "record header is damaged"})
}

// TestRecordInsideRecord: a copy of an earlier record in a payload is not replayed if the header before it is damaged.
func TestRecordInsideRecord(t *testing.T) {
	dir := memoryDir(t)
	j := open(t, dir, fast())
	appendAll(t, j, "one")
	path := j.active.path
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := j.active.end
	appendAll(t, j, string(data[:second]))
	appendAll(t, j, "three")
	j.Close()
	flipByte(t, path, second)
	j = open(t, dir, fast())
	want(t, replay(t, j, 0), entry{at(1, 1), "one"}, entry{at(1, 3), "three"})
}

// TestWindowEdge: the record after a damaged one is found wherever it is relative to the read window.
func TestWindowEdge(t *testing.T) {
	for shift := -recordHeaderSize - 2; shift <= 2; shift++ {
		dir := memoryDir(t)
		o := fast()
		o.SegmentSize = 4 * windowSize
		j := open(t, dir, o)
		appendAll(t, j, string(make([]byte, windowSize-recordHeaderSize+shift)))
		large := string(bytes.Repeat([]byte("large"), windowSize/4))
		appendAll(t, j, large)
		appendAll(t, j, "small")
		path := j.active.path
		j.Close()
		flipByte(t, path, headerSize)
		j = open(t, dir, o)
		want(t, replay(t, j, 0), entry{at(1, 2), large}, entry{at(1, 3), "small"})
		if n := len(j.Damaged()); n != 1 {
			t.Fatalf("%d damaged places", n)
		}
	}
}

func flipByte(t *testing.T, path string, off int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[off] ^= 0x10
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMissingSegment: a missing segment between others is reported.
func TestMissingSegment(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, Options{SegmentSize: 140})
	for range 4 {
		appendAll(t, j, "a")
	}
	j.Close()
	if err := os.Remove(filepath.Join(dir, segmentName(2))); err != nil {
		t.Fatal(err)
	}
	f := func(after belfry.Position, want ...Damage) {
		t.Helper()
		j := open(t, dir, Options{After: after})
		if got := j.Damaged(); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	lost := Damage{Segment: segmentName(2), From: at(2, 1), To: at(2, 1), Reason: "segment is missing"}
	f(0, lost)
	f(at(1, 1), lost)
	f(at(2, 1)) // it was in all stores
	if err := os.Remove(filepath.Join(dir, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	f(0) // may have been released
	f(at(1, 1), lost)
}

// strict is a file that fails the test if it is read beyond its end.
type strict struct {
	t    *testing.T
	data []byte
}

func (s strict) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(b)) > int64(len(s.data)) {
		s.t.Fatalf("read of %d bytes at %d in a file of %d", len(b), off, len(s.data))
	}
	return copy(b, s.data[off:]), nil
}

var _ io.ReaderAt = strict{}

func FuzzSegment(f *testing.F) {
	s := smallJournal(f)
	for name, data := range s.files {
		number, _ := parseName(name)
		f.Add(data, byte(number))
	}
	huge := appendRecordHeader(appendHeader(nil, 1, 0, "", ""), checksum(nil), at(1, 1), nil)
	huge[headerSize+4] = 0xff
	f.Add(huge, byte(1))
	f.Add(appendHeader(nil, 1, 0, "", ""), byte(1))
	f.Add(bytes.Repeat([]byte(marker), 100), byte(2))
	f.Add([]byte{}, byte(1))
	f.Fuzz(func(t *testing.T, data []byte, number byte) {
		n := 1 + uint64(number%2)
		sc := &scanner{r: strict{t, data}, number: n, instance: checksum(nil), size: int64(len(data)), limit: math.MaxUint32, newest: true}
		total := 0
		last := belfry.Position(0)
		err := sc.run(func(pos belfry.Position, payload []byte) error {
			if pos <= last || pos.Epoch() != n {
				return fmt.Errorf("position %x after %x", pos, last)
			}
			last = pos
			total += recordHeaderSize + len(payload)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if total > len(data) {
			t.Fatalf("%d bytes of records in a file of %d", total, len(data))
		}
		dir := memoryDir(t)
		for name, d := range s.files {
			if name == segmentName(n) {
				d = data
			}
			if err := os.WriteFile(filepath.Join(dir, name), d, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j, err := Open(dir, fast())
		if err != nil {
			return // a format from the future
		}
		before := replay(t, j, 0)
		pos, err := j.Append([]byte("new"))
		if err != nil {
			t.Fatal(err)
		}
		want(t, replay(t, j, 0), append(before, entry{pos, "new"})...)
		j.Close()
	})
}
