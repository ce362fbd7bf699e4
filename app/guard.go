package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/config"
	"belfry/folder"
	"belfry/journal"
	"belfry/meta/sqlite"
	"belfry/store"
)

// watchPartsEvery is how often watchParts checks the files.
const watchPartsEvery = time.Second

// watchParts detects that the lock, the journal, the metadata or the files named instance were removed or replaced while the
// service runs, and rewrites what it can from memory. The journal also checks its own files before each acknowledgement; this
// finds out while nothing is sent.
func (s *service) watchParts(ctx context.Context) error {
	tick := time.NewTicker(watchPartsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.checkParts(ctx)
		}
	}
}

func (s *service) checkParts(ctx context.Context) {
	s.failures.lock.record(s.Lock.Check()) // check before Renew, so that a loss that Renew repairs is reported
	s.failures.lock.record(s.Lock.Renew())
	s.failures.folder.record(s.Journal.Check())
	s.watchMeta(ctx)
	s.watchInstance()
	s.watchWritten()
}

// newFailureTrackers creates the trackers of the parts that write.
func (s *service) newFailureTrackers() {
	cfg := s.cfg.Load()
	dir := filepath.Join(cfg.Data, "journal")
	s.failures.meta = &failureTracker{id: faultMeta, faults: s.faults, after: 3, explain: func(err error) string {
		if errors.Is(err, sqlite.ErrFile) {
			return explainMeta(s.cfg.Load(), err)
		}
		return "changes cannot be written to the metadata database, so nothing is accepted: " + folder.Explain(cfg.Inside(cfg.Meta.SQLite.Path), err)
	}}
	s.failures.journal = &failureTracker{id: faultJournal, faults: s.faults, after: 1, explain: func(err error) string {
		return "nothing can be stored: " + folder.Explain(dir, err)
	}}
	s.failures.times = &failureTracker{id: faultTimes, faults: s.faults, after: 1, explain: func(err error) string {
		const refused = "the times of records cannot be written, and requests that need them are refused: "
		if kind := folder.WrongKind(""); errors.As(err, &kind) {
			return refused + kind.Error()
		}
		return refused + folder.Explain(filepath.Join(cfg.Data, folder.ArrivalsFile), err)
	}}
	s.failures.folder = &failureTracker{id: faultFolder, faults: s.faults, after: 1, explain: func(error) string {
		return "nothing is stored: " + dir + " or a file in it was removed or replaced while the service ran, or written over; put the same folder back, or stop the service, which then stores what it has in memory, and restart it"
	}}
	s.failures.lock = &failureTracker{id: faultLock, faults: s.faults, after: 1, explain: func(err error) string {
		if errors.Is(err, journal.ErrLockTaken) {
			return "nothing is stored: " + err.Error() + "; stop both and start one of them"
		}
		return "nothing is stored: " + err.Error()
	}}
}

// journalFailed records the result of an append to the journal. It leaves out the errors that watchParts reports.
func (s *service) journalFailed(err error) {
	if !errors.Is(err, journal.ErrGone) && !errors.Is(err, journal.ErrLockLost) {
		s.failures.journal.record(err)
	}
}

// journalEndFailed begins the fault that the file with the journal's end cannot be used or written; nil ends it.
func (s *service) journalEndFailed(err error) {
	if err == nil {
		s.faults.end(folder.FaultEnd)
		return
	}
	path := filepath.Join(s.JournalDir(), "end")
	problem, remedy := folder.EndProblem(path, err)
	s.faults.begin(folder.FaultEnd, false, fmt.Sprintf("%s: %s. %s", path, problem, remedy))
}

// rowsFailed handles the result of an attempt to store rows; times is how many attempts have failed in a row.
func (s *service) rowsFailed(err error, times int) {
	switch {
	case err == nil:
		s.rowsFault.record(s.faults, "mover", "")
		return
	case folder.DiskFull(err):
		s.disk.Full(folderRows) // acknowledged rows must still be stored
	}
	if times >= store.Stuck {
		s.rowsFault.record(s.faults, "mover", "rows cannot be stored: "+explainRows(s.cfg.Load(), err))
	}
}

// rowsWatched handles the result of a check of the row store's folder and manifest.
func (s *service) rowsWatched(err error) {
	if err == nil {
		s.rowsFault.record(s.faults, "watch", "")
		return
	}
	if folder.DiskFull(err) {
		s.disk.Full(folderRows)
	}
	s.rowsFault.record(s.faults, "watch", "rows cannot be stored: "+explainRows(s.cfg.Load(), err))
}

