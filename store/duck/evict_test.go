package duck

import (
	"context"
	"testing"

	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/slots"
)

// hoard is a query that holds some 57 MB of the engine's memory and runs for days.
const hoard = `SELECT count(*) FROM (SELECT repeat('x', 1000) || i AS t FROM range(50000) r(i)) a, range(1000000000000) b WHERE length(a.t) + b.range < 0`

// TestAppendEvicts: rows for which there is no memory, because a query holds it, are stored nevertheless. The query
// ends, and the engine does not grow. With padding, rows hardly ever need that much, so this test has none.
func TestAppendEvicts(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), config{Config: store.Config{Dir: t.TempDir(), Catalog: cat, MemoryLimit: 64 << 20}, noPadding: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // the query runs for days if it is not evicted
	inner, q, err := s.queries.Enter(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		c, err := s.engine.Borrow()
		if err == nil {
			_, err = c.Query(inner, hoard)
			s.engine.Return(c, false)
		}
		s.queries.Leave(q)
		ended <- err
	}()
	waitMemory(t, s, 50<<20, ended)
	mustAppend(t, s, lines(1, 1, 2000, 2000, 30_000))
	// The query may fail for lack of memory before it is cancelled.
	if err := <-ended; context.Cause(inner) != slots.ErrEvicted && !duckdb.OutOfMemory(err) {
		t.Errorf("the query ended with %v, because %v", err, context.Cause(inner))
	}
	if s.memoryNow() != s.cfg.MemoryLimit {
		t.Errorf("the engine has grown to %d", s.memoryNow())
	}
	if n := len(take(t, ask(t, s, "SELECT id FROM objectlog LIMIT 10000"), nil)); n != 2000 {
		t.Errorf("%d rows", n)
	}
}

// waitMemory waits until the engine uses this much memory, for a query that has not ended.
func waitMemory(t *testing.T, s *Store, bytes uint64, ended chan error) {
	t.Helper()
	c, err := s.engine.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for {
		n, err := c.Number(t.Context(), "SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()")
		if err != nil {
			t.Fatal(err)
		}
		if n >= bytes {
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("the query does not take the memory it should: %v", err)
		default:
		}
	}
}
