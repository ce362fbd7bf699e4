package app

import (
	"context"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/status"
)

// snapshotsEvery is how often we look whether a new day has begun.
const snapshotsEvery = time.Minute

// past answers for past moments.
func (s *service) past() *status.Past {
	return &status.Past{Tree: s.Tree, Catalog: s.Catalog, Rows: s.store, Oldest: s.rows.Oldest}
}

// keepSnapshots has the status of all items written once a day, soon after the day has begun in UTC, or when the
// service starts on a day that has none yet. What fails is tried again a little later.
func (s *service) keepSnapshots(ctx context.Context) error {
	tick := time.NewTicker(snapshotsEvery)
	defer tick.Stop()
	var taken belfry.Time
	for {
		day := belfry.At(s.seq.Now().Std().Truncate(24 * time.Hour))
		if day != taken && s.snapshots(ctx, day) {
			taken = day
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// snapshots writes the snapshot of the day for every customer that has none. A customer that was made on that day needs
// none: there is nothing before that would have to be read.
func (s *service) snapshots(ctx context.Context, day belfry.Time) (all bool) {
	all = true
	for _, c := range s.Tree.Access().Customers() {
		if c.Created >= day {
			continue
		}
		taken, err := s.past().Taken(ctx, c.ID, day, s.seq.Now())
		if err == nil && !taken {
			err = s.seq.Snapshot(ctx, c.ID, engine.SnapshotPart)
		}
		if err != nil {
			all = false
			if ctx.Err() == nil {
				s.Log.Warn("no snapshot of the status of items", "customer", c.Name, "err", err)
			}
		}
	}
	return all
}
