package duck

/*
#include <stddef.h>

// The engine's own allocator, jemalloc. Builds of the engine for some systems have none.
extern int duckdb_je_mallctl(const char *name, void *old, size_t *old_length, void *value, size_t length) __attribute__((weak));

static void purge(void) {
	if (duckdb_je_mallctl)
		duckdb_je_mallctl("arena.4096.purge", 0, 0, 0, 0); // 4096 stands for all arenas
}
*/
import "C"

// EndQueries ends the queries that are under way, with an error that says why, because their memory is needed.
func (s *Store) EndQueries() { s.runs.evict() }

// FreeMemory gives memory that the engine has freed back to the system. The engine's allocator keeps it for a while, in
// the hope that it is needed again, and that can be several times what the engine uses.
func (*Store) FreeMemory() { C.purge() }
