package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"belfry"
)

const (
	// settled is how long after its end an hour is summarized, so that slightly late rows are included the first time.
	settled = 5 * time.Minute

	// rest is the pause after each piece of work, as a multiple of the time it took, so that the engine is mostly free for
	// requests.
	rest = 3

	// summariesFirst is the delay after the start, so that requests and the replay come first.
	summariesFirst = 10 * time.Second
)

// summarise keeps the summaries up to date, one piece at a time.
func (s *service) summarise(ctx context.Context) error {
	timer := time.NewTimer(summariesFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if s.disk.Ready() != nil { // the remaining space is for acknowledged rows
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

// finishSummaries makes the summaries of rows that are older than t, which are about to be deleted. It gives up when the next retention is
// due.
func (s *service) finishSummaries(ctx context.Context, name string, t belfry.Time) error {
	c := s.Catalog.KeptAs(name)
	if c == nil || s.rows.summaries == nil { // summaries have none
		return nil
	}
	for begun := time.Now(); time.Since(begun) < retentionEvery; {
		if more, err := s.rows.summaries.FinishSummaries(ctx, c, t); !more || err != nil {
			return err
		}
	}
	return errors.New("there are more than can be summarised at once; the next retention continues")
}

// drop deletes the rows of a collection that are older than t, or those of a summary, named as in the configuration.
func (s *service) drop(ctx context.Context, name string, t belfry.Time) error {
	if collection, period, ok := strings.Cut(name, "."); ok {
		if s.rows.summaries == nil {
			return nil
		}
		return s.rows.summaries.DropSummaries(ctx, s.Catalog.Collection(collection), period, t)
	}
	return s.rows.Drop(ctx, s.Catalog.KeptAs(name), t)
}
