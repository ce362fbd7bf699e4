package duck

import "belfry/store/duck/duckdb"

// EndQueries implements store.MemoryUser.
func (s *Store) EndQueries() { s.queries.evict() }

// FreeMemory implements store.MemoryUser.
func (*Store) FreeMemory() { duckdb.FreeMemory() }
