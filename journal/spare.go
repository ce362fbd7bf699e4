package journal

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A spare is the file of the segment to come, made in the background while the present one fills: allocated and written
// with zeros. Blocks that have been written before need no entry in the file system's own journal when they are
// written again, so a sync waits for this file alone and not for what others have just written; and a new segment
// begins at once.
const spareName = "spare" + tempSuffix

// makeSpare prepares a spare. Whatever fails, the next segment is then made when it is needed.
func (j *Journal) makeSpare() {
	if !j.spares || j.spare != nil {
		return
	}
	path, size, ready := filepath.Join(j.dir, spareName), j.o.SegmentSize, make(chan bool, 1)
	j.spare = ready
	go func() {
		err := writeSpare(path, size)
		if err != nil {
			j.o.Log.Debug("no spare journal segment", "err", err)
		}
		ready <- err == nil
	}()
}

func writeSpare(path string, size int64) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if err := Allocate(f, size); err != nil {
		return err
	}
	zeros := make([]byte, 256<<10)
	for off := int64(0); off < size; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-off)], off); err != nil {
			return err
		}
		if off%(4<<20) == 0 { // little by little, so that those who wait for the disk get their turn
			if err := syncData(f); err != nil {
				return err
			}
		}
	}
	return syncData(f)
}

// takeSpare gives the spare the name under which a segment is prepared, if there is one of that size.
func (j *Journal) takeSpare(temp string, size int64) bool {
	if j.spare == nil || size != j.o.SegmentSize {
		return false
	}
	ready := <-j.spare
	j.spare = nil
	return ready && os.Rename(filepath.Join(j.dir, spareName), temp) == nil
}

// dropSpare waits for a spare that is being made and removes it.
func (j *Journal) dropSpare() error {
	if j.spare == nil {
		return nil
	}
	ready := <-j.spare
	j.spare = nil
	if !ready {
		return nil
	}
	return os.Remove(filepath.Join(j.dir, spareName))
}
