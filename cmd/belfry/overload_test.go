package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Of the sequencer: how many rows share a round, and how many are one turn of a customer in it.
const (
	roundRows = 1 << 16
	turnRows  = 1 << 14
)

// TestFairTurns: while one customer floods, another is always served, and waits behind no more than the round that is
// under way and its own, however much the first has waiting.
func TestFairTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const flooders, bodies, each = 32, 5, 10_000
	p := limited(t, "")
	greedy, modest := p.customer("greedy"), p.customer("modest")
	flood, drop := body(each), body(3)
	var acknowledged, inFlight atomic.Int64
	var done atomic.Bool
	var flooding sync.WaitGroup
	for range flooders {
		flooding.Go(func() {
			for n := 0; n < 50 && !done.Load(); n++ {
				inFlight.Add(1)
				a := p.post("/api/send", greedy, flood)
				inFlight.Add(-1)
				if a.status != 200 && !a.busy() {
					t.Errorf("flood: %s", a)
					return
				}
				acknowledged.Add(int64(a.accepted))
			}
		})
	}
	p.until("the flood is under way", func() bool { return acknowledged.Load() > 0 && inFlight.Load() == flooders })
	var worst, sum int64
	for range bodies {
		before := acknowledged.Load()
		if a := p.post("/api/send", modest, drop); a.status != 200 || a.accepted != 3 {
			t.Errorf("%s", a)
		}
		behind := acknowledged.Load() - before
		worst, sum = max(worst, behind), sum+behind
	}
	flooded := inFlight.Load()
	done.Store(true)
	flooding.Wait()
	t.Logf("flood: %d rows acknowledged, %d bodies under way at the end; a modest body waited behind %d rows, at worst %d",
		acknowledged.Load(), flooded, sum/bodies, worst)
	if flooded == 0 {
		t.Error("the flood was over too early to show anything")
	}
	// What had been decided before may be answered while it waits, a body for every connection, and so may the round that
	// is under way and its own, each a turn longer than its limit at most; and one more, as it takes a moment to get in.
	// TestTurns of engine has the exact order.
	if most := int64(3*(roundRows+turnRows) + flooders*each); worst > most {
		t.Errorf("a modest body waited behind %d rows, at worst %d", sum/bodies, worst)
	}
	if got, want := p.rows(greedy, "objectdata"), int(acknowledged.Load()); got != want {
		t.Errorf("%d rows are stored, %d were acknowledged", got, want)
	}
	p.checkCounters()
	p.stop()
}

// TestStalledBodies: bodies that have stopped in their middle keep nobody out, neither of their own customer nor of others,
// and are stored when they go on.
func TestStalledBodies(t *testing.T) {
	p := limited(t, "limits: {bulk_requests: 4, wait: 500ms}")
	greedy, modest := p.customer("greedy"), p.customer("modest")
	const one = "data,res,cpu,load,res,1\n"
	var held [8]wire
	for i := range held {
		held[i] = p.dial()
		held[i].begin(greedy, len(header)+2*len(one), header+one)
	}
	for range 5 {
		for _, key := range []string{greedy, modest} {
			if a := p.post("/api/send", key, header+one); a.status != 200 || a.accepted != 1 {
				t.Errorf("beside stalled bodies: %s", a)
			}
		}
	}
	for _, w := range held {
		fmt.Fprint(w, one)
		if a := w.answer(); a.status != 200 || a.accepted != 2 {
			t.Errorf("a body that was finished late: %s", a)
		}
	}
	if got := p.rows(greedy, "objectdata"); got != 2*len(held)+5 {
		t.Errorf("%d rows of the greedy one are stored", got)
	}
	if got := p.rows(modest, "objectdata"); got != 5 {
		t.Errorf("%d rows of the modest one are stored", got)
	}
	p.until("all places are free", func() bool { return p.metric("belfry_bulk_requests")+p.metric("belfry_bulk_requests_waiting") == 0 })
	p.checkCounters()
	p.stop()
}

