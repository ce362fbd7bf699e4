package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrGone means that the folder of the journal, or a segment in it, was removed or replaced while the journal was open.
// Records written there would be lost, so nothing is acknowledged. When the same folder is put back, the next Append
// succeeds.
var ErrGone = errors.New("the journal was removed or replaced")

// Check returns an error that wraps ErrGone unless the folder and its segments still exist, and begin as they did. What was written over
// a segment cannot be undone, but nothing is added to it. A replaced file "end" is written again.
func (j *Journal) Check() error {
	if err := j.checkDir(); err != nil {
		return err
	}
	if j.writing.TryLock() { // otherwise the next Check does it
		j.renewMark()
		j.writing.Unlock()
	}
	list := j.snapshot()
	for i := range list {
		s := &list[i]
		if err := j.checkBegin(s, i == len(list)-1); err != nil && !j.released(s.number) {
			return err
		}
	}
	return nil
}

// checkBegin returns an error unless a segment is there and has its header. Otherwise nothing more is added to the newest one.
func (j *Journal) checkBegin(s *segment, newest bool) error {
	f, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: segment %s is missing", ErrGone, filepath.Base(s.path))
	}
	if err != nil {
		return nil // it may be intact
	}
	defer f.Close()
	found := *s
	if h, err := j.readHeader(f, &found); s.branch != "" && (err != nil || !h.ok || h.branch != s.branch) {
		if newest {
			j.rotate.Store(true)
		}
		return fmt.Errorf("%w: segment %s was written over", ErrGone, filepath.Base(s.path))
	}
	return nil
}

func (j *Journal) checkDir() error {
	switch id, err := idOfPath(j.dir); {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s does not exist any more", ErrGone, j.dir)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrGone, err)
	case id != j.dirID:
		return fmt.Errorf("%w: %s is another folder than the one that was opened", ErrGone, j.dir)
	}
	return nil
}

// guardInterval is for how long a success of Options.Guard is valid. The check takes a system call, a good part of the
// time of a small Append, and no other process can take over a folder and begin to write in it that quickly.
const guardInterval = time.Millisecond

// checkActive returns an error unless what was just written can be found under the name of the active segment, and what was written before
// it. A segment that was cut off would have a hole there: its size shows that, as it was allocated as a whole, so a write does not
// make it larger.
func (j *Journal) checkActive() error {
	switch id, size, err := idAndSize(j.active.path); {
	case err != nil || id != j.fileID:
		return fmt.Errorf("%w: segment %s is missing", ErrGone, filepath.Base(j.active.path))
	case size < j.fileSize:
		return fmt.Errorf("%w: segment %s was cut off", ErrGone, filepath.Base(j.active.path))
	}
	return j.guard()
}

// guard calls Options.Guard, unless it has just succeeded.
func (j *Journal) guard() error {
	if time.Since(j.guardPassed).Abs() < j.guardInterval {
		return nil
	}
	if err := j.o.Guard(); err != nil {
		return err
	}
	j.guardPassed = time.Now()
	return nil
}

// report calls Options.Failed with the result of an Append. After a failure everything is checked again.
func (j *Journal) report(err error) {
	if err != nil {
		j.guardPassed = time.Time{}
	}
	if err != nil || j.failing {
		j.o.Failed(err)
	}
	j.failing = err != nil
}
