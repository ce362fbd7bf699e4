package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
// than size have been damaged.
func (j *Journal) Copy(each func(name string, size int64, r io.Reader) error) (belfry.Position, error) {
	segments, last, end := j.durable()
	if id := j.mark.instance; id != "" {
		if err := copyBytes(instanceFile, []byte(id+"\n"), each); err != nil {
			return 0, err
		}
	}
	for i := range segments {
		if err := j.copySegment(&segments[i], each); err != nil {
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

func (j *Journal) copySegment(s *segment, each eachFile) error {
	f, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) && j.released(s.number) { // a Release that had begun before Hold
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy journal: %w", err)
	}
	defer f.Close()
	size := s.copied()
	return each(filepath.Base(s.path), size, io.NewSectionReader(f, 0, size))
}
