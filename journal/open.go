package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry"

	"golang.org/x/sys/unix"
)

// Open opens the journal in a folder, which it creates if necessary. It reads the segments, truncates a torn end of the
// newest one and records all damage; damage inside the files is not an error. A format newer than this program is one,
// and so is a disk that cannot be read.
func Open(dir string, o Options) (*Journal, error) {
	spares := o.Sync == nil && o.Write == nil && o.Allocate == nil // tests that replace these count the calls
	o.fill()
	j := &Journal{dir: dir, o: o, last: o.After, spares: spares, guardInterval: guardInterval}
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := j.openDir(); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", dir, err)
	}
	for _, d := range j.damaged {
		j.logDamage(d)
	}
	if err := j.mark.problem; err != nil {
		j.o.Log.Warn("the note of the journal's end is not used", "file", markPath(dir), "err", err)
		j.o.Marked(err)
	}
	return j, nil
}

// Read opens a journal for reading only: nothing is truncated or removed, and Append returns an error. It needs no
// Close. The branches are as in Options.
func Read(dir string, branches *belfry.Branches) (*Journal, error) {
	j := &Journal{dir: dir, o: Options{Branches: branches}, reading: true, closed: true}
	j.o.fill()
	err := j.openDir()
	if err == nil {
		err = j.folder.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read journal %s: %w", dir, err)
	}
	return j, nil
}

func (j *Journal) openDir() (err error) {
	if j.folder, err = os.Open(j.dir); err != nil {
		return err
	}
	j.dirID, err = idOfFile(j.folder)
	if err == nil {
		err = j.list()
	}
	if err == nil {
		j.mark = readMark(j.dir)
		j.note.Store(j.mark.note)
		err = j.examine()
	}
	if err != nil {
		return errors.Join(err, j.folder.Close())
	}
	return nil
}

func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(dir))
}

// Damaged lists the damage found so far, by Open and by Replay.
func (j *Journal) Damaged() []Damage {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.damaged)
}

// logDamage logs damage: a torn end is normal after a crash, anything else means that acknowledged records may be lost.
func (j *Journal) logDamage(d Damage) {
	if d.Torn || d.From == 0 {
		j.o.Log.Warn("journal end cut or damage repaired", "damage", d.String())
	} else {
		j.o.Log.Error("journal records lost", "damage", d.String())
	}
}

