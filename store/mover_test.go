package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// ram is a store with positions in memory that can be made to fail or to block.
type ram struct {
	Store
	mu    sync.Mutex
	pos   []belfry.Position   // in the order in which they came
	calls [][]belfry.Position // of Append
	fail  error
	asked []int // rows at each Select
	gate  chan struct{}
	half  bool // a failing Append stores the first batch anyway
	names bool // names are stored anyway
	deaf  error
}

func (r *ram) Append(_ context.Context, _ func() bool, batches ...*belfry.Batch) ([]*belfry.Batch, error) {
	if r.gate != nil {
		<-r.gate
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var call []belfry.Position
	for i, b := range batches {
		call = append(call, b.Pos)
		if r.fail != nil && (!r.half || i > 0) {
			continue
		}
		if len(r.pos) == 0 || b.Pos > r.pos[len(r.pos)-1] {
			r.pos = append(r.pos, b.Pos)
		}
	}
	r.calls = append(r.calls, call)
	if r.names && !slices.ContainsFunc(batches, func(b *belfry.Batch) bool { return b.Collection != belfry.Dimension }) {
		return nil, nil
	}
	return nil, r.fail
}

func (r *ram) Select(context.Context, *query.Plan) (query.Rows, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, len(r.pos))
	return nil, r.deaf
}

func (r *ram) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = err
}

func (r *ram) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail, r.deaf = nil, nil
}

func record(pos belfry.Position, collection string, rows int) *belfry.Record {
	r := &belfry.Record{Pos: pos}
	if rows > 0 {
		r.Batches = []*belfry.Batch{{Collection: collection, Pos: pos, Times: make([]belfry.Time, rows)}}
	}
	return r
}

// run runs f concurrently with a mover, with a fake clock.
func run(t *testing.T, r *ram, o MoverOptions, f func(ctx context.Context, m *Mover)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := NewMover(r, o)
		var running sync.WaitGroup
		running.Go(func() {
			if err := m.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		f(ctx, m)
		cancel()
		running.Wait()
	})
}

func plan(collection string) *query.Plan {
	return &query.Plan{Collection: &catalog.Collection{Name: collection}}
}

