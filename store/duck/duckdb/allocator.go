package duckdb

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

// FreeMemory returns memory that the engine has freed to the system. The engine's allocator keeps it for a while in
// case it is needed again, and that can be several times what the engine uses.
func FreeMemory() { C.purge() }
