package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"belfry/folder"
	"belfry/journal"
)

const (
	faultInstance = "instance"
	faultBranches = "branches"
	faultFormat   = "format"
)

// watchInstance detects files named instance that were removed, changed or cannot be read, as the next start fails without them.
// It rewrites a missing file, but not a changed one: the change may be intended.
func (s *service) watchInstance() {
	w, err := s.instanceFiles.Wrong()
	if err != nil {
		return // it retries in a second
	}
	var problems []string
	for _, dir := range w.Missing {
		problems = append(problems, filepath.Join(dir, "instance")+" was removed while the service ran and is being rewritten")
	}
	if len(w.Changed) > 0 {
		problems = append(problems, fmt.Sprintf("%s was changed while the service ran, so the next start will fail; write %s into it",
			strings.Join(w.Changed, " and "), s.Instance))
	}
	if len(w.Unread) > 0 {
		problems = append(problems, strings.Join(w.Unread, ", ")+"; the next start will fail if this is not repaired. Check the disk and the permissions of the file")
	}
	if len(problems) > 0 {
		s.faults.begin(faultInstance, false, strings.Join(problems, "; "))
	}
	for _, dir := range w.Missing {
		if err := journal.WriteInstance(dir, s.Instance); err != nil {
			s.Log.Warn("a file named instance cannot be written", "err", err)
			return
		}
	}
	if len(w.Changed)+len(w.Unread) == 0 {
		s.faults.end(faultInstance)
	}
}

// watchWritten detects that a file which the start has written was removed or changed, and writes it again: it does not change while the
// service runs. Without the list of starts, parts of other branches would not be noticed, and rows of earlier backups could not be added;
// with another format the next start is refused.
func (s *service) watchWritten() {
	for _, f := range []struct{ fault, file, what string }{
		{faultBranches, folder.BranchesFile, "the list of starts"},
		{faultFormat, folder.FormatFile, "the number of the format"},
	} {
		what := s.Problem(f.file)
		if what == "" {
			s.faults.end(f.fault)
			continue
		}
		if s.Lock.Check() != nil {
			return // the folder may be gone, or belong to another service
		}
		text := filepath.Join(s.cfg.Load().Data, f.file) + ", " + f.what + ", " + what + " while the service ran and "
		err := s.WriteAgain(f.file)
		if err == nil {
			s.faults.begin(f.fault, false, text+"was written again")
			s.faults.end(f.fault)
			continue
		}
		s.faults.begin(f.fault, false, text+"cannot be rewritten: "+err.Error())
	}
}