func TestMoverWaits(t *testing.T) {
	r := new(ram)
	run(t, r, MoverOptions{Rows: 10, Delay: time.Second}, func(ctx context.Context, m *Mover) {
		m.Add(record(1, "events", 2))
		m.Add(record(2, "events", 2))
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if len(r.calls) != 0 || m.Position() != 0 {
			t.Errorf("moved early: %v", r.calls)
		}
		if rows, records := m.Backlog(); rows != 4 || records != 2 {
			t.Errorf("backlog of %d rows in %d records", rows, records)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if len(r.calls) != 1 || m.Position() != 2 {
			t.Errorf("after the delay: %v, position %d", r.calls, m.Position())
		}
		m.Add(record(3, "events", 9))
		m.Add(record(4, "events", 1)) // now it is worth it
		synctest.Wait()
		if len(r.calls) != 2 || m.Position() != 4 {
			t.Errorf("after ten rows: %v, position %d", r.calls, m.Position())
		}
		if rows, records := m.Backlog(); rows != 0 || records != 0 {
			t.Errorf("backlog of %d rows in %d records", rows, records)
		}
	})
}

func TestMoverPosition(t *testing.T) {
	r := new(ram)
	run(t, r, MoverOptions{}, func(ctx context.Context, m *Mover) {
		r.gate = make(chan struct{})
		m.Add(record(1, "", 0))
		if m.Position() != 1 {
			t.Errorf("a record without rows waits: %d", m.Position())
		}
		m.Add(record(2, "events", 1))
		m.Add(record(3, "", 0))
		time.Sleep(time.Second)
		synctest.Wait()
		m.Add(record(4, "", 0)) // while rows are on their way
		if m.Position() != 1 {
			t.Errorf("position %d before the rows are stored", m.Position())
		}
		r.gate <- struct{}{}
		time.Sleep(time.Second)
		synctest.Wait()
		if m.Position() != 4 {
			t.Errorf("position %d, want 4", m.Position())
		}
	})
}

func TestMoverSelect(t *testing.T) {
	r := new(ram)
	run(t, r, MoverOptions{Delay: time.Hour}, func(ctx context.Context, m *Mover) {
		m.Add(record(1, "events", 1))
		start := time.Now()
		if _, err := m.Select(ctx, plan("syslog")); err != nil || r.asked[0] != 0 {
			t.Errorf("a query of another collection: %v, %v", err, r.asked)
		}
		if _, err := m.Select(ctx, plan("events")); err != nil || r.asked[1] != 1 {
			t.Errorf("a query of the collection: %v, %v", err, r.asked)
		}
		m.Add(record(2, belfry.Dimension, 1))
		if _, err := m.Select(ctx, plan("syslog")); err != nil || r.asked[2] != 2 {
			t.Errorf("a query after new names: %v, %v", err, r.asked)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("queries waited %v", d)
		}
		other := record(3, "syslog", 1)
		other.Batches[0].Customer = 7
		names := record(4, belfry.Dimension, 1)
		names.Batches[0].Customer = 7
		m.Add(other)
		m.Add(names)
		if _, err := m.Select(ctx, plan("syslog")); err != nil || r.asked[3] != 2 || m.Position() != 2 {
			t.Errorf("a query beside rows of another customer: %v, %v", err, r.asked)
		}
		m.Add(record(5, "syslog", 1)) // no query needs it
		time.Sleep(time.Minute)
		synctest.Wait()
		if m.Position() != 2 {
			t.Errorf("moved although nobody asked")
		}
	})
}

// TestMoverFailure has a store that cannot write: no query is answered without rows that were added before it, those with
// all rows are answered, and afterwards everything is stored once.
func TestMoverFailure(t *testing.T) {
	broken := errors.New("disk full")
	r := &ram{fail: broken, half: true}
	var told []int
	o := MoverOptions{Delay: time.Second, Reason: func(err error) string { return "no room: " + err.Error() }, Failed: func(err error, times int) {
		if times > 0 != errors.Is(err, broken) {
			t.Error(err, times)
		}
		told = append(told, times)
	}}
	run(t, r, o, func(ctx context.Context, m *Mover) {
		for pos := belfry.Position(1); pos <= 3; pos++ {
			m.Add(record(pos, "events", 1))
		}
		time.Sleep(2 * time.Second)
		m.Add(record(4, "events", 1))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if len(told) < 5 || len(told) > 20 || told[4] != 5 || m.Position() != 0 {
			t.Errorf("attempts in 20 s: %v, position %d", told, m.Position())
		}
		before := time.Now()
		_, err := m.Select(ctx, plan("events"))
		if belfry.CodeOf(err) != belfry.StorageUnavailable || !strings.Contains(err.Error(), "rows of events") ||
			!strings.Contains(err.Error(), "no room: disk full (since 2000-01-01T00:00:01") || time.Since(before) != 0 {
			t.Errorf("a query that would miss rows: %v after %v", err, time.Since(before))
		}
		if _, err := m.Select(ctx, plan("syslog")); err != nil || time.Since(before) != 0 || len(r.asked) != 1 {
			t.Errorf("a query that misses nothing: %v after %v", err, time.Since(before))
		}
		r.deaf = errors.New("too many open files")
		if _, err := m.Select(ctx, plan("syslog")); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("a query that the store cannot answer either: %v", err)
		}
		r.deaf = nil
		r.set(nil)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if !slices.Equal(r.pos, []belfry.Position{1, 2, 3, 4}) || m.Position() != 4 || told[len(told)-1] != 0 {
			t.Errorf("stored %v, position %d, told %v", r.pos, m.Position(), told)
		}
		if _, err := m.Select(ctx, plan("events")); err != nil || r.asked[len(r.asked)-1] != 4 {
			t.Errorf("the query afterwards: %v, %v", err, r.asked)
		}
	})
}

// TestMoverFailureWaits: a query that starts when the store has just begun to fail waits until that is certain.
func TestMoverFailureWaits(t *testing.T) {
	r := &ram{fail: errors.New("disk full")}
	run(t, r, MoverOptions{}, func(ctx context.Context, m *Mover) {
		m.Add(record(1, "events", 1))
		before := time.Now()
		if _, err := m.Select(ctx, plan("events")); belfry.CodeOf(err) != belfry.StorageUnavailable || len(r.asked) > 0 {
			t.Errorf("%v, asked %v", err, r.asked)
		}
		if d := time.Since(before); d != 1500*time.Millisecond {
			t.Errorf("it took %v", d)
		}
		r.set(nil)
	})
}

