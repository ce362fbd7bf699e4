package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"belfry"
)

// Hold keeps all segments until release is called: Release and Shrink remove none meanwhile. Holds are counted; a second call of the
// same release does nothing.
func (j *Journal) Hold() (release func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.holds++
	return sync.OnceFunc(func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.holds--
	})
}

// Copy calls each for every file of a copy of the journal: the file that names the instance, every segment with what is durable
// now, oldest first, and the file "end". It returns the position of the last record in them. A folder of these files opens like
// this one after a stop: unused space and what failed appends have left behind are not copied. An error of each ends it.
//
// Call it between Hold and release. Appends continue meanwhile and are not in the copy. Files of which a reader has read less
// than size have been damaged. The records of each segment are compared with their checksums; what was not known to be damaged
// when the journal was opened goes to damaged.
func (j *Journal) Copy(each eachFile, damaged func(name, why string) error) (belfry.Position, error) {
	segments, last, end := j.durable()
	if id := j.mark.instance; id != "" {
		if err := copyBytes(instanceFile, []byte(id+"\n"), each); err != nil {
			return 0, err
		}
	}
	for i := range segments {
		if err := j.copySegment(&segments[i], each, damaged); err != nil {
			return 0, err
		}
	}
	return last, copyBytes(markName, end, each)
}

// durable returns the segments, the last position, and the content of the file "end" that belongs to them.
func (j *Journal) durable() (segments []segment, last belfry.Position, end []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	acked := j.mark.pos // if it is higher than the records, some are lost, and the copy shows that too
	for _, s := range j.segments {
		segments, acked = append(segments, *s), max(acked, lastOf(s))
	}
	return segments, j.last, appendMark(nil, acked, j.mark.instance, j.note.Load())
}

// CopySize returns about how many bytes Copy would copy now.
func (j *Journal) CopySize() (n int64) {
	segments, _, _ := j.durable()
	for i := range segments {
		n += segments[i].copied()
	}
	return n
}

// copied is how much of a segment is copied. The records of an old one have not been read.
func (s *segment) copied() int64 {
	if s.old {
		return s.size
	}
	return s.end
}

// eachFile is the argument of Copy.
type eachFile = func(name string, size int64, r io.Reader) error

func copyBytes(name string, content []byte, each eachFile) error {
	return each(name, int64(len(content)), bytes.NewReader(content))
}

func (j *Journal) copySegment(s *segment, each eachFile, damaged func(name, why string) error) error {
	f, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) && j.released(s.number) { // a Release that had begun before Hold
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy journal: %w", err)
	}
	defer f.Close()
	size := s.copied()
	if err := each(filepath.Base(s.path), size, io.NewSectionReader(f, 0, size)); err != nil {
		return err
	}
	if why := j.newDamage(f, s); why != "" {
		return damaged(filepath.Base(s.path), why)
	}
	return nil
}

// newDamage reads what is copied of a segment, and returns the first damage in it that is not known; empty: there is none.
func (j *Journal) newDamage(f *os.File, s *segment) string {
	branch := s.branch
	h, err := j.readHeader(f, s)
	if err != nil {
		return err.Error()
	}
	if h.ok && branch != "" && h.branch != branch {
		return fmt.Sprintf("it was written in another start of the service (%.40q) than when it was opened (%s)", h.branch, branch)
	}
	known := j.Damaged()
	if !h.intact && !slices.ContainsFunc(known, func(k Damage) bool { return k.Segment == filepath.Base(s.path) }) {
		return "its header is damaged"
	}
	limit := s.index()
	if s.old {
		limit = math.MaxUint32
	}
	sc := j.scan(f, s, s.copied(), limit)
	if err := sc.run(func(belfry.Position, []byte) error { return nil }); err != nil {
		return err.Error()
	}
	for _, d := range sc.damaged {
		if !slices.ContainsFunc(known, func(k Damage) bool { return k.Segment == d.Segment && k.Offset == d.Offset }) {
			return d.String()
		}
	}
	return ""
}
