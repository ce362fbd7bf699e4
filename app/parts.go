package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
func openLabels(cfg *Config, id string) (l labels, err error) {
	l.id = id
	for _, dir := range []string{cfg.Data, filepath.Join(cfg.Data, "journal"), cfg.inside(cfg.Storage.DuckDB.Dir)} {
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

// wrong says which files are missing or say something else. A folder that is gone or another one is not looked at.
func (l *labels) wrong() (missing, changed []string) {
	for _, f := range l.folders {
		opened, err := f.Stat()
		now, gone := os.Stat(f.Name())
		if err != nil || gone != nil || !os.SameFile(opened, now) {
			continue
		}
		switch id, err := journal.ReadInstance(f.Name()); {
		case err == nil && id == "":
			missing = append(missing, f.Name())
		case err != nil || id != l.id:
			changed = append(changed, filepath.Join(f.Name(), "instance"))
		}
	}
	return missing, changed
}

// watchInstance tells when a file named instance was removed or changed, without which the next start refuses. A missing
// one is written again; one that was changed stays, as somebody may have had a reason.
func (s *service) watchInstance() {
	missing, changed := s.labels.wrong()
	var told []string
	for _, dir := range missing {
		told = append(told, filepath.Join(dir, "instance")+" was removed while the service ran and is written again")
	}
	if len(changed) > 0 {
		told = append(told, fmt.Sprintf("%s was changed while the service ran, and the next start will refuse; write %s into it",
			strings.Join(changed, " and "), s.labels.id))
	}
	if len(told) > 0 {
		s.faults.begin(faultInstance, false, strings.Join(told, "; "))
	}
	for _, dir := range missing {
		if err := journal.WriteInstance(dir, s.labels.id); err != nil {
			s.Log.Warn("a file named instance cannot be written", "err", err)
			return
		}
	}
	if len(changed) == 0 {
		s.faults.end(faultInstance)
	}
}
