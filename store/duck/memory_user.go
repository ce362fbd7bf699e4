package duck

import "belfry/store/duck/duckdb"

// EndQueries implements store.MemoryUser.
func (s *Store) EndQueries() { s.runs.evict() }

// FreeMemory implements store.MemoryUser.
func (*Store) FreeMemory() { duckdb.FreeMemory() }
