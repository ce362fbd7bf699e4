package duck

import (
	"context"
	"errors"
	"testing"

	"belfry"
	"belfry/store/duck/slots"
)

// TestEviction: when memory is short, running queries are ended and others wait until they may start.
func TestEviction(t *testing.T) {
	var r slots.Evictable
	ctx, q, err := r.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		r.Leave(q)
	}()
	open, any := r.Clear(t.Context(), true)
	if !any || context.Cause(ctx) != slots.ErrEvicted {
		t.Errorf("any %v, cause %v", any, context.Cause(ctx))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Enter(gone); err == nil {
		t.Error("a query starts while queries are blocked")
	}
	in := make(chan error)
	go func() {
		_, q, err := r.Enter(t.Context())
		if err == nil {
			r.Leave(q)
		}
		in <- err
	}()
	open()
	if err := <-in; err != nil {
		t.Error(err)
	}
	if open, any := r.Clear(t.Context(), true); any {
		t.Error("a query still runs")
	} else {
		open()
	}
}

// TestHungryQueries: queries that need more memory than there is fail with advice, and the engine does not grow for
// them; writes succeed meanwhile.
func TestHungryQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := open(t, t.TempDir())
	defer s.Close()
	const batches, rows, size = 12, 2000, 10_000 // 240 MB in all, as much as the engine has
	for i := range batches {
		mustAppend(t, s, lines(belfry.Position(i+1), belfry.RowID(1+i*rows), rows, 10_000, size))
	}
	plan := parse(t, s, "SELECT log FROM objectlog ORDER BY log LIMIT 100000")
	results := make(chan error)
	for range 4 {
		go func() {
			rows, err := s.Select(t.Context(), plan)
			if err == nil {
				rows.Close()
			}
			results <- err
		}()
	}
	for i := range batches {
		mustAppend(t, s, lines(belfry.Position(batches+i+1), belfry.RowID(1+(batches+i)*rows), rows, 10_000, 100))
	}
	for range 4 {
		err := <-results
		if e, ok := errors.AsType[*belfry.Error](err); !ok || e.Code != belfry.BadQuery && e.Code != belfry.Overloaded {
			t.Errorf("a hungry query: %v", err)
		} else {
			t.Logf("%v", e)
		}
	}
	if s.memoryNow() != s.cfg.MemoryLimit {
		t.Errorf("the engine has grown to %d", s.memoryNow())
	}
	if n := len(take(t, ask(t, s, "SELECT id FROM objectlog LIMIT 100000"), nil)); n != 2*batches*rows {
		t.Errorf("%d rows", n)
	}
}

func (s *Store) memoryNow() int64 {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	return s.memory
}
