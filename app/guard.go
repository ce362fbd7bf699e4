package app

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"belfry/journal"
	"belfry/store"
	"belfry/store/duck"
)

// watchLockEvery is how often the lock and the folder of the journal are looked at.
const watchLockEvery = time.Second

// watchLock tells when the lock or the journal are not where a restart, or another process, would look for them. The journal
// checks the same before it acknowledges anything; this finds out while nothing is sent.
func (s *service) watchLock(ctx context.Context) error {
	tick := time.NewTicker(watchLockEvery)
	defer tick.Stop()
	for {
		s.trouble.lock.told(s.lock.Check()) // first, so that the loss is reported even if it is mended at once
		s.trouble.lock.told(s.lock.Renew())
		s.trouble.folder.told(s.journal.Check())
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// newTroubles makes what follows the parts that write.
func (s *service) newTroubles() {
	cfg := s.cfg.Load()
	dir := filepath.Join(cfg.Data, "journal")
	s.trouble.meta = &trouble{id: faultMeta, faults: s.faults, after: 3, explain: func(err error) string {
		return "what was configured cannot be written to the metadata database, and nothing more is taken: " + explain(cfg.inside(cfg.Meta.SQLite.Path), err)
	}}
	s.trouble.journal = &trouble{id: faultJournal, faults: s.faults, after: 1, explain: func(err error) string {
		return "nothing can be stored: " + explain(dir, err)
	}}
	s.trouble.folder = &trouble{id: faultFolder, faults: s.faults, after: 1, explain: func(error) string {
		return "nothing is stored: " + dir + " or a file in it was removed or replaced while the service ran; put the same folder back, or stop the service, which then stores what it has in memory, and start it again"
	}}
	s.trouble.lock = &trouble{id: faultLock, faults: s.faults, after: 1, explain: func(err error) string {
		if errors.Is(err, journal.ErrLockTaken) {
			return "nothing is stored: " + err.Error() + "; stop both and start one of them"
		}
		return "nothing is stored: " + err.Error()
	}}
}

// journalFailed is told how an append to the journal ended. What watchLock looks at is for it to report.
func (s *service) journalFailed(err error) {
	if !errors.Is(err, journal.ErrGone) && !errors.Is(err, journal.ErrLockLost) {
		s.trouble.journal.told(err)
	}
}

// rowsFailed is told how an attempt to store rows ended, and how many have failed in a row.
func (s *service) rowsFailed(err error, times int) {
	switch {
	case err == nil:
		s.rowsFault.told(s.faults, "mover", "")
		return
	case diskFull(err):
		s.disk.Full(folderRows) // what was acknowledged must still get through
	}
	if times >= store.Stuck {
		s.rowsFault.told(s.faults, "mover", "rows cannot be stored: "+s.explainRows(err))
	}
}

// rowsWatched is told whether the folder of rows and the list of its files are in order.
func (s *service) rowsWatched(err error) {
	if err == nil {
		s.rowsFault.told(s.faults, "watch", "")
		return
	}
	if diskFull(err) {
		s.disk.Full(folderRows)
	}
	s.rowsFault.told(s.faults, "watch", "rows cannot be stored: "+s.explainRows(err))
}

// rowsFault is the fault of the row store, which more than one part can find. It is over when none of them finds it.
type rowsFault struct {
	mu    sync.Mutex
	found map[string]string // by who has found it
}

func (r *rowsFault) told(f *faults, by, message string) {
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

func (s *service) explainRows(err error) string {
	if errors.Is(err, duck.ErrFolder) {
		return err.Error()
	}
	cfg := s.cfg.Load()
	return explain(cfg.inside(cfg.Storage.DuckDB.Dir), err)
}

// metaFailed is told how an attempt to write metadata ended.
func (s *service) metaFailed(err error) {
	if err != nil && diskFull(err) {
		s.disk.Full(folderMeta)
	}
	s.trouble.meta.told(err)
}
