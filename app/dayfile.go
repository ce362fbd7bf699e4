package app

import (
	"context"
	"time"
)

// filesEvery is how often the files of rows are checked.
const filesEvery = 2 * time.Second

// faultDayFile is the prefix of the id of the fault of an incomplete day.
const faultDayFile = "day_file "

// filesChanged wakes watchFiles. It does not block.
func (s *service) filesChanged() {
	select {
	case s.files <- struct{}{}:
	default:
	}
}

// watchFiles detects files of rows that were deleted while the service ran, and keeps a fault open for each day whose rows cannot
// be read. The faults in open have begun already.
func (s *service) watchFiles(ctx context.Context, open map[string]bool) error {
	tick := time.NewTicker(filesEvery)
	defer tick.Stop()
	failing := false
	for {
		err := s.rows.embedded.Watch()
		s.rowsWatched(err)
		if err == nil {
			err = s.rows.embedded.Mend(ctx)
		}
		if err != nil && !failing && ctx.Err() == nil {
			s.Log.Warn("the files of rows could not be checked", "err", err)
		}
		failing = err != nil
		open = s.reportIncomplete(open)
		select {
		case <-ctx.Done():
			return nil
		case <-s.files:
		case <-tick.C:
		}
	}
}

// reportIncomplete begins the faults of incomplete days and other non-blocking faults of the row store, and ends those in open
// that are over.
func (s *service) reportIncomplete(open map[string]bool) map[string]bool {
	now := map[string]bool{}
	for _, d := range s.rows.embedded.Incomplete() {
		id := faultDayFile + d.Collection + " " + d.Day
		now[id] = true
		s.faults.begin(id, false, d.Message)
	}
	for _, f := range s.rows.embedded.Faults() {
		now[f.ID] = true
		s.faults.begin(f.ID, false, f.Message)
	}
	for id := range open {
		if !now[id] {
			s.faults.end(id)
		}
	}
	return now
}