// TestRowRate: over some seconds a customer gets no more rows in than its rate, from however many connections; another
// does not notice.
func TestRowRate(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const rate, each, enough = 1000, 100, 4000
	p := limited(t, fmt.Sprintf("limits: {row_rate: %d}", rate))
	fast, slow := p.customer("fast"), p.customer("slow")
	flood, drop := body(each), body(10)
	var stored, refused atomic.Int64
	start := time.Now()
	parallel(8, func(i int) {
		for stored.Load() < enough && time.Since(start) < hang {
			switch a := p.post("/api/send", fast, flood); {
			case a.status == 200:
				stored.Add(int64(a.accepted))
			case a.status == 429 && a.code == "rate_limited" && a.retry == "1":
				refused.Add(1)
				time.Sleep(5 * time.Millisecond)
			default:
				t.Errorf("%s", a)
				return
			}
		}
	})
	took := time.Since(start)
	if most := rate * (took.Seconds() + 2); float64(stored.Load()) > most || stored.Load() < enough || refused.Load() == 0 {
		t.Errorf("%d rows got in within %s, and %d bodies were refused", stored.Load(), took, refused.Load())
	}
	for range 10 {
		if a := p.post("/api/send", slow, drop); a.status != 200 {
			t.Errorf("another customer: %s", a)
		}
	}
	if a := p.post("/api/send", slow, body(10*rate)); a.status != 200 || a.accepted != 10*rate {
		t.Errorf("a body larger than the rate: %s", a)
	}
	a := p.post("/api/send", slow, drop)
	if wait, err := strconv.Atoi(a.retry); a.status != 429 || err != nil || wait < 2 || wait > 11 {
		t.Errorf("after it: %s, Retry-After %s", a, a.retry)
	}
	if res := p.ask("GET", "/d?resname=res&o=cpu&c=load&v=res&i1=1", "", "X-Api-Key: "+slow); res.StatusCode != 429 || res.code != "rate_limited" {
		t.Errorf("a single row after it: %d %s", res.StatusCode, res.body)
	}
	if got := p.rows(fast, "objectdata"); got != int(stored.Load()) {
		t.Errorf("%d rows are stored", got)
	}
	p.checkCounters()
	p.stop()
}

// What may take memory under load, in MiB: storage.duckdb.memory_limit, half a million rows of 256 bytes that wait, once as
// rows and once as they go to the journal, and for each body a chunk that is being read and one that is being decided. The
// collector lets the heap grow by 60 % (runtime.gc_percent).
const (
	engine    = 256
	backlog   = 2 * 122
	perBody   = 2 * 8
	collector = 160
)

// TestMemory: senders that are faster than the store are slowed down or refused, and what waits stays within bounds.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	p := limited(t, "")
	key := p.customer("greedy")
	before := p.memory("VmHWM")
	f := func(collection, flood string, senders, bodies int) {
		t.Helper()
		var acknowledged, busy atomic.Int64
		parallel(senders, func(int) {
			for range bodies {
				switch a := p.post("/api/send", key, flood); {
				case a.status == 200:
					acknowledged.Add(int64(a.accepted))
				case a.busy():
					busy.Add(1)
				default:
					t.Errorf("%s", a)
					return
				}
			}
		})
		t.Logf("%s: %d rows acknowledged, %d bodies refused; memory %d MiB at most, %d before", collection, acknowledged.Load(), busy.Load(), p.memory("VmHWM"), before)
		if got, want := p.rows(key, collection), int(acknowledged.Load()); got != want {
			t.Errorf("%d rows are stored, %d were acknowledged", got, want)
		}
	}
	f("objectdata", body(10_000), 32, 2)
	f("objectlog", "type,resname,object,log\n"+strings.Repeat("log,res,o00,"+strings.Repeat("lorem ipsum ", 170)+"\n", 1000), 32, 3)
	most := engine + collector*raceFactor*(backlog+32*perBody)/100
	if got := p.memory("VmHWM") - before; got > most {
		t.Errorf("the memory grew by %d MiB, and should stay below %d", got, most)
	}
	p.checkCounters()
	p.stop()
}

// TestManyCustomers: a thousand customers, each with a key of its own, send a row each; all are served.
func TestManyCustomers(t *testing.T) {
	if testing.Short() {
		t.Skip("part of make soak")
	}
	const customers = 1000
	p := limited(t, "")
	var keys [customers]string
	parallel(16, func(w int) {
		for i := w; i < customers; i += 16 {
			keys[i] = p.customer(fmt.Sprintf("customer %d", i))
		}
	})
	if t.Failed() {
		return
	}
	parallel(32, func(w int) {
		for i := w; i < customers; i += 32 {
			if a := p.post("/api/send", keys[i], body(1)); a.status != 200 || a.accepted != 1 {
				t.Errorf("customer %d: %s", i, a)
			}
		}
	})
	for i := 0; i < customers; i += 99 {
		if got := p.rows(keys[i], "objectdata"); got != 1 {
			t.Errorf("customer %d has %d rows", i, got)
		}
	}
	p.checkCounters()
	p.stop()
}
