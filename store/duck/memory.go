package duck

import (
	"context"
	"errors"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// The engine works on 2,048 rows at a time, and holds their texts in memory while it does. vectorBytes bounds them. Rows
// that are longer by themselves may need more memory than the engine has: then
// it can neither checkpoint nor read its log back, and what was acknowledged would wait for ever. So when it runs short
// of memory over rows that are to be stored, it is started anew with twice as much, up to Config.MemoryMost.
const memoryGrowth = 16

// errFile marks an error that kept a file from being opened, whoever wanted to use it.
var errFile = errors.New("open file")

// shortOfMemory recognises the engine's words for it.
func shortOfMemory(err error) bool {
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

// grow gives the engine twice the memory; false when that has been done often enough. The caller holds write.
func (s *Store) grow(ctx context.Context) bool {
	if ctx.Err() != nil || s.memory >= s.cfg.MemoryMost {
		return false
	}
	s.life.Lock()
	s.memory = min(2*s.memory, s.cfg.MemoryMost)
	s.life.Unlock()
	s.cfg.Log.Warn("rows are too long for the memory of the engine, it gets twice as much", "memory", s.memory)
	if err := s.revive(ctx); err != nil {
		s.cfg.Log.Warn("engine not started anew", "err", err)
		return false
	}
	return true
}

// answerAlone answers a plan that found a file it could not open for want of memory, as what the file's log holds has to
// be read first. Perhaps other queries had the memory, so it tries once more without them; only if that does not
// help does the engine get more. What a query needs for its own work is no reason to.
func (s *Store) answerAlone(ctx context.Context, p *query.Plan, most int, err error) (*rows, error) {
	if s.lockWrite(ctx) != nil {
		return nil, err
	}
	defer s.unlockWrite()
	open, _ := s.runs.clear(ctx, false)
	defer open()
	rows, err := s.answer(ctx, p, most)
	for errors.Is(err, errFile) && shortOfMemory(err) && s.grow(ctx) {
		rows, err = s.answer(ctx, p, most)
	}
	return rows, err
}

// appendAlone stores rows for which there was too little memory. Perhaps queries had it, or one that has just ended: those
// under way are ended, and wait until it has tried once more; only if that does not help does the engine get more.
func (s *Store) appendAlone(ctx context.Context, batches []*belfry.Batch, err error) error {
	open, others := s.runs.clear(ctx, true)
	defer open()
	if others {
		s.cfg.Log.Warn("queries were ended, as their memory was needed for rows", "err", err)
	}
	all := func() bool { return false }
	_, err = s.append(ctx, batches, all)
	for shortOfMemory(err) && s.grow(ctx) {
		_, err = s.append(ctx, batches, all)
	}
	return err
}
