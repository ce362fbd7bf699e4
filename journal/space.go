package journal

import (
	"errors"
	"syscall"

	"belfry"
)

const (
	// slack is the end of a segment that is left unused. Sealing the segment gives it back, so that on a disk on which
	// nothing else fits there is room to begin a small segment, and Release can then remove the large one.
	slack = 4 << 10
	// smallest is the size of a segment when there is no room for a larger one.
	smallest = 64 << 10
)

// slack is 0 for the tiny segments of tests.
func (j *Journal) slack() int64 {
	if j.o.SegmentSize < smallest {
		return 0
	}
	return slack
}

// beginFor begins a segment that has room for a group of that many bytes: of the usual size or, when the disk has no room
// for that, a smaller one.
func (j *Journal) beginFor(need int64) error {
	least := headerSize + need + j.slack()
	size := max(j.o.SegmentSize, least)
	err := j.begin(size)
	j.short.Store(noSpace(err))
	for noSpace(err) && size > max(least, smallest) {
		size = max(size/4, least, smallest)
		err = j.begin(size)
	}
	return err
}

// Short tells whether there was no room for a segment of the usual size when the last one was begun.
func (j *Journal) Short() bool { return j.short.Load() }

// noSpace recognises a full disk.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Shrink gives back the space of records that have arrived everywhere although the newest segment, which Release keeps,
// has them: when all records are at or before pos, it begins a small segment and removes the others.
func (j *Journal) Shrink(pos belfry.Position) error {
	if err := j.replaceNewest(pos); err != nil {
		return writeError("begin a small segment in journal "+j.dir, err)
	}
	return j.remove(pos)
}

func (j *Journal) replaceNewest(pos belfry.Position) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	n := len(j.segments)
	needed := n > 0 && j.segments[n-1].index() > 0 && j.segments[n-1].last <= pos
	j.mu.Unlock()
	if !needed || j.closed {
		return nil
	}
	if err := j.dropSpare(); err != nil {
		j.o.Log.Debug("spare journal segment stays", "err", err)
	}
	if j.file != nil {
		j.seal()
	}
	return j.begin(headerSize)
}
