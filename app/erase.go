package app

import (
	"context"
	"time"

	"belfry"
	"belfry/store"
)

const (
	// eraseEvery is how often we look whether a customer has been removed, or try again what did not succeed.
	eraseEvery = time.Second
	// eraseRetry is how long we wait after a failure: each attempt looks into every file.
	eraseRetry = 30 * time.Second
	// arrivedEvery is how often we look whether rows have arrived in the store.
	arrivedEvery = 20 * time.Millisecond
)

// keepErased takes off the disk what removed customers have left there. Which customers these are is part of what exists,
// so a start after a crash goes on where the last one ended.
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

// erase takes away the rows of all customers that were removed and not erased yet. First everything that was decided
// before their removal has to be where it will be found: nothing comes after it.
func (s *service) erase(ctx context.Context) error {
	var left []belfry.Removal
	var ids []belfry.CustomerID
	for _, r := range s.Tree.Access().Removals() {
		if r.Erased == 0 {
			left, ids = append(left, r), append(ids, r.Customer)
		}
	}
	if len(left) == 0 || s.disk.Ready() != nil { // a copy needs room
		return nil
	}
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
	s.Journal.Rotate() // so that the segments with what they sent can go
	if err := s.accounts.Erased(left); err != nil {
		return err
	}
	s.Log.Info("removed customers erased", "customers", len(left), "dur", time.Since(begun).Round(time.Millisecond))
	return nil
}

// arrived waits until the rows of all records up to a position are in the store.
func arrived(ctx context.Context, rows *store.Mover, pos belfry.Position) error {
	tick := time.NewTicker(arrivedEvery)
	defer tick.Stop()
	for rows.Position() < pos {
		rows.Hurry()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// forgetPast says that what happened before today is not known: the rows have been lost, and the status as of an earlier
// moment would be found without the events that led to it.
func (s *service) forgetPast(ctx context.Context) error {
	for _, name := range []string{belfry.Events, belfry.StatusDay, belfry.StatusChange} {
		if err := s.drop(ctx, name, belfry.At(time.Now())); err != nil {
			return err
		}
	}
	return nil
}
