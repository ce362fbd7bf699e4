package app

import (
	"context"
	"time"

	"belfry"
	"belfry/store"
)

const (
	// eraseEvery is how often the service checks for removed customers.
	eraseEvery = time.Second
	// eraseRetry is the delay after a failure: each attempt reads every file.
	eraseRetry = 30 * time.Second
	// arrivedEvery is how often arrived checks the position of the row store.
	arrivedEvery = 20 * time.Millisecond
)

// keepErased deletes the data of removed customers from the disk. The tree knows which are not erased yet, so a start after a
// crash continues.
func (s *service) keepErased(ctx context.Context) error {
	tick := time.NewTicker(eraseEvery)
	defer tick.Stop()
	for {
		tick.Reset(eraseEvery)
		if err := s.erase(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("rows of a removed customer not deleted yet", "err", err)
			tick.Reset(eraseRetry)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// erase deletes the data of all customers that were removed but not erased yet. It waits until everything from before their
// removal is in the stores; nothing follows it.
func (s *service) erase(ctx context.Context) error {
	var left []belfry.Removal
	var ids []belfry.CustomerID
	for _, r := range s.Tree.Access().Removals() {
		if r.Erased == 0 {
			left, ids = append(left, r), append(ids, r.Customer)
		}
	}
	if len(left) == 0 || s.disk.Ready() != nil { // rewriting a file needs space
		return nil
	}
	end, ok := s.beginDeletions()
	if !ok { // the next check tries again
		return nil
	}
	defer end()
	begun := time.Now()
	if err := arrived(ctx, s.store, s.Journal.Last()); err != nil {
		return err
	}
	if err := s.rows.Erase(ctx, ids); err != nil {
		return err
	}
	if err := s.meta.Drain(ctx); err != nil {
		return err
	}
	if err := s.DB.Checkpoint(ctx); err != nil {
		return err
	}
	s.Journal.Rotate() // so that the segments with their records can be deleted
	if err := s.accounts.Erased(left); err != nil {
		return err
	}
	s.Log.Info("removed customers erased", "customers", len(left), "dur", time.Since(begun).Round(time.Millisecond))
	return nil
}

// beginDeletions reports whether rows and customers may be deleted until end is called: not while a backup, or another deletion, runs.
func (s *service) beginDeletions() (end func(), ok bool) {
	select {
	case s.deletions <- struct{}{}:
		return func() { <-s.deletions }, true
	default:
		return nil, false
	}
}

// arrived waits until the row store has all records up to a position.
func arrived(ctx context.Context, rows *store.Mover, pos belfry.Position) error {
	tick := time.NewTicker(arrivedEvery)
	defer tick.Stop()
	for rows.Position() < pos {
		rows.Flush()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// forgetPast drops the history of events and status: rows were lost, and a past status would be computed without the events that
// led to it.
func (s *service) forgetPast(ctx context.Context) error {
	for _, name := range []string{belfry.Events, belfry.StatusDay, belfry.StatusChange} {
		if err := s.drop(ctx, name, belfry.At(time.Now())); err != nil {
			return err
		}
	}
	return nil
}