// TestMoverFailureNames: names do not need the disk, so new ones do not block queries.
func TestMoverFailureNames(t *testing.T) {
	r := &ram{fail: errors.New("disk full"), names: true}
	run(t, r, MoverOptions{}, func(ctx context.Context, m *Mover) {
		m.Add(&belfry.Record{Pos: 1, Batches: append(record(1, belfry.Dimension, 1).Batches, record(1, "events", 1).Batches...)})
		for range 2 {
			before := time.Now()
			if _, err := m.Select(ctx, plan("syslog")); err != nil || time.Since(before) > time.Second {
				t.Errorf("only names are missing: %v after %v", err, time.Since(before))
			}
			time.Sleep(10 * time.Second)
			m.Add(record(m.added+1, belfry.Dimension, 1))
		}
		if _, err := m.Select(ctx, plan("events")); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("rows are missing: %v", err)
		}
		r.mu.Lock()
		r.names = false
		r.mu.Unlock()
		m.Add(record(m.added+1, belfry.Dimension, 1))
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if _, err := m.Select(short, plan("syslog")); belfry.CodeOf(err) != belfry.StorageUnavailable || short.Err() != nil {
			t.Errorf("names cannot be stored either: %v", err)
		}
		r.set(nil)
	})
}

// TestMoverFailureRoom: senders do not wait for a store that fails, and the error is not Overloaded.
func TestMoverFailureRoom(t *testing.T) {
	r := &ram{fail: errors.New("disk full")}
	run(t, r, MoverOptions{Rows: 1, MaxBacklog: 10}, func(ctx context.Context, m *Mover) {
		m.Add(record(1, "events", 8))
		if err := m.Room(ctx, 0, 2); err != nil {
			t.Errorf("there is room for two: %v", err)
		}
		before := time.Now()
		if err := m.Room(ctx, 0, 3); belfry.CodeOf(err) != belfry.StorageUnavailable || time.Since(before) != 1500*time.Millisecond-maxPause*3/5 {
			t.Errorf("no room while it becomes certain: %v after %v", err, time.Since(before))
		}
		before = time.Now()
		if err := m.Room(ctx, 0, 3); belfry.CodeOf(err) != belfry.StorageUnavailable || time.Since(before) != 0 {
			t.Errorf("no room: %v after %v", err, time.Since(before))
		}
		r.set(nil)
	})
}

// TestMoverSelectDuringTrouble waits for a store that fails once or twice, as when a query takes all memory.
func TestMoverSelectDuringTrouble(t *testing.T) {
	r := &ram{fail: errors.New("out of memory")}
	run(t, r, MoverOptions{}, func(ctx context.Context, m *Mover) {
		m.Add(record(1, "events", 1))
		go func() {
			time.Sleep(50 * time.Millisecond)
			r.set(nil)
		}()
		if _, err := m.Select(ctx, plan("events")); err != nil || r.asked[0] != 1 {
			t.Errorf("the query was not answered in full: %v, %v", err, r.asked)
		}
		r.set(errors.New("out of memory"))
		m.Add(record(2, "events", 1))
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := m.Select(short, plan("events")); belfry.CodeOf(err) != belfry.StorageUnavailable {
			t.Errorf("a query that may not wait: %v", err)
		}
		r.set(nil)
	})
}

