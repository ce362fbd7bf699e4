package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"belfry"
)

// ErrFile says that the file of the database, or the log beside it, was removed, replaced or changed while it was open. SQLite
// does not notice: it continues with the file that it has open, which the next start will not find.
var ErrFile = errors.New("the database file was removed, replaced or changed")

// changedError is an ErrFile after which nothing is read from the file or its log any more, and nothing is written: pages may be of
// another database, or of another moment.
type changedError string

func (e changedError) Error() string { return fmt.Sprintf("%v: %s", ErrFile, string(e)) }
func (e changedError) Unwrap() error { return ErrFile }

func (f *files) changedError(file, what string) error {
	base := filepath.Base(f.path)
	return changedError(fmt.Sprintf("%s was %s by another program; stop the service, put %s of a backup in its place and remove %s; the journal still has what was changed since it was last written",
		file, what, base, base+logSuffix))
}

// Changed reports whether err says that another program has written to a file of the open database. Restore is of no use then.
func Changed(err error) bool {
	_, is := errors.AsType[changedError](err)
	return is
}

const (
	logSuffix   = "-wal"
	indexSuffix = "-shm" // of the log
)

// files are the database file and its log as they were when they were opened. Only checkpoints write to the database file, and all of
// them are made by checkpoint, so its time tells whether another program has written to it.
type files struct {
	path string

	mu               sync.Mutex
	file, log, index *os.File    // open, as their locks end when the process closes one of them
	last, lastLog    os.FileInfo // of the database file and of the log, after the last checkpoint
	noted            logIndex    // after the last commit or checkpoint
	logSize          int64       // the largest seen since SQLite last shortened it
	tried            int64       // what the log had at the last checkpoint because of its size
	changed          error       // a changedError that was found once stays
}

// open notes the files that the connections have open. Their numbers are not given to other files as long as they are open.
func (f *files) open(path string) (err error) {
	if err := f.close(); err != nil {
		return err
	}
	f.path, f.tried = path, 0
	for suffix, file := range map[string]**os.File{"": &f.file, logSuffix: &f.log, indexSuffix: &f.index} {
		if *file, err = os.Open(path + suffix); err != nil {
			return err
		}
	}
	return f.note()
}

// close comes after the connections are closed.
func (f *files) close() (err error) {
	for _, file := range []**os.File{&f.file, &f.log, &f.index} {
		if *file != nil {
			err = errors.Join(err, (*file).Close())
		}
		*file = nil
	}
	return err
}

// note remembers the files as a checkpoint has left them.
func (f *files) note() (err error) {
	if f.lastLog, err = f.log.Stat(); err != nil {
		return err
	}
	f.logSize = f.lastLog.Size()
	if f.noted, err = f.readIndex(); err != nil {
		return err
	}
	f.last, err = f.file.Stat()
	return err
}

// Check tells whether the files are still those that were opened, and no other program has written to the database file or cut its log;
// the error wraps ErrFile. It costs five system calls. Everything that writes checks first: after a cut, writing would hide the gap.
func (db *DB) Check() error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.check()
}

func (db *DB) check() error {
	db.files.mu.Lock()
	defer db.files.mu.Unlock()
	err := db.files.verify(db.files.content, db.files.names)
	if Changed(err) {
		db.read.Close() // whoever wants to read gets an error
	}
	return err
}

// readError returns the error of a read. If the connections were closed because of what another program has written, it says so.
func (db *DB) readError(what string, err error) error {
	db.files.mu.Lock()
	defer db.files.mu.Unlock()
	if err != nil && db.files.changed != nil {
		return belfry.Errorf(belfry.StorageUnavailable, "the metadata were changed by another program and cannot be read; see the health of the service")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// verify runs checks. f.mu is held.
func (f *files) verify(checks ...func() error) error {
	for _, check := range checks {
		if f.changed != nil {
			return f.changed
		}
		if err := check(); Changed(err) {
			f.changed = err
		} else if err != nil {
			return err
		}
	}
	return f.changed
}

// content checks that nothing was written to the database file, and nothing cut from the log.
func (f *files) content() error {
	file, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	log, err := f.log.Stat()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	index, err := f.readIndex()
	if err != nil && err != io.EOF {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	switch size := log.Size(); {
	case file.Size() < f.last.Size():
		return f.changedError(f.path, fmt.Sprintf("cut from %d to %d bytes", f.last.Size(), file.Size()))
	case file.Size() != f.last.Size() || !file.ModTime().Equal(f.last.ModTime()):
		return f.changedError(f.path, "changed")
	case size < min(f.logSize, logLimit):
		return f.changedError(f.path+logSuffix, fmt.Sprintf("cut from %d to %d bytes", f.logSize, size))
	case index != f.noted:
		return f.indexError()
	}
	f.logSize = log.Size()
	return nil
}

// names checks that the names are still those of the open files.
func (f *files) names() error {
	if err := same(f.path, f.last); err != nil {
		return err
	}
	return same(f.path+logSuffix, f.lastLog)
}

// same looks at a file and compares it with the one that was opened.
func same(path string, opened os.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was removed", ErrFile, path)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrFile, err)
	case !os.SameFile(now, opened):
		return fmt.Errorf("%w: %s was replaced", ErrFile, path)
	}
	return nil
}
