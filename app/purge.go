package app

import (
	"context"
	"math"
	"slices"
	"time"

	"belfry"
	"belfry/catalog"
)

// purgeMargin is how long before the oldest row an item must have been removed: rows may be dated a little ahead of their
// arrival, and files hold whole periods.
const purgeMargin = 24 * time.Hour

// purge deletes removed items that have no rows left.
func (s *service) purge(ctx context.Context) {
	before := max(s.oldestRow()-belfry.Time(purgeMargin.Microseconds()), 1) // graphical elements never have rows
	purged, err := s.DB.Purge(ctx, before, func(ids []belfry.ID) error { return s.rows.ForgetItems(ctx, ids) })
	if err == nil && purged > 0 {
		s.Log.Info("removed items purged", "items", purged, "before", before)
		err = s.Tree.History().Purged(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("removed items without rows not deleted", "err", err)
	}
}

// oldestRow is the time before which retention has dropped all rows about items, summaries included; 0 if some collection is kept
// forever.
func (s *service) oldestRow() belfry.Time {
	oldest := belfry.Time(math.MaxInt64)
	for _, c := range s.Catalog.Kept() {
		internal := c.Name == belfry.StatusDay || c.Name == belfry.StatusChange
		if !internal && !slices.ContainsFunc(c.Fields, func(f catalog.Field) bool { return f.Of != "" }) {
			continue
		}
		oldest = min(oldest, s.rows.Oldest(c.Name))
		for _, sum := range c.Summaries {
			oldest = min(oldest, s.rows.Oldest(c.SummaryName(sum.Period)))
		}
	}
	return oldest
}
