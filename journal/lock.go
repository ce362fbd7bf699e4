package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process serves from the folder.
var ErrLocked = errors.New("folder is in use")

// LockDir takes the folder for this process until unlock is called or the process ends, however it ends. A second taker
// gets an error that wraps ErrLocked and names the first.
func LockDir(dir string) (unlock func() error, err error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s is served by %s; stop it first, or use another folder", ErrLocked, dir, holder(path))
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	// The file stays: removing it would let two processes each lock a file of that name.
	return func() error { return errors.Join(f.Truncate(0), f.Close()) }, nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder names the process that has the lock.
func holder(path string) string {
	text, err := os.ReadFile(path)
	if pid, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}

// DataFormat is the format of the whole data folder that this program reads and writes.
const DataFormat = 1

// Format gives the format number of a data folder and writes it down if the folder is new. A newer format than
// DataFormat is an error: this program would misread it.
func Format(dir string) (int, error) {
	path := filepath.Join(dir, "format")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if err := writeFile(dir, path, []byte(strconv.Itoa(DataFormat)+"\n")); err != nil {
			return 0, fmt.Errorf("write format: %w", err)
		}
		return DataFormat, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read format: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s should hold a number and holds %.40q; restore it from a backup", path, text)
	}
	if n > DataFormat {
		return 0, fmt.Errorf("%s has data format %d, this program knows up to %d; run a newer version of the program", dir, n, DataFormat)
	}
	return n, nil
}
