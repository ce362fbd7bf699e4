package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// ErrFile says that the file of the database, or the log beside it, was removed, replaced or cut while it was open. SQLite
// does not notice: it continues with the file that it has open, which the next start will not find.
var ErrFile = errors.New("the database file was removed, replaced or truncated")

const logSuffix = "-wal"

// files are the database file and its log as they were when they were opened.
type files struct {
	path string

	mu        sync.Mutex
	file, log os.FileInfo
	logSize   int64 // the largest seen since SQLite last shortened it
}

// open notes the files that the connections have open. Their numbers are not given to other files as long as they are open.
func (f *files) open(path string) (err error) {
	f.path = path
	if f.file, err = os.Stat(path); err != nil {
		return err
	}
	if f.log, err = os.Stat(path + logSuffix); err != nil {
		return err
	}
	f.logSize = 0
	return nil
}

// Check tells whether the files are still those that were opened, and none has lost its end; the error wraps ErrFile. It
// costs two system calls. Everything that writes checks first: after a cut, writing would hide the gap.
func (db *DB) Check() error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.files.check()
}

func (f *files) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := same(f.path, f.file)
	if err != nil {
		return err
	}
	log, err := same(f.path+logSuffix, f.log)
	if err != nil {
		return err
	}
	switch size := log.Size(); {
	case file.Size() < f.file.Size(): // SQLite never makes it smaller without VACUUM
		return fmt.Errorf("%w: %s was cut from %d to %d bytes", ErrFile, f.path, f.file.Size(), file.Size())
	case size < min(f.logSize, logLimit):
		return fmt.Errorf("%w: %s was cut from %d to %d bytes", ErrFile, f.path+logSuffix, f.logSize, size)
	}
	f.file, f.logSize = file, log.Size()
	return nil
}

// same looks at a file and compares it with the one that was opened.
func same(path string, opened os.FileInfo) (os.FileInfo, error) {
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s was removed", ErrFile, path)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	case !os.SameFile(now, opened):
		return nil, fmt.Errorf("%w: %s was replaced", ErrFile, path)
	}
	return now, nil
}

// truncating runs what lets SQLite empty the log.
func (f *files) truncating(fold func() error) error {
	if err := f.check(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := fold()
	f.logSize = 0
	return err
}