// rowsFault is the fault of the row store, which has two detectors. It ends when neither sees a failure.
type rowsFault struct {
	mu    sync.Mutex
	found map[string]string // message by detector; empty: no failure
}

func (r *rowsFault) record(f *faults, by, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil {
		r.found = map[string]string{}
	}
	r.found[by] = message
	for _, who := range []string{"watch", "mover"} {
		if m := r.found[who]; m != "" {
			f.begin(faultRows, true, m)
			return
		}
	}
	f.end(faultRows)
}

func explainRows(cfg *config.Config, err error) string {
	if errors.Is(err, store.ErrFolder) {
		return err.Error()
	}
	return folder.Explain(cfg.RowsDir(), err)
}

// watchMeta rewrites the metadata files if they were removed or replaced. Until then nothing is accepted: the next start would not have
// it. If another program has written to them, that stays so until the service is stopped.
func (s *service) watchMeta(ctx context.Context) {
	err := s.DB.Check()
	if err == nil {
		if s.metaLost.Swap(nil) != nil { // the files were put back
			s.failures.meta.record(nil)
		}
		return
	}
	s.metaLost.Store(belfry.Errorf(belfry.StorageUnavailable, "%s", explainMeta(s.cfg.Load(), err)))
	s.failures.meta.recordNow(err)
	if sqlite.Changed(err) || s.Lock.Check() != nil {
		return // what is open may be of another database, or the folder belong to another service now
	}
	if failed := s.DB.Restore(ctx); failed != nil {
		if ctx.Err() == nil {
			s.Log.Warn("the metadata cannot be rewritten, trying again", "err", failed)
			s.failures.meta.recordNow(errors.Join(err, failed))
		}
		return
	}
	s.metaLost.Store(nil)
	s.failures.meta.record(nil)
}

// explainMeta explains what happened to the metadata files. The first line of err is what Check found, the second why Restore
// failed.
func explainMeta(cfg *config.Config, err error) string {
	path := cfg.Inside(cfg.Meta.SQLite.Path)
	found, failed, tried := strings.Cut(err.Error(), "\n")
	if _, what, ok := strings.Cut(found, sqlite.ErrFile.Error()+": "); ok {
		found = what
	}
	text := "nothing is accepted: " + found
	if sqlite.Changed(err) {
		return text
	}
	text += " while the service ran"
	switch {
	case !tried:
		return text + "; it is being rewritten from memory"
	case folder.DiskFull(errors.New(failed)):
		return text + ", and it cannot be rewritten: " + folder.Explain(filepath.Dir(path), errors.New(failed)) + ". The service tries again every second; do not stop it before that has succeeded"
	}
	return text + ", and it cannot be rewritten; the server's log says why. The service tries again every second. If the files can be put back as they were, do that while it runs. " +
		"Otherwise stop the service and put " + filepath.Base(path) + " of a backup in their place; the journal still has what was changed since it was last written"
}

// writable returns an error while the disk is full or the metadata files are missing: the next start would not have what is
// stored then.
func (s *service) writable() error {
	if err := s.metaLost.Load(); err != nil {
		return err
	}
	return s.disk.Ready()
}

// metaFailed handles the result of an attempt to write metadata.
func (s *service) metaFailed(err error) {
	if err != nil && folder.DiskFull(err) {
		s.disk.Full(folderMeta)
	}
	s.failures.meta.record(err)
}

// checkMetadata verifies all pages of the database once. A start reads only the pages that it needs, so a damaged one would
// otherwise surface at the first request that reads it.
func (s *service) checkMetadata(ctx context.Context) error {
	err := s.DB.Intact(ctx)
	switch {
	case sqlite.Damaged(err):
		path := s.cfg.Load().Inside(s.cfg.Load().Meta.SQLite.Path)
		s.Log.Error("the metadata are damaged", "file", path, "err", err)
		s.faults.begin(faultMetaPages, false, path+" is damaged, and requests that read the damaged part fail: "+folder.DamagedRemedy)
	case err == nil:
		s.faults.end(faultMetaPages)
	case ctx.Err() == nil:
		s.Log.Warn("the metadata could not be checked", "err", err)
	}
	<-ctx.Done()
	return nil
}
