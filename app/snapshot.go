package app

import (
	"context"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/status"
)

// snapshotsEvery is how often keepSnapshots checks for a new day.
const snapshotsEvery = time.Minute

// past returns the source for queries as of a past time.
func (s *service) past() *status.Past {
	return &status.Past{Tree: s.Tree, Catalog: s.Catalog, Rows: s.store, Oldest: s.rows.Oldest}
}

// keepSnapshots writes the status of all items once a day, soon after midnight UTC, or at the start if the day has no snapshot.
// It retries after a failure.
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

// snapshots writes the snapshot of the day for every customer without one. A customer created on that day needs none, because it
// has no earlier history.
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
				s.Log.Warn("snapshot of the status of items not written", "customer", c.Name, "err", err)
			}
		}
	}
	return all
}
