package duck

import (
	"context"
	"errors"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// The engine works on 2,048 rows at a time and holds their texts in memory meanwhile; rowwriter.VectorBytes bounds them. A single
// long row may still need more memory than the engine has: then it can neither checkpoint nor read its log back, and
// acknowledged rows would wait for ever. So if it runs out of memory over rows to be stored, it is restarted with twice
// as much, up to store.Config.MemoryMost.
const memoryGrowth = 16

// errFile marks an error that prevented a file from being opened, by a query or a write.
var errFile = errors.New("open file")

// growMemory restarts the engine with twice the memory; false if that failed or the maximum is reached. The caller
// holds write.
func (s *Store) growMemory(ctx context.Context) bool {
	if ctx.Err() != nil || s.memory >= s.cfg.MemoryMost {
		return false
	}
	s.engineMu.Lock()
	s.memory = min(2*s.memory, s.cfg.MemoryMost)
	s.engineMu.Unlock()
	s.cfg.Log.Warn("rows are too long for the memory of the engine, doubling its limit", "memory", s.memory)
	if err := s.restartEngine(ctx); err != nil {
		s.cfg.Log.Warn("engine not restarted", "err", err)
		return false
	}
	return true
}

// runAlone runs a plan again that could not open a file for lack of memory: the log of the file has to be read first.
// Other queries may have used the memory, so it waits until they are done; only if that does not help does it grow the
// engine's memory. The memory that a query needs for its own work is no reason to grow.
func (s *Store) runAlone(ctx context.Context, p *query.Plan, limit int, err error) (*rows, error) {
	if s.lockWrite(ctx) != nil {
		return nil, err
	}
	defer s.unlockWrite()
	open, _ := s.queries.Clear(ctx, false)
	defer open()
	rows, err := s.run(ctx, p, limit)
	for errors.Is(err, errFile) && duckdb.OutOfMemory(err) && s.growMemory(ctx) {
		rows, err = s.run(ctx, p, limit)
	}
	return rows, err
}

// appendAlone stores rows again for which there was too little memory. Queries may have used it, so it ends them and
// blocks new ones until it has tried again; only if that does not help does it grow the engine's memory.
func (s *Store) appendAlone(ctx context.Context, batches []*belfry.Batch, err error) error {
	open, others := s.queries.Clear(ctx, true)
	defer open()
	if others {
		s.cfg.Log.Warn("queries were ended, as their memory was needed for rows", "err", err)
	}
	_, err = s.append(ctx, batches, nil)
	for duckdb.OutOfMemory(err) && s.growMemory(ctx) {
		_, err = s.append(ctx, batches, nil)
	}
	return err
}

// EndQueries implements store.Embedded.
func (s *Store) EndQueries() { s.queries.Evict() }

// FreeMemory implements store.Embedded.
func (*Store) FreeMemory() { duckdb.FreeMemory() }
