package journal

import (
	"errors"
	"syscall"

	"belfry"
)

const (
	// slack is the unused end of a segment. Sealing the segment frees it, so that on a full disk there is space to begin a
	// small segment, and Release can then remove the large one.
	slack = 4 << 10
	// minSegment is the size of a segment if there is no space for a larger one.
	minSegment = 64 << 10
)

// slack returns 0 for the tiny segments of tests.
func (j *Journal) slack() int64 {
	if j.o.SegmentSize < minSegment {
		return 0
	}
	return slack
}

// beginFor begins a segment with space for a group of that many bytes: of the usual size or, if the disk has no space
// for that, a smaller one.
func (j *Journal) beginFor(need int64) error {
	least := headerSize + need + j.slack()
	size := max(j.o.SegmentSize, least)
	err := j.begin(size)
	j.lowSpace.Store(noSpace(err))
	for noSpace(err) && size > max(least, minSegment) {
		size = max(size/4, least, minSegment)
		err = j.begin(size)
	}
	return err
}

// Short reports whether there was no space for a segment of the usual size when the last one was begun.
func (j *Journal) Short() bool { return j.lowSpace.Load() }

// noSpace reports whether the error means a full disk or quota.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Shrink frees the space of records that are in all stores even if they are in the newest segment, which Release keeps:
// if all records are at or before pos, it begins a small segment and removes the others. During a Hold it does nothing.
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
	needed := j.holds == 0 && n > 0 && j.segments[n-1].index() > 0 && j.segments[n-1].last <= pos
	j.mu.Unlock()
	if !needed || j.closed {
		return nil
	}
	if err := j.dropSpare(); err != nil {
		j.o.Log.Debug("spare journal segment not removed", "err", err)
	}
	if j.file != nil {
		j.seal()
	}
	return j.begin(headerSize)
}