// list finds the segments and removes unfinished files.
func (j *Journal) list() error {
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(j.dir, e.Name())
		if strings.HasSuffix(e.Name(), tempSuffix) && !j.reading {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		number, ok := parseName(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		j.segments = append(j.segments, &segment{
			number: number, path: path, last: belfry.PositionOf(number, 0), end: headerSize, size: info.Size(), old: number < j.o.After.Epoch(),
		})
	}
	slices.SortFunc(j.segments, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	j.next = max(j.o.After.Epoch()+1, j.o.Next)
	if n := len(j.segments); n > 0 {
		j.next = max(j.next, j.segments[n-1].number+1)
	}
	return nil
}

// examine reads the segments from the newest to the oldest, because the fence of a segment is in a newer one.
func (j *Journal) examine() error {
	fence := belfry.Position(math.MaxUint64)
	for i, s := range slices.Backward(j.segments) {
		h, damaged, err := j.examineSegment(s, i == len(j.segments)-1, fence)
		if err != nil {
			return err
		}
		j.last = max(j.last, lastOf(s))
		j.reached, j.begins, j.first = max(j.reached, j.last), 0, s.number
		if h.ok {
			s.fence, s.fenced = h.fence, true
			j.last = max(j.last, h.fence) // its segment may have been released
			j.reached, j.begins = max(j.reached, h.fence), h.fence
			damaged = append(j.missingBefore(h.fence), damaged...)
			fence = min(fence, h.fence)
		}
		j.damaged = append(damaged, j.damaged...)
	}
	j.checkMark()
	return nil
}

// checkMark records damage if the segment of the mark is missing: the newest one is never released.
func (j *Journal) checkMark() {
	m := j.mark.pos
	if n := len(j.segments); m <= j.o.After || n > 0 && j.segments[n-1].number >= m.Epoch() {
		return
	}
	lost := Damage{Segment: segmentName(m.Epoch()), From: max(j.reached, j.last) + 1, To: m, Reason: "segment is missing"}
	j.damaged = append(j.damaged, lost)
	j.next = max(j.next, m.Epoch()+1)
}

// lastOf returns the last valid position of a segment; 0 if it has none.
func lastOf(s *segment) belfry.Position {
	if s.old || s.index() == 0 {
		return 0
	}
	return s.last
}

// examineSegment reads one segment, sets its fields and truncates it if it is the newest.
func (j *Journal) examineSegment(s *segment, newest bool, fence belfry.Position) (h header, damaged []Damage, err error) {
	mode := os.O_RDWR
	if j.reading {
		mode = os.O_RDONLY
	}
	f, err := os.OpenFile(s.path, mode|unix.O_NOFOLLOW, 0)
	if err != nil {
		return h, nil, err
	}
	defer f.Close()
	h, err = j.readHeader(f, s)
	if err != nil || s.old {
		s.last |= math.MaxUint32 // unread: the highest possible
		return h, nil, errors.Join(err, j.checkBranch(s, h))
	}
	if !h.intact {
		damaged = append(damaged, Damage{Segment: filepath.Base(s.path), Reason: "segment header is damaged"})
	}
	sc := j.scan(f, s, s.size, lastIndex(fence, s.number))
	sc.newest, sc.acked, sc.ackedKnown = newest, j.mark.indexIn(s.number), j.mark.pos != 0
	if err := sc.run(func(pos belfry.Position, _ []byte) error { s.last = pos; return nil }); err != nil {
		return h, nil, err
	}
	if err := j.checkBranch(s, h); err != nil {
		return h, nil, err
	}
	s.end = min(sc.end, s.size)
	if newest && (!h.ok || s.size < headerSize) && s.index() == 0 && sc.acked == 0 { // a segment is renamed after its header is written, so a crash does not leave this
		damaged = append(damaged, Damage{Segment: filepath.Base(s.path), From: s.last + 1, Reason: "all of the segment is damaged"})
	}
	for _, d := range sc.damaged {
		if d.To == 0 || d.To > j.o.After {
			damaged = append(damaged, d)
		}
	}
	// The rest of a lost end stays for a manual recovery; the fence of the next segment prevents its replay.
	if newest && h.ok && s.end < s.size && !j.reading && !lostEnd(damaged) {
		j.cut(f, s)
	}
	return h, damaged, nil
}

// lostEnd reports whether the last damage in a segment is a loss; there may be records after it.
func lostEnd(damaged []Damage) bool {
	n := len(damaged)
	return n > 0 && damaged[n-1].From != 0 && !damaged[n-1].Torn
}

// lastIndex returns the last valid index in a segment under a fence.
func lastIndex(fence belfry.Position, number uint64) uint32 {
	switch n := fence.Epoch(); {
	case n > number:
		return math.MaxUint32
	case n < number:
		return 0
	}
	return uint32(fence)
}

func (j *Journal) readHeader(f *os.File, s *segment) (header, error) {
	b := make([]byte, headerSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return header{}, err
	}
	h, err := parseHeader(b[:n], s.number, j.mark.instance)
	if err != nil {
		return h, &SegmentError{filepath.Base(s.path), fmt.Errorf("has %w", err)}
	}
	s.instance, s.branch = h.instance, h.branch
	return h, nil
}

// checkBranch returns an error unless a segment that has been read can be of this instance. A segment without a valid header says
// nothing: the checksums of its records show the instance alone.
func (j *Journal) checkBranch(s *segment, h header) error {
	if !h.ok {
		return nil
	}
	if err := j.o.Branches.Check(s.branch, max(h.fence, lastOf(s))); err != nil {
		return &SegmentError{filepath.Base(s.path), fmt.Errorf("cannot be used: %w: %w; %w", ErrBranch, err, ErrForeign)}
	}
	return nil
}

func (j *Journal) scan(r io.ReaderAt, s *segment, size int64, limit uint32) *scanner {
	return &scanner{r: r, number: s.number, instance: s.instance, size: size, limit: limit, name: filepath.Base(s.path)}
}

// cut truncates the newest segment after its valid records: torn bytes and unused allocated space go.
func (j *Journal) cut(f *os.File, s *segment) {
	err := f.Truncate(s.end)
	if err == nil {
		s.size = s.end
		err = j.o.Sync(f)
	}
	if err != nil {
		j.o.Log.Warn("journal segment not shortened", "segment", s.path, "err", err)
	}
}

// missingBefore returns the damage if the segment of a fence is missing although it was not released: Release starts
// with the oldest, and never goes beyond what is in all stores.
func (j *Journal) missingBefore(fence belfry.Position) []Damage {
	number := fence.Epoch()
	if uint32(fence) == 0 || fence <= j.o.After ||
		slices.ContainsFunc(j.segments, func(s *segment) bool { return s.number == number }) {
		return nil
	}
	if j.o.After == 0 && j.segments[0].number > number {
		return nil // the caller does not know what is in all stores: it may have been released
	}
	return []Damage{{Segment: segmentName(number), From: belfry.PositionOf(number, 1), To: fence, Reason: "segment is missing"}}
}
