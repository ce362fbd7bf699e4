package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/store"
)

// slowSummaries is a store that calls each for every piece of work before a deletion. Nothing can be deleted in it.
type slowSummaries struct {
	store.Store
	store.Summarizer
	each func() (more bool, err error)
}

func (s *slowSummaries) FinishSummaries(context.Context, *catalog.Collection, belfry.Time) (bool, error) {
	return s.each()
}

// TestRetentionSummarisesFirst: a backup can begin while rows are summarised that are about to be deleted; then they are not deleted.
func TestRetentionSummarisesFirst(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{core: &core{Options: Options{Catalog: cat, Log: slog.New(slog.DiscardHandler)}}, guard: newGuarded(t).clockGuard, deletions: make(chan struct{}, 1)}
	s.setConfig(config.Default(cat))
	pieces := 0
	fake := &slowSummaries{each: func() (bool, error) {
		if pieces++; pieces == 3 {
			if _, ok := s.beginDeletions(); !ok {
				t.Error("a backup would have to wait for summaries")
			}
			return false, errors.New("the engine has too little memory")
		}
		return pieces < 3, nil
	}}
	s.rows = &rowStore{Store: fake, summaries: fake}
	s.retain(t.Context())
	if pieces < 3 {
		t.Errorf("%d pieces of work were done, want at least 3", pieces)
	}
}
