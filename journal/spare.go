package journal

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A spare is the file of the next segment, created in the background while the present one fills: allocated and written
// with zeros. Overwriting blocks needs no entry in the file system's own journal, so a sync waits for this file only and
// not for what others have just written; and a new segment begins at once.
const spareName = "spare" + tempSuffix

// makeSpare creates a spare in the background. If that fails, the next segment is created when it is needed.
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
		if off%(4<<20) == 0 { // in small steps, so that others do not wait long for the disk
			if err := syncData(f); err != nil {
				return err
			}
		}
	}
	return syncData(f)
}

// useSpare renames the spare to the given name, if there is one of that size. It reports whether it did.
func (j *Journal) useSpare(temp string, size int64) bool {
	if j.spare == nil || size != j.o.SegmentSize {
		return false
	}
	ready := <-j.spare
	j.spare = nil
	return ready && os.Rename(filepath.Join(j.dir, spareName), temp) == nil
}

// dropSpare waits for a spare that is being created and removes it.
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
