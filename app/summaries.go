package app

import (
	"context"
	"strings"
	"time"

	"belfry"
)

const (
	// settled is how long after its end an hour is summed up: what comes a little late is then in it at once.
	settled = 5 * time.Minute

	// rest is how long summing up stands still after a piece of work, in times of what the piece took. Whoever stores
	// rows or asks for them meanwhile finds the engine idle most of the time.
	rest = 3

	// summariesFirst is how long after its start the service looks for what is not summed up. What comes first has the
	// machine to itself.
	summariesFirst = 10 * time.Second
)

// summarise keeps the summaries up to date, a piece at a time.
func (s *service) summarise(ctx context.Context) error {
	timer := time.NewTimer(summariesFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if s.disk.Ready() != nil { // the room that is left is for what was acknowledged
			timer.Reset(summariesEvery)
			continue
		}
		begun := time.Now()
		more, err := s.rows.summaries.Summarise(ctx, belfry.At(begun.Add(-settled)))
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("summaries are not up to date", "err", err)
		}
		if !more && err == nil {
			s.summarised.Store(begun.Unix())
		}
		if more && err == nil {
			timer.Reset(rest * time.Since(begun))
		} else {
			timer.Reset(summariesEvery)
		}
	}
}

// drop forgets what is older than t of a collection or, as the configuration names them, of its summaries.
func (s *service) drop(ctx context.Context, name string, t belfry.Time) error {
	if collection, period, ok := strings.Cut(name, "."); ok {
		if s.rows.summaries == nil {
			return nil
		}
		return s.rows.summaries.DropSummaries(ctx, s.Catalog.Collection(collection), period, t)
	}
	return s.rows.Drop(ctx, s.Catalog.KeptAs(name), t)
}