// TestMoverSelectBesideFailure: a write makes the engine fail, and a query sees that before the write has failed. The query
// does not return an internal error, but waits for the result of the write, even if the store works again by then.
func TestMoverSelectBesideFailure(t *testing.T) {
	trouble := errors.New("the engine is down")
	f := func(name string, fail error, heals bool, want belfry.Code) {
		r := &ram{fail: fail, deaf: trouble}
		run(t, r, MoverOptions{}, func(ctx context.Context, m *Mover) {
			r.gate = make(chan struct{})
			m.Add(record(1, "events", 1))
			time.Sleep(time.Minute) // it is being stored, where it blocks
			asked := make(chan error)
			go func() {
				_, err := m.Select(ctx, plan("syslog"))
				asked <- err
			}()
			synctest.Wait()
			select {
			case err := <-asked:
				t.Errorf("%s: answered before the attempt has ended: %v", name, err)
				return
			default:
			}
			if heals { // before the query returns
				m.opt.Failed = func(error, int) { r.heal() }
			}
			close(r.gate) // the attempt fails
			if err := <-asked; belfry.CodeOf(err) != want {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			r.heal()
		})
	}
	f("it goes on failing", trouble, false, belfry.StorageUnavailable)
	f("it works again", trouble, true, belfry.StorageUnavailable)
	f("it did not fail", nil, false, belfry.Internal)
}

func TestMoverRoom(t *testing.T) {
	r := new(ram)
	run(t, r, MoverOptions{Rows: 1, MaxBacklog: 10}, func(ctx context.Context, m *Mover) {
		r.gate = make(chan struct{})
		if err := m.Room(ctx, 0, 1000); err != nil {
			t.Errorf("nothing waits, so anything goes: %v", err)
		}
		m.Add(record(1, "events", 8))
		if err := m.Room(ctx, 0, 2); err != nil {
			t.Errorf("there is room for two: %v", err)
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := m.Room(short, 0, 3); belfry.CodeOf(err) != belfry.Overloaded {
			t.Errorf("no room for three: %v", err)
		}
		got := make(chan error)
		go func() { got <- m.Room(ctx, 0, 3) }()
		synctest.Wait()
		r.gate <- struct{}{}
		if err := <-got; err != nil {
			t.Errorf("room again: %v", err)
		}
	})
}

// When the service stops, requests that wait for room get it, up to a limit, although nothing is moved.
func TestMoverClosing(t *testing.T) {
	r := new(ram)
	run(t, r, MoverOptions{Rows: 1, MaxBacklog: 10}, func(ctx context.Context, m *Mover) {
		r.gate = make(chan struct{})
		m.Add(record(1, "events", 8))
		got := make(chan error)
		go func() { got <- m.Room(ctx, 0, 8) }()
		synctest.Wait()
		m.Closing()
		if err := <-got; err != nil {
			t.Errorf("there is no room: %v", err)
		}
		m.Add(record(2, "events", 8))
		begun := time.Now()
		if err := m.Room(ctx, 0, 4); err != nil || time.Since(begun) > 0 {
			t.Errorf("held up for %s: %v", time.Since(begun), err)
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := m.Room(short, 0, 5); belfry.CodeOf(err) != belfry.Overloaded {
			t.Errorf("there is no end to it: %v", err)
		}
		close(r.gate)
	})
}

func TestMoverDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &ram{fail: errors.New("disk full")}
		m := NewMover(r, MoverOptions{Rows: 5})
		ctx, cancel := context.WithCancel(t.Context())
		for pos := belfry.Position(1); pos <= 100; pos++ {
			m.Add(record(pos, "events", 1))
		}
		var running sync.WaitGroup
		running.Go(func() { _ = m.Run(ctx) })
		time.Sleep(time.Minute)
		cancel()
		running.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.Drain(short); err == nil || m.Position() != 0 {
			t.Errorf("drained into a store that takes nothing: %v", err)
		}
		r.set(nil)
		if err := m.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if rows, records := m.Backlog(); rows != 0 || records != 0 || m.Position() != 100 {
			t.Errorf("%d rows in %d records left, position %d", rows, records, m.Position())
		}
		for i, pos := range r.pos {
			if pos != belfry.Position(i+1) {
				t.Fatalf("stored out of order: %v", r.pos)
			}
		}
	})
}

