package app

import (
	"context"
	"time"
)

// filesEvery is how often the files of rows are looked after.
const filesEvery = 2 * time.Second

// faultDayFile begins the id of the fault of an incomplete day.
const faultDayFile = "day_file "

// filesChanged wakes watchFiles. It does not wait.
func (s *service) filesChanged() {
	select {
	case s.files <- struct{}{}:
	default:
	}
}

// watchFiles looks for files of rows that were deleted under the service, and keeps a fault open for each day of which
// rows cannot be read. Those in open have begun already.
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
			s.Log.Warn("the files of rows could not be looked after", "err", err)
		}
		failing = err != nil
		open = s.tellIncomplete(open)
		select {
		case <-ctx.Done():
			return nil
		case <-s.files:
		case <-tick.C:
		}
	}
}

// tellIncomplete begins the faults of incomplete days and other faults of the row store that do not stop it, and ends
// those that were open and are over.
func (s *service) tellIncomplete(open map[string]bool) map[string]bool {
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
