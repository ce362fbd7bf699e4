package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrGone says that the folder of the journal, or a segment in it, was removed or replaced while the journal was open.
// What was written there would be lost, so nothing is acknowledged. When the same folder is put back, the next Append
// succeeds.
var ErrGone = errors.New("the journal was removed or replaced")

// Check tells whether the folder and its segments are still there; the error wraps ErrGone.
func (j *Journal) Check() error {
	if err := j.checkDir(); err != nil {
		return err
	}
	for _, s := range j.snapshot() {
		if _, err := os.Stat(s.path); errors.Is(err, os.ErrNotExist) && !j.released(s.number) {
			return fmt.Errorf("%w: segment %s is missing", ErrGone, filepath.Base(s.path))
		}
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

// checkAgain is for how long an answer of Options.Guard counts. It takes a system call, which is a part of the time of a
// small Append, and nobody can take a folder over and begin to write in it that quickly.
const checkAgain = time.Millisecond

// checkActive tells whether what was just written can be found again under the name of the active segment.
func (j *Journal) checkActive() error {
	if id, err := idOfPath(j.active.path); err != nil || id != j.fileID {
		return fmt.Errorf("%w: segment %s is missing", ErrGone, filepath.Base(j.active.path))
	}
	return j.guard()
}

// guard asks Options.Guard, unless it has just answered.
func (j *Journal) guard() error {
	if time.Since(j.checked).Abs() < j.checkAgain {
		return nil
	}
	if err := j.o.Guard(); err != nil {
		return err
	}
	j.checked = time.Now()
	return nil
}

// report tells Options.Failed how an Append ended. After one that failed everything is checked again.
func (j *Journal) report(err error) {
	if err != nil {
		j.checked = time.Time{}
	}
	if err != nil || j.failing {
		j.o.Failed(err)
	}
	j.failing = err != nil
}
