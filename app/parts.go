package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"belfry/config"
	"belfry/journal"
)

// faultInstance is the fault of a file named instance.
const faultInstance = "instance"

// labels are the files named instance in the folders of this instance: what they say, and the folders they lie in.
type labels struct {
	id      string
	folders []*os.File // held open, so that their numbers are not given to other folders
}

// openLabels notes the folders. A start has just made sure that each has its file.
func openLabels(cfg *config.Config, id string) (l labels, err error) {
	l.id = id
	for _, dir := range []string{cfg.Data, filepath.Join(cfg.Data, "journal"), cfg.Inside(cfg.Storage.DuckDB.Dir)} {
		f, err := os.Open(dir)
		if err != nil {
			return l, errors.Join(err, l.close())
		}
		l.folders = append(l.folders, f)
	}
	return l, nil
}

func (l *labels) close() (err error) {
	for _, f := range l.folders {
		err = errors.Join(err, f.Close())
	}
	l.folders = nil
	return err
}

// wrongLabels are the files that the next start would not take.
type wrongLabels struct {
	missing []string // folders
	changed []string
	unread  []string // with the reason
}

// wrong says which files are missing, say something else or cannot be read. A folder that is gone or another one is not looked at.
// The error is that of a system that is short of descriptors or memory, which tells nothing about the files.
func (l *labels) wrong() (w wrongLabels, err error) {
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
			w.unread = append(w.unread, path+" cannot be read: "+system.Err.Error())
		case err == nil && id == "":
			w.missing = append(w.missing, f.Name())
		case err != nil || id != l.id:
			w.changed = append(w.changed, path)
		}
	}
	return w, nil
}

// watchInstance tells when a file named instance was removed or changed or cannot be read: the next start refuses without it. A missing
// one is written again; one that was changed stays, as somebody may have had a reason.
func (s *service) watchInstance() {
	w, err := s.labels.wrong()
	if err != nil {
		return // it is looked at again in a second
	}
	var told []string
	for _, dir := range w.missing {
		told = append(told, filepath.Join(dir, "instance")+" was removed while the service ran and is written again")
	}
	if len(w.changed) > 0 {
		told = append(told, fmt.Sprintf("%s was changed while the service ran, and the next start will refuse; write %s into it",
			strings.Join(w.changed, " and "), s.labels.id))
	}
	if len(w.unread) > 0 {
		told = append(told, strings.Join(w.unread, ", ")+"; the next start will refuse while that is so. Look at the disk, and at the permissions of the file")
	}
	if len(told) > 0 {
		s.faults.begin(faultInstance, false, strings.Join(told, "; "))
	}
	for _, dir := range w.missing {
		if err := journal.WriteInstance(dir, s.labels.id); err != nil {
			s.Log.Warn("a file named instance cannot be written", "err", err)
			return
		}
	}
	if len(w.changed)+len(w.unread) == 0 {
		s.faults.end(faultInstance)
	}
}
