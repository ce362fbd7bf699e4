package duck

import (
	"context"
	"errors"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// The engine works on 2,048 rows at a time, and holds their texts in memory while it does. Texts are short, so its memory
// is set for that. But a text may be as long as a row may be, and 2,048 of the longest are more than the engine has: then
// it can neither fold its log in nor read it back, and what was acknowledged would wait for ever. So when it runs short
// of memory over rows that are to be stored, it is started anew with twice as much, up to memoryGrowth times.
const memoryGrowth = 16

// errFile marks an error that kept a file from being opened, whoever wanted to use it.
var errFile = errors.New("open file")

// shortOfMemory recognises the engine's words for it.
func shortOfMemory(err error) bool {
	if err == nil {
		return false
	}
	if isKind(err, bindings.ErrorTypeOutOfMemory) {
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
	if ctx.Err() != nil || s.memory >= memoryGrowth*s.cfg.MemoryLimit {
		return false
	}
	s.life.Lock()
	s.memory *= 2
	s.life.Unlock()
	s.cfg.Log.Warn("rows are too long for the memory of the engine, it gets twice as much", "memory", s.memory)
	if err := s.revive(ctx); err != nil {
		s.cfg.Log.Warn("engine not started anew", "err", err)
		return false
	}
	return true
}

// growFor makes room for a query that found a file it could not open.
func (s *Store) growFor(ctx context.Context, err error) bool {
	if !errors.Is(err, errFile) || !shortOfMemory(err) {
		return false
	}
	had := s.memoryNow()
	select {
	case s.write <- struct{}{}:
		defer func() { <-s.write }()
	case <-ctx.Done():
		return false
	}
	return s.memoryNow() > had || s.grow(ctx) // another may have been faster
}

func (s *Store) memoryNow() int64 {
	s.life.RLock()
	defer s.life.RUnlock()
	return s.memory
}
