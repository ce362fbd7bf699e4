package duck

import (
	"context"
	"errors"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// The engine works on 2,048 rows at a time, and holds their texts in memory while it does. vectorBytes bounds them. Longer
// rows may need more memory than the engine has: then it can neither checkpoint nor read its log back, and what was
// acknowledged would wait for ever. So when it runs short of memory over rows that are to be stored, it is restarted with twice as much, up to Config.MemoryMost.
const memoryGrowth = 16

// errFile marks an error that kept a file from being opened, whoever wanted to use it.
var errFile = errors.New("open file")

// outOfMemory recognises the engine's words for it.
func outOfMemory(err error) bool {
	if err == nil {
		return false
	}
	if duckdb.IsKind(err, duckdb.OutOfMemoryError) {
		return true
	}
	text := err.Error()
	for _, words := range []string{"failed to pin block", "Out of Memory", "could not allocate block", "failed to allocate"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// growMemory gives the engine twice the memory; false when that has been done often enough. The caller holds write.
func (s *Store) growMemory(ctx context.Context) bool {
	if ctx.Err() != nil || s.memory >= s.cfg.MemoryMost {
		return false
	}
	s.engineMu.Lock()
	s.memory = min(2*s.memory, s.cfg.MemoryMost)
	s.engineMu.Unlock()
	s.cfg.Log.Warn("rows are too long for the memory of the engine, it gets twice as much", "memory", s.memory)
	if err := s.restartEngine(ctx); err != nil {
		s.cfg.Log.Warn("engine not started anew", "err", err)
		return false
	}
	return true
}

// retryAlone runs a plan again that could not open a file for want of memory: the log of the file has to be read first.
// Perhaps other queries had the memory, so it waits until they are done; only if that does not help does the engine get
// more. What a query needs for its own work is no reason to.
func (s *Store) retryAlone(ctx context.Context, p *query.Plan, limit int, err error) (*rows, error) {
	if s.lockWrite(ctx) != nil {
		return nil, err
	}
	defer s.unlockWrite()
	open, _ := s.queries.clear(ctx, false)
	defer open()
	rows, err := s.withConn(ctx, p, limit)
	for errors.Is(err, errFile) && outOfMemory(err) && s.growMemory(ctx) {
		rows, err = s.withConn(ctx, p, limit)
	}
	return rows, err
}

// appendAlone stores rows for which there was too little memory. Perhaps queries have it, so it ends those that run and keeps
// new ones waiting until it has tried again; only if that does not help does the engine get more.
func (s *Store) appendAlone(ctx context.Context, batches []*belfry.Batch, err error) error {
	open, others := s.queries.clear(ctx, true)
	defer open()
	if others {
		s.cfg.Log.Warn("queries were ended, as their memory was needed for rows", "err", err)
	}
	all := func() bool { return false }
	_, err = s.append(ctx, batches, all)
	for outOfMemory(err) && s.growMemory(ctx) {
		_, err = s.append(ctx, batches, all)
	}
	return err
}

// EndQueries implements store.MemoryUser.
func (s *Store) EndQueries() { s.queries.evict() }

// FreeMemory implements store.MemoryUser.
func (*Store) FreeMemory() { duckdb.FreeMemory() }