// TestMoverMany adds from one goroutine while others query and wait for room.
func TestMoverMany(t *testing.T) {
	r := new(ram)
	m := NewMover(r, MoverOptions{Rows: 50, MaxBacklog: 500})
	ctx, cancel := context.WithCancel(t.Context())
	var running, asking sync.WaitGroup
	running.Go(func() { _ = m.Run(ctx) })
	for range 4 {
		asking.Go(func() {
			for range 200 {
				if _, err := m.Select(ctx, plan("events")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for pos := belfry.Position(1); pos <= 5000; pos++ {
		if err := m.Room(ctx, 0, 3); err != nil {
			t.Fatal(err)
		}
		m.Add(record(pos, "events", int(pos%4)))
	}
	asking.Wait()
	cancel()
	running.Wait()
	if err := m.Drain(t.Context()); err != nil || m.Position() != 5000 {
		t.Errorf("%v, position %d", err, m.Position())
	}
	if len(r.pos) != 3750 {
		t.Errorf("%d records with rows stored, want 3750", len(r.pos))
	}
}

// TestMoverWeighs: rows are counted by their size when they are large, and the store never gets too many bytes at once.
func TestMoverWeighs(t *testing.T) {
	r := new(ram)
	m := NewMover(r, MoverOptions{Rows: 50_000})
	large := func(pos belfry.Position) *belfry.Record {
		rec := record(pos, "objectlog", 4)
		b := rec.Batches[0]
		b.Columns = append(b.Columns, belfry.Column{Name: "log", Texts: slices.Repeat([]string{strings.Repeat("x", 1<<20)}, 4)})
		return rec
	}
	if !m.HasRoom(0, 1000) {
		t.Error("no room at the start")
	}
	full, n := 0, belfry.Position(0)
	for n = 1; m.HasRoom(0, 1000); n++ {
		m.Add(large(n))
		full += 4 << 20
	}
	if most := 500_000 * normalRow / 2 / longWeight; full < most-8<<20 || full > most+8<<20 {
		t.Errorf("full with %d bytes, want about %d", full, most)
	}
	if rows, _ := m.Backlog(); rows != int(n-1)*4 {
		t.Errorf("%d rows wait", rows)
	}
	if part, _, _ := m.dequeue(); len(part) != 3 { // a fourth would make more than 16 MiB
		t.Errorf("%d records at once", len(part))
	}
}

// TestMoverClockPutRight has times of a clock that was beyond the year 2157 and was corrected: nothing waits until that time.
func TestMoverClockPutRight(t *testing.T) {
	m := NewMover(newShelves(), MoverOptions{})
	m.Add(&belfry.Record{Pos: 1, Batches: []*belfry.Batch{{Collection: "objectdata", Customer: 1, Pos: 1, Times: []belfry.Time{1}}}})
	far := time.Now().Round(0).AddDate(150, 0, 0)
	m.oldest = far
	if due, _ := m.due(); !due {
		t.Error("rows wait for the clock")
	}
	m.oldest, m.ended, m.took, m.wanted = time.Now(), far, time.Second, 1
	if due, _ := m.due(); !due {
		t.Error("a query waits for the clock")
	}
	if h := (&deferred{since: far}); h.remaining() > 0 {
		t.Error("rows that are held wait for the clock")
	}
}

// TestMoverRests: after a round, a query starts the next one after a quarter of its duration, before Delay has passed.
func TestMoverRests(t *testing.T) {
	for _, c := range []struct{ round, rest time.Duration }{
		{0, 0},
		{8 * time.Millisecond, 2 * time.Millisecond},
		{100 * time.Millisecond, 25 * time.Millisecond},
		{10 * time.Second, maxQueryDelay},
	} {
		s := newShelves()
		s.fail = func() bool { time.Sleep(c.round); return false }
		move(t, s, 0, func(ctx context.Context, m *Mover) {
			m.Add(mixed(1, 1000, 0, 0))
			time.Sleep(c.round)
			synctest.Wait()
			m.Add(mixed(2, 1, 0, 0))
			start := time.Now()
			if _, err := m.Select(ctx, plan("objectdata")); err != nil {
				t.Error(err)
			}
			if got, want := time.Since(start), c.rest+c.round; got != want {
				t.Errorf("after a round of %s a query waits for %s, want %s", c.round, got, want)
			}
		})
	}
}

// Customers that send no more, or are removed, take no memory; a query still waits for rows that are not moved.
func TestMoverForgets(t *testing.T) {
	r := &ram{}
	run(t, r, MoverOptions{Rows: 1, Delay: time.Second}, func(ctx context.Context, m *Mover) {
		pos := belfry.Position(0)
		add := func(c belfry.CustomerID) {
			pos++
			rec := record(pos, "objectdata", 1)
			rec.Batches[0].Customer = c
			m.Add(rec)
		}
		for c := belfry.CustomerID(2); c < 10*firstScan; c++ {
			add(c)
			if c%100 == 0 {
				synctest.Wait()
			}
		}
		if n := len(m.last); n > 2*firstScan {
			t.Errorf("%d sets of rows are remembered", n)
		}
		synctest.Wait()
		r.set(errors.New("no space"))
		add(1)
		first := pos
		for c := belfry.CustomerID(2); c < 10*firstScan; c++ {
			add(c)
		}
		if got := m.last[rowSet{1, "objectdata"}]; got != first {
			t.Errorf("rows at %d that are not moved are remembered at %d", first, got)
		}
		r.heal()
	})
}
