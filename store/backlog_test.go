package store

import (
	"context"
	"testing"
	"time"

	"belfry"
)

func recordOf(c belfry.CustomerID, pos belfry.Position, rows int) *belfry.Record {
	r := record(pos, "events", rows)
	r.Batches[0].Customer = c
	return r
}

// TestMoverSharesRoom: a customer that fills the backlog is rejected, and others are neither rejected nor delayed until their
// own backlog is large.
func TestMoverSharesRoom(t *testing.T) {
	const a, b, c, d = 1, 2, 3, 4
	r := new(ram)
	run(t, r, MoverOptions{Rows: 1, MaxBacklog: 800}, func(ctx context.Context, m *Mover) {
		r.gate = make(chan struct{})
		pos := belfry.Position(0)
		add := func(who belfry.CustomerID, rows int) {
			pos++
			m.Add(recordOf(who, pos, rows))
		}
		refused := func(who belfry.CustomerID, rows int) {
			t.Helper()
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if err := m.Room(ended, who, rows); belfry.CodeOf(err) != belfry.Overloaded {
				t.Errorf("%d rows of customer %d: %v", rows, who, err)
			}
			if m.HasRoom(who, rows) {
				t.Errorf("it is said that there is room for %d rows of customer %d", rows, who)
			}
		}
		taken := func(who belfry.CustomerID, rows int) {
			t.Helper()
			begun := time.Now()
			if err := m.Room(ctx, who, rows); err != nil || time.Since(begun) > 0 {
				t.Errorf("%d rows of customer %d wait for %s: %v", rows, who, time.Since(begun), err)
			}
			if !m.HasRoom(who, rows) {
				t.Errorf("it is said that there is no room for %d rows of customer %d", rows, who)
			}
			add(who, rows)
		}
		add(a, 500)
		taken(b, 10) // a customer with a small backlog is not delayed either
		add(a, 290)
		refused(a, 1)
		taken(b, 40)
		taken(b, 50)
		refused(b, 1) // now its backlog is large, too
		taken(c, 100)
		refused(c, 1)
		taken(d, 10)
		refused(d, 1) // all that is reserved is used
		close(r.gate)
		if err := m.Room(ctx, a, 800); err != nil {
			t.Errorf("when all is stored: %v", err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.load != 0 || len(m.loads) != 0 {
			t.Errorf("nothing waits, and %d, %v is counted", m.load, m.loads)
		}
	})
}

// TestRoomIsLeftForOthers: the load of a body is known only once it has been added, and several bodies of a customer may be
// admitted at the same time. However large they are, the reserved part stays free for others.
func TestRoomIsLeftForOthers(t *testing.T) {
	const a, b, c, d = 1, 2, 3, 4
	const limit, little = 400_000, 50_000
	m := NewMover(new(ram), MoverOptions{MaxBacklog: limit})
	pos := belfry.Position(0)
	add := func(who belfry.CustomerID, rows, days int) {
		pos++
		r := recordOf(who, pos, rows)
		for i := range r.Batches[0].Times {
			r.Batches[0].Times[i] = belfry.Time(i%days) * 86_400_000_000
		}
		m.Add(r)
	}
	check := func(who belfry.CustomerID, rows int, roomy bool) {
		t.Helper()
		if m.HasRoom(who, rows) != roomy {
			t.Errorf("room for %d rows of customer %d: want %t, loads %v", rows, who, roomy, m.loads)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m.Room(ctx, who, rows); (err == nil) != roomy {
			t.Errorf("%d rows of customer %d: %v", rows, who, err)
		}
	}
	for range 4 { // were admitted together, as there was room for 3,900 rows
		add(a, 3900, 390)
	}
	check(a, 1, false)
	check(b, 1, true)
	check(b, little, true)
	check(b, little+1, false)

	add(b, little, 1)
	check(b, 1, false)
	check(c, little, true)
	for range 4 { // another one with a small backlog
		add(c, 3900, 390)
	}
	check(c, 1, false)
	check(d, little, true)
	add(d, little, 1)
	check(5, 1, false) // b and d have all that is reserved

	for {
		part, _, later := m.dequeue()
		if len(part) == 0 {
			break
		}
		m.countMoved(part, nil, later)
	}
	if m.load != 0 || m.smallLoad != 0 || len(m.loads) != 0 {
		t.Errorf("nothing waits, and %d, %d, %v is counted", m.load, m.smallLoad, m.loads)
	}
}

// TestQueriesOfOthers: after a query had to wait for rows of another customer, that customer's backlog is limited for some
// time, so that the next query waits less. Its own queries change nothing.
func TestQueriesOfOthers(t *testing.T) {
	const a, b = 1, 2
	r := new(ram)
	run(t, r, MoverOptions{Rows: 1, MaxBacklog: 1600}, func(ctx context.Context, m *Mover) {
		r.gate = make(chan struct{})
		m.Add(recordOf(a, 1, 200))
		m.Add(recordOf(b, 2, 1))
		full := func(who belfry.CustomerID, rows int) bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.full(who, rows)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := m.catchUp(ended, a, "events"); err == nil {
			t.Fatal("a query did not wait")
		}
		if full(a, 1) {
			t.Error("a query of its own keeps a customer out")
		}
		if err := m.catchUp(ended, b, "events"); err == nil {
			t.Fatal("a query did not wait")
		}
		if !full(a, 1) || m.HasRoom(a, 1) {
			t.Error("there is room for rows although a query of another customer waits for those before them")
		}
		if full(b, 10) {
			t.Error("who has little waiting is kept out, too")
		}
		time.Sleep(queryShareFor + 1)
		if full(a, 1) {
			t.Error("nobody has asked for long, and there is no room")
		}
		close(r.gate)
		if err := m.Room(ctx, a, 800); err != nil {
			t.Errorf("when all is stored: %v", err)
		}
	})
}
