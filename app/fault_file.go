package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"belfry/journal"
)

// faultNotes is the content of the file folder.FaultsFile: the open faults and the unwritten events for the next start, so that a
// fault that was open when the process was killed gets its end event too.
type faultNotes struct {
	Open    map[string]faultNote `json:"open"`
	Pending []faultEvent         `json:"pending,omitempty"`
}

type faultNote struct {
	Since   time.Time `json:"since"`
	Message string    `json:"message"`
}

// load reads what the previous run has left. An unreadable file costs only some events.
func (f *faults) load(path string) {
	f.file = path
	text, err := journal.ReadChecked(path)
	var notes faultNotes
	if err == nil {
		err = json.Unmarshal(text, &notes)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("the faults of the last run are unknown", "err", err)
		}
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = map[string]fault{}
	for id, n := range notes.Open {
		if len(f.before) < maxPendingEvents {
			f.before[id] = fault{since: n.Since, message: n.Message}
		}
	}
	f.pending = append(f.pending, notes.Pending[:min(len(notes.Pending), maxPendingEvents)]...)
}

// save writes the open faults if they have changed. If it fails, the next event retries.
func (f *faults) save() {
	if f.file == "" {
		return
	}
	text, err := f.text()
	if err != nil || bytes.Equal(text, f.kept) {
		return
	}
	if err := journal.WriteChecked(f.file, text); err != nil {
		f.log.Debug("the open faults cannot be saved", "err", err)
		return
	}
	f.kept = text
}

func (f *faults) text() ([]byte, error) { return json.MarshalIndent(f.notes(), "", "  ") }

func (f *faults) notes() faultNotes {
	f.mu.Lock()
	defer f.mu.Unlock()
	notes := faultNotes{Open: map[string]faultNote{}, Pending: slices.Clone(f.pending)}
	for _, list := range []map[string]fault{f.before, f.open} {
		for id, a := range list {
			notes.Open[id] = faultNote{a.since, a.message}
		}
	}
	return notes
}
