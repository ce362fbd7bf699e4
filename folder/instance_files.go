package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"belfry/config"
	"belfry/journal"
)

// InstanceFiles are the files named instance in the folders of an instance.
type InstanceFiles struct {
	instance string
	folders  []*os.File // kept open, so that their inode numbers are not reused
}

// OpenInstanceFiles opens the folders. The start has checked that each has its file.
func OpenInstanceFiles(cfg *config.Config, id string) (l InstanceFiles, err error) {
	l.instance = id
	for _, dir := range []string{cfg.Data, filepath.Join(cfg.Data, "journal"), cfg.RowsDir()} {
		f, err := os.Open(dir)
		if err != nil {
			return l, errors.Join(err, l.Close())
		}
		l.folders = append(l.folders, f)
	}
	return l, nil
}

// Close closes the folders.
func (l *InstanceFiles) Close() (err error) {
	for _, f := range l.folders {
		err = errors.Join(err, f.Close())
	}
	l.folders = nil
	return err
}

// WrongInstanceFiles are files with which the next start would fail.
type WrongInstanceFiles struct {
	Missing []string // folders without the file
	Changed []string
	Unread  []string // files with the error
}

// Wrong checks the files. It skips a folder that was removed or replaced. The error means that the system is short of descriptors
// or memory, so nothing is known about the files.
func (l *InstanceFiles) Wrong() (w WrongInstanceFiles, err error) {
	for _, f := range l.folders {
		opened, err := f.Stat()
		now, gone := os.Stat(f.Name())
		if err != nil || gone != nil || !os.SameFile(opened, now) {
			continue
		}
		path := filepath.Join(f.Name(), "instance")
		id, err := journal.ReadInstance(f.Name())
		system, unread := errors.AsType[*fs.PathError](err)
		switch {
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
			return w, err
		case unread:
			w.Unread = append(w.Unread, path+" cannot be read: "+system.Err.Error())
		case err == nil && id == "":
			w.Missing = append(w.Missing, f.Name())
		case err != nil || id != l.instance:
			w.Changed = append(w.Changed, path)
		}
	}
	return w, nil
}
