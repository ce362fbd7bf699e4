package app

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/store"
)

// TestBudget: the parts fit into the limit, everything has its usual size where there is plenty, and what somebody has
// set stays.
func TestBudget(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{192 * mib, 256 * mib, 512 * mib, 768 * mib, 1 << 30, 2<<30 - 1} {
		b := newBudget(memoryLimit{limit, "test"})
		c := b.size(config.Default(cat))
		if err := c.Check(); err != nil {
			t.Errorf("%d: %v", limit, err)
		}
		if sum := b.engine + b.scripts + b.outside + b.spare + b.heap; sum > limit+128*mib || limit >= 512*mib && sum > limit {
			t.Errorf("%d: the parts are %d together", limit, sum)
		}
		inHeap := int64(b.backlogRows)*256*5/4 + b.held + b.answers + b.texts + int64(b.connections)*(32<<10) + 2*int64(c.Limits.BulkRequests*b.chunk)
		if limit >= 512*mib && inHeap > b.heap {
			t.Errorf("%d: %d bytes of buffers in a heap of %d", limit, inHeap, b.heap)
		}
		if 4*2048*int64(c.Limits.Row) > max(limit/2, 128*mib) {
			t.Errorf("%d: rows of %d are too long for four threads", limit, c.Limits.Row)
		}
		if int64(b.metadata) > max(16*mib, limit/32) {
			t.Errorf("%d: %d bytes may wait for the metadata database", limit, b.metadata)
		}
		if c.Limits.BulkRequests < 4 || c.Limits.Connections < 100 || b.engineMost > limit {
			t.Errorf("%d: %+v", limit, c.Limits)
		}
	}
	for _, l := range []memoryLimit{{}, {2 << 30, "test"}, {8 << 30, "test"}, {24 << 30, "machine"}} {
		b := newBudget(l)
		c, usual := b.size(config.Default(cat)), config.Default(cat)
		if l.bytes > 0 { // rows are shorter unless there is very much memory
			usual.Limits.Row = config.Size(min(mib, l.bytes/16384))
			usual.Limits.Texts = config.Size(max(128*mib, l.bytes/16)) // texts stay, so they may have more where there is more
			usual.Limits.MemoryItems = config.Size(b.heap * 3 / 8)     // the same
		}
		if c.Limits != usual.Limits || c.Storage != usual.Storage || b.backlogRows != 500_000 || b.chunk != 8*mib || b.engineMost > 16*b.engine || l.bytes > 0 && b.engineMost > l.bytes/2 || b.ballast != 16*mib || b.metadata < 64*mib || b.metadata > 256*mib {
			t.Errorf("%+v: not the usual sizes: %+v, %+v", l, c.Limits, b)
		}
	}
	c := config.Default(cat)
	c.SetByFlag("storage.duckdb.memory_limit")
	c.SetByFlag("limits.bulk_requests")
	got := newBudget(memoryLimit{512 * mib, "test"}).size(c)
	if got.Storage.DuckDB.MemoryLimit != 256*mib || got.Limits.BulkRequests != 64 || got.Limits.Connections != 1024 {
		t.Errorf("%+v %+v", got.Storage, got.Limits)
	}
}

// TestPressure: work is refused while hardly any memory is left, and taken again when there is some.
func TestPressure(t *testing.T) {
	used, engine := int64(0), memoryCalls{}
	p := newPressure(1000)
	p.used = func() int64 { return used }
	p.engine.Store(new(store.Embedded(&engine)))
	now := time.Now()
	f := func(bytes int64, refused bool) {
		t.Helper()
		used, now = bytes, now.Add(pressureEvery)
		p.measure(now)
		if err := p.check(); (err != nil) != refused || err != nil && belfry.CodeOf(err) != belfry.Overloaded {
			t.Errorf("%d bytes used: %v", bytes, err)
		}
	}
	f(0, false)
	f(899, false)
	f(900, true)
	f(950, true)
	f(870, true)
	f(849, false)
	f(899, false)
	if f(499, false); engine.freed != 2 || engine.ended != 2 { // once above half, once above the limit
		t.Errorf("memory was given back %d times, queries were ended %d times", engine.freed, engine.ended)
	}
}

// memoryCalls counts the calls of an engine that uses memory.
type memoryCalls struct {
	store.Embedded
	freed, ended int
}

func (c *memoryCalls) FreeMemory() { c.freed++ }
func (c *memoryCalls) EndQueries() { c.ended++ }

// TestPressureIsCalm: a service that has much memory left does not look at it all the time.
func TestPressureIsCalm(t *testing.T) {
	p := newPressure(8 << 30)
	used := int64(0)
	p.used = func() int64 { return used }
	f := func(bytes int64, want time.Duration) {
		t.Helper()
		used = bytes
		if got := p.measure(time.Now()); got != want {
			t.Errorf("%d bytes used: looks again after %s", bytes, got)
		}
	}
	f(0, calmEvery)
	f(p.high()-calmFree-1, calmEvery)
	f(p.high()-calmFree, pressureEvery)
	f(0, calmEvery)
}

// TestShortOfMemory: memory that is short for long is a fault, which ends with the shortage.
func TestShortOfMemory(t *testing.T) {
	f := newFaults(slog.New(slog.DiscardHandler), time.Now)
	p, used := newPressure(1000<<20), int64(950<<20)
	p.used, p.lasts = func() int64 { return used }, f.memory
	now := time.Now()
	p.measure(now)
	if p.measure(now.Add(pressureLasts - 1)); f.ready() != nil {
		t.Errorf("before it has lasted: %v", f.ready())
	}
	p.measure(now.Add(pressureLasts))
	if err := f.ready(); belfry.CodeOf(err) != belfry.Overloaded || !strings.Contains(err.Error(), "950 MiB of the 1000 MiB") {
		t.Errorf("when it lasts: %v", err)
	}
	used = 800 << 20
	if p.measure(now.Add(pressureLasts + time.Second)); f.ready() != nil {
		t.Errorf("after it: %v", f.ready())
	}
	used = 950 << 20
	p.measure(now.Add(pressureLasts + 2*time.Second))
	if p.measure(now.Add(2 * pressureLasts)); f.ready() != nil {
		t.Errorf("it is short again, and not for long: %v", f.ready())
	}
}
