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
	// ErrLocked says that another process serves from the folder.
	ErrLocked = errors.New("folder is in use")
	// ErrLockLost says that the lock file was removed or replaced while the folder was locked.
	ErrLockLost = errors.New("the lock of the folder is lost")
	// ErrLockTaken says, beside ErrLockLost, that another process may have taken the folder since.
	ErrLockTaken = errors.New("another process may be serving the folder")
)

// Lock is a data folder that is taken for this process.
type Lock struct {
	dir    string
	path   string
	folder *os.File // held open so that its number is not given to another folder
	inDir  fileID

	mu   sync.Mutex
	file *os.File
	id   fileID
}

// LockDir takes the folder for this process until Unlock is called or the process ends, however it ends. A second taker
// gets an error that wraps ErrLocked and names the first.
func LockDir(dir string) (*Lock, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	l := &Lock{dir: dir, path: filepath.Join(dir, "lock"), folder: folder}
	l.inDir, err = idOfFile(folder)
	if err == nil {
		err = l.take(os.O_RDWR | os.O_CREATE)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return l, nil
}

// take opens and locks the file.
func (l *Lock) take(mode int) error {
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

// Check tells whether the lock is still what keeps others out; the error wraps ErrLockLost. It costs one system call.
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

// Renew is Check, and makes a missing lock file again. That is safe as long as the folder is the same one: whoever else
// had taken the folder meanwhile would have left a lock file.
func (l *Lock) Renew() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.check()
	if lost == nil {
		return nil
	}
	if id, err := idOfPath(l.dir); err != nil || id != l.inDir {
		return fmt.Errorf("%w: %s is not the folder any more that was locked", ErrLockLost, l.dir)
	}
	old := l.file
	if err := l.take(os.O_RDWR | os.O_CREATE | os.O_EXCL); err != nil {
		if errors.Is(err, os.ErrExist) || errors.Is(err, ErrLocked) {
			return lost
		}
		return errors.Join(lost, err)
	}
	return old.Close()
}

// Unlock gives the folder back. The file stays: removing it would let two processes each lock a file of that name.
func (l *Lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Truncate(0), l.file.Close(), l.folder.Close())
}

// fileID tells files apart, whatever their names.
type fileID struct{ device, number uint64 }

func statOfPath(path string) (fileID, error) {
	var s unix.Stat_t
	if err := again(func() error { return unix.Stat(path, &s) }); err != nil {
		return fileID{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileID{uint64(s.Dev), uint64(s.Ino)}, nil
}

func idOfFile(f *os.File) (fileID, error) {
	var s unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(f.Fd()), &s) }); err != nil {
		return fileID{}, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return fileID{uint64(s.Dev), uint64(s.Ino)}, nil
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

// Format gives the format number of a data folder and writes it down if the folder does not say. A newer format than
// DataFormat is an error: this program would misread it.
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

// ReadFormat is Format for those who only look: 0 when the folder does not say.
func ReadFormat(dir string) (int, error) {
	path := formatPath(dir)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read format: %w", err)
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
