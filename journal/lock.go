package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

var (
	// ErrLocked means that another process serves from the folder.
	ErrLocked = errors.New("folder is in use")
	// ErrLockLost means that the lock file was removed or replaced while the folder was locked.
	ErrLockLost = errors.New("the lock of the folder is lost")
	// ErrLockTaken means, in addition to ErrLockLost, that another process may have locked the folder since.
	ErrLockTaken = errors.New("another process may be serving the folder")
)

// Lock is the lock of this process on a data folder.
type Lock struct {
	dir    string
	path   string
	folder *os.File // held open so that its inode number is not reused
	dirID  fileID

	mu   sync.Mutex
	file *os.File
	id   fileID
}

// LockDir locks the folder for this process until Unlock is called or the process ends, however it ends. If it is locked
// already, the error wraps ErrLocked and names the holder.
func LockDir(dir string) (*Lock, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	l := &Lock{dir: dir, path: filepath.Join(dir, "lock"), folder: folder}
	l.dirID, err = idOfFile(folder)
	if err == nil {
		err = l.acquire(os.O_RDWR | os.O_CREATE)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return l, nil
}

// acquire opens and locks the file.
func (l *Lock) acquire(mode int) error {
	f, err := os.OpenFile(l.path, mode|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("lock %s: %w", l.dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("%w: %s is served by %s; stop it first, or use another folder", ErrLocked, l.dir, holder(l.path))
		}
		return fmt.Errorf("lock %s: %w", l.dir, err)
	}
	id, err := idOfFile(f)
	if err := errors.Join(err, f.Truncate(0), writePID(f)); err != nil {
		return errors.Join(fmt.Errorf("lock %s: %w", l.dir, err), f.Close())
	}
	l.file, l.id = f, id
	return nil
}

// Check returns an error that wraps ErrLockLost unless the lock still excludes others. It costs one system call.
func (l *Lock) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.check()
}

func (l *Lock) check() error {
	switch id, err := idOfPath(l.path); {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s was removed", ErrLockLost, l.path)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrLockLost, err)
	case id != l.id:
		return fmt.Errorf("%w: %s was replaced, %w", ErrLockLost, l.path, ErrLockTaken)
	}
	return nil
}

// Renew is Check, and creates a missing lock file again. That is safe as long as the folder is the same one: another
// process that had locked the folder meanwhile would have left a lock file.
func (l *Lock) Renew() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.check()
	if lost == nil {
		return nil
	}
	if id, err := idOfPath(l.dir); err != nil || id != l.dirID {
		return fmt.Errorf("%w: %s is not the folder any more that was locked", ErrLockLost, l.dir)
	}
	old := l.file
	if err := l.acquire(os.O_RDWR | os.O_CREATE | os.O_EXCL); err != nil {
		if errors.Is(err, os.ErrExist) || errors.Is(err, ErrLocked) {
			return lost
		}
		return errors.Join(lost, err)
	}
	return old.Close()
}

// Unlock releases the folder. The file stays: if it were removed, two processes could each lock a file of that name.
func (l *Lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Truncate(0), l.file.Close(), l.folder.Close())
}

// fileID identifies a file, whatever its name.
type fileID struct{ device, number uint64 }

func idOfPath(path string) (fileID, error) {
	id, _, err := idAndSize(path)
	return id, err
}

// idAndSizeByStat returns the id and the size of the file at a path.
func idAndSizeByStat(path string) (id fileID, size int64, err error) {
	var s unix.Stat_t
	if err := retryEINTR(func() error { return unix.Stat(path, &s) }); err != nil {
		return fileID{}, 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileID{uint64(s.Dev), uint64(s.Ino)}, s.Size, nil
}

// idAndSizeOfFile is idAndSize for an open file.
func idAndSizeOfFile(f *os.File) (id fileID, size int64, err error) {
	var s unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstat(int(f.Fd()), &s) }); err != nil {
		return fileID{}, 0, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return fileID{uint64(s.Dev), uint64(s.Ino)}, s.Size, nil
}

func idOfFile(f *os.File) (fileID, error) {
	id, _, err := idAndSizeOfFile(f)
	return id, err
}

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// IsLockFile reports whether there is a lock file, or none, at a path; false: it is another file, which a lock would overwrite.
func IsLockFile(path string) bool {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	const longest = 20 // a number of a process
	if err != nil || !info.Mode().IsRegular() || info.Size() > longest {
		return false
	}
	text, err := os.ReadFile(path)
	_, parseErr := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && (len(text) == 0 || parseErr == nil)
}

// holder names the process that has the lock.
func holder(path string) string {
	text, err := os.ReadFile(path)
	if pid, parseErr := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && parseErr == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}

// DataFormat is the format of the whole data folder that this program reads and writes.
const DataFormat = 1

// Format returns the format number of a data folder and writes it if the folder has none. A newer format than DataFormat
// is an error: this program would misread it.
func Format(dir string) (int, error) {
	n, err := ReadFormat(dir)
	if n != 0 || err != nil {
		return n, err
	}
	if err := WriteFile(formatPath(dir), []byte(strconv.Itoa(DataFormat)+"\n")); err != nil {
		return 0, fmt.Errorf("write format: %w", err)
	}
	return DataFormat, nil
}

// ReadFormat is Format without writing: it returns 0 if the folder has no format number.
func ReadFormat(dir string) (int, error) {
	path := formatPath(dir)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read format: %w; put the file back, which holds the number %d", err, DataFormat)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s should hold a number and holds %.40q; restore it from a backup, or write %d into it if no newer version of the program has used this folder",
			path, text, DataFormat)
	}
	if n > DataFormat {
		return 0, fmt.Errorf("%s has data format %d, this program knows up to %d; run a newer version of the program", dir, n, DataFormat)
	}
	return n, nil
}

func formatPath(dir string) string { return filepath.Join(dir, "format") }
