package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/query"
)

// shelves is a store with a file for each collection that skips batches it has, as real ones do.
type shelves struct {
	Store
	mu      sync.Mutex
	pos     map[string][]belfry.Position // of the batches, by collection
	commits map[string]int
	fail    func() bool // whether this commit fails; nil: none does
}

func newShelves() *shelves {
	return &shelves{pos: map[string][]belfry.Position{}, commits: map[string]int{}}
}

func (s *shelves) Append(_ context.Context, _ func() bool, batches ...*belfry.Batch) ([]*belfry.Batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, collection := range []string{"objectdata", "events", "statuschange"} {
		at, some := belfry.Position(0), false
		if have := s.pos[collection]; len(have) > 0 {
			at = have[len(have)-1]
		}
		for _, b := range batches {
			if b.Collection != collection || b.Pos <= at {
				continue
			}
			if !some && s.fail != nil && s.fail() {
				return nil, errors.New("no luck")
			}
			some, at = true, b.Pos
			s.pos[collection] = append(s.pos[collection], at)
		}
		if some {
			s.commits[collection]++
		}
	}
	return nil, nil
}

func (s *shelves) Select(context.Context, *query.Plan) (query.Rows, error) { return nil, nil }

// mixed returns a record with that many rows of each collection.
func mixed(pos belfry.Position, data, events, changes int) *belfry.Record {
	r := &belfry.Record{Pos: pos}
	for i, n := range []int{data, events, changes} {
		if n > 0 {
			name := []string{"objectdata", "events", "statuschange"}[i]
			r.Batches = append(r.Batches, &belfry.Batch{Collection: name, Pos: pos, Times: make([]belfry.Time, n)})
		}
	}
	return r
}

// move runs f concurrently with a mover into s, with a fake clock.
func move(t *testing.T, s *shelves, after belfry.Position, f func(ctx context.Context, m *Mover)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := NewMover(s, MoverOptions{Rows: 1000, After: after})
		var running sync.WaitGroup
		running.Go(func() {
			if err := m.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		f(ctx, m)
		cancel()
		running.Wait()
	})
}

func TestSmallBatchesAreHeld(t *testing.T) {
	s := newShelves()
	move(t, s, 0, func(ctx context.Context, m *Mover) {
		for pos := belfry.Position(1); pos <= 8; pos++ {
			m.Add(mixed(pos, 1000, 2, 1))
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		if s.commits["objectdata"] != 8 || s.commits["events"] != 0 || m.Position() != 0 {
			t.Errorf("after 0.8 s: %v, position %d", s.commits, m.Position())
		}
		if rows, _ := m.Backlog(); rows != 8*3 {
			t.Errorf("%d rows wait", rows)
		}
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if s.commits["events"] != 1 || s.commits["statuschange"] != 1 || m.Position() != 8 {
			t.Errorf("after 1.1 s: %v, position %d", s.commits, m.Position())
		}
		m.Add(mixed(9, 1000, 2, 0))
		m.Add(mixed(10, 0, 0, 0))
		time.Sleep(50 * time.Millisecond)
		start := time.Now()
		if _, err := m.Select(ctx, plan("events")); err != nil || s.commits["events"] != 2 || m.Position() < 9 {
			t.Errorf("a query sees %v, %v", s.commits, err)
		}
		if wait := time.Since(start); wait > maxQueryDelay {
			t.Errorf("it waited %v", wait)
		}
		m.Add(mixed(11, 1000, 2, 0))
		time.Sleep(10 * time.Millisecond)
	})
	if n := s.commits["events"]; n != 2 {
		t.Errorf("%d commits of events", n)
	}
}

func TestHeldAreManyOrAlone(t *testing.T) {
	s := newShelves()
	move(t, s, 0, func(_ context.Context, m *Mover) {
		m.Add(mixed(1, 100_000, maxDeferredRows+1, 0)) // too many to wait
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if s.commits["events"] != 1 {
			t.Errorf("many: %v", s.commits)
		}
		m.Add(mixed(2, 1, 1, 0)) // nothing large is near
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		if s.commits["events"] != 2 || m.Position() != 2 {
			t.Errorf("alone: %v, position %d", s.commits, m.Position())
		}
	})
}

func TestDrainMovesWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelves()
		m := NewMover(s, MoverOptions{Rows: 1000})
		m.Add(mixed(1, 1000, 2, 0))
		m.round(t.Context())
		if s.commits["events"] != 0 || s.commits["objectdata"] != 1 {
			t.Fatalf("nothing was held: %v", s.commits)
		}
		if err := m.Drain(t.Context()); err != nil || m.Position() != 1 || s.commits["events"] != 1 {
			t.Errorf("drained: %v, position %d, %v", s.commits, m.Position(), err)
		}
	})
}

// TestHeldSurvive moves random records into a store that sometimes fails, stops the mover at random moments, and starts it
// again with the records above its position: every batch is stored once, and in order.
func TestHeldSurvive(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		s := newShelves()
		luck := rand.New(rand.NewPCG(seed, 8)) // the store's own: it works beside us
		s.fail = func() bool { return luck.IntN(10) == 0 }
		var all []*belfry.Record
		want := map[string][]belfry.Position{}
		for pos := belfry.Position(1); pos <= 60; pos++ {
			r := mixed(pos, []int{0, 1, 500, 2000}[rnd.IntN(4)], []int{0, 1, 30, 5000}[rnd.IntN(4)], []int{0, 2}[rnd.IntN(2)])
			all = append(all, r)
			for _, b := range r.Batches {
				want[b.Collection] = append(want[b.Collection], pos)
			}
		}
		after, next := belfry.Position(0), 0
		for next < len(all) {
			move(t, s, after, func(ctx context.Context, m *Mover) {
				for _, r := range all[after:next] { // what the journal has above the position
					m.Add(r)
				}
				for range 1 + rnd.IntN(20) {
					if next < len(all) {
						m.Add(all[next])
						next++
					}
					if rnd.IntN(4) == 0 {
						if _, err := m.Select(ctx, plan([]string{"objectdata", "events"}[rnd.IntN(2)])); err != nil && belfry.CodeOf(err) != belfry.StorageUnavailable {
							t.Error(err)
						}
					}
					time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond)
				}
				if m.Position() < after {
					t.Errorf("seed %d: the position went back from %d to %d", seed, after, m.Position())
				}
				after = m.Position()
				if next == len(all) {
					s.mu.Lock()
					s.fail = nil
					s.mu.Unlock()
					m.Flush()
					time.Sleep(10 * time.Second)
					if after = m.Position(); after != 60 {
						t.Errorf("seed %d: only up to %d", seed, after)
					}
				}
			})
		}
		for collection, list := range want {
			if got := s.pos[collection]; !slices.Equal(got, list) {
				t.Fatalf("seed %d: %s has %v, want %v", seed, collection, got, list)
			}
		}
	}
}
