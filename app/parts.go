package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"belfry/journal"
)

// faultInstance is the fault of a file named instance.
const faultInstance = "instance"

// watchInstance tells when a file named instance was removed or changed or cannot be read: the next start refuses without it. A missing
// one is written again; one that was changed stays, as somebody may have had a reason.
func (s *service) watchInstance() {
	w, err := s.labels.Wrong()
	if err != nil {
		return // it is looked at again in a second
	}
	var problems []string
	for _, dir := range w.Missing {
		problems = append(problems, filepath.Join(dir, "instance")+" was removed while the service ran and is written again")
	}
	if len(w.Changed) > 0 {
		problems = append(problems, fmt.Sprintf("%s was changed while the service ran, and the next start will refuse; write %s into it",
			strings.Join(w.Changed, " and "), s.Instance))
	}
	if len(w.Unread) > 0 {
		problems = append(problems, strings.Join(w.Unread, ", ")+"; the next start will refuse while that is so. Look at the disk, and at the permissions of the file")
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
