package intake

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
)

// heldBench is a sequencer with limits for bodies that are applied as a whole.
func heldBench(t *testing.T, rows int, memory int64) *bench {
	b := newBench(t)
	limits := b.Config.Limits
	b.Config.Limits = func() engine.Limits {
		l := limits()
		l.HeldRows, l.HeldMemory = rows, memory
		return l
	}
	b.provision(t, "r")
	b.send(t, "type,resname,object,class,view,i1\ndata,r,o,C,r,1\n", Options{})
	return b
}

// A body that is applied as a whole is limited in rows, where rows that may create something count more, and a body that
// is not has no such limit.
func TestHeldRows(t *testing.T) {
	b := heldBench(t, 1000, 256<<20)
	f := func(o Options, head, row string, rows int, want belfry.Code) {
		t.Helper()
		var body strings.Builder
		body.WriteString(head)
		for i := range rows {
			fmt.Fprintf(&body, row, i)
		}
		if _, _, err := b.Send(t.Context(), b.Who, strings.NewReader(body.String()), o); err == nil && want != "" || err != nil && belfry.CodeOf(err) != want {
			t.Errorf("%d rows of %q: got %v, want %q", rows, row, err, want)
		}
	}
	const known, create = "type,resname,object,i1\n", "type,resname,object,class,view,i1\n"
	f(Options{Atomic: true}, known, "data,r,o,%d\n", 1000, "")
	f(Options{Atomic: true}, known, "data,r,o,%d\n", 1001, belfry.BodyTooLarge)
	f(Options{DryRun: true}, known, "data,r,o,%d\n", 100_000, belfry.BodyTooLarge)
	f(Options{Repeat: engine.Repeat{Key: "k"}}, known, "data,r,o,%d\n", 1001, belfry.BodyTooLarge)
	f(Options{}, known, "data,r,o,%d\n", 20_000, "")
	f(Options{Atomic: true}, create, "data,r,o%d,C,r,1\n", 101, belfry.BodyTooLarge)
	f(Options{Atomic: true}, create, "data,r,o%d,C,r,1\n", 100, "")
}

// A body that is applied as a whole is limited in the memory of its decoded rows, however small its text is: the header
// names a hundred columns of which the rows use one.
func TestHeldMemory(t *testing.T) {
	b := heldBench(t, 1_000_000, 8<<20)
	var names []string
	for n := range 100 {
		names = append(names, belfry.IndicatorColumn(n+1))
	}
	body := "type,resname,object," + strings.Join(names, ",") + "\n" + strings.Repeat("data,r,o,1\n", 20_000)
	_, _, err := b.Send(t.Context(), b.Who, strings.NewReader(body), Options{Atomic: true})
	if belfry.CodeOf(err) != belfry.BodyTooLarge || !strings.Contains(err.Error(), "memory_held") {
		t.Errorf("got %v", err)
	}
	if b.held.used != 0 || len(b.held.by) != 0 {
		t.Errorf("%d bytes are still booked", b.held.used)
	}
}

// All held bodies share one memory; one customer has no more than half of it, so another still gets some.
func TestHeldMemoryIsShared(t *testing.T) {
	var m HeldMemory
	f := func(c belfry.CustomerID, bytes int64, want bool) {
		t.Helper()
		if got := m.grow(c, bytes, 6400); got != want {
			t.Errorf("customer %d, %d bytes: %v", c, bytes, got)
		}
	}
	f(1, 2500, true)
	f(1, 701, false)
	f(1, 700, true)
	f(2, 3200, true)
	f(3, 101, false)
	for c := belfry.CustomerID(4); c < 20; c++ { // a quarter more, for small bodies
		f(c, 100, true)
	}
	f(20, 100, false)
	for c := belfry.CustomerID(4); c < 20; c++ {
		m.release(c, 100)
	}
	m.release(1, 3200)
	f(3, 3200, true)
	m.release(2, 3200)
	m.release(3, 3200)
	if m.used != 0 || len(m.by) != 0 {
		t.Errorf("%d bytes are left, %v", m.used, m.by)
	}
}

// A body that creates much is cut into small records, so that others get their turns in between, and the weight of a
// round counts what rows cost.
func TestCreatingRowsAreCut(t *testing.T) {
	b := newBench(t)
	b.provision(t, "web01")
	before := len(b.Records)
	if code, r := b.send(t, newClasses(5000), Options{}); code != 200 || r.Created.Objects != 5000 {
		t.Fatalf("%d %+v", code, r)
	}
	records := b.Records[before:]
	for _, r := range records {
		if len(r.Docs) > engine.TurnUndecided || len(r.Items) > engine.TurnUndecided {
			t.Errorf("a record makes %d classes and %d items; at most %d may be decided at a time", len(r.Docs), len(r.Items), engine.TurnUndecided)
		}
	}
	if got := b.Tree.Tenant(1).Class("class 4999"); got == nil || !got.Def.Inferred || len(got.Def.Indicators) != 2 {
		t.Errorf("the last class is %+v", got)
	}
}

// TestCreatingRowsHaveRounds: a chunk of rows that create fills a round, and a row of somebody else goes before the next one.
func TestCreatingRowsHaveRounds(t *testing.T) {
	j := &enginetest.Memory{}
	b := newBenchOn(t, j)
	other, err := b.CreateCustomer("other", "test")
	if err != nil {
		t.Fatal(err)
	}
	begun, hold := make(chan bool), make(chan bool)
	first := &engine.Command{Customer: b.Who.Customer, Alone: true, Decide: func(*engine.Tx) error {
		begun <- true
		<-hold
		return nil
	}}
	if err := b.Submit(first); err != nil {
		t.Fatal(err)
	}
	<-begun
	j.Rounds = nil
	var decided []belfry.CustomerID
	var commands []*engine.Command
	submit := func(c belfry.CustomerID, rows int) {
		t.Helper()
		next := &engine.Command{Customer: c, Rows: rows, Decide: func(t *engine.Tx) error {
			decided = append(decided, c)
			t.Event("test", "test", "decided", "")
			return nil
		}}
		if err := b.Submit(next); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, next)
	}
	for range 10 {
		submit(b.Who.Customer, (&chunk{rows: chunkUndecided, undecided: undecidedRows{rows: make([]undecidedRow, chunkUndecided)}}).cost())
	}
	submit(other.ID, 1)
	close(hold)
	for _, c := range commands {
		if <-c.Done; c.Err != nil {
			t.Error(c.Err)
		}
	}
	for _, n := range j.Rounds {
		if n > 1 {
			t.Errorf("%d chunks of rows that create share a round", n)
		}
	}
	if len(decided) != 11 || len(j.Rounds) != 11 || decided[0] != other.ID {
		t.Errorf("a row waits for another chunk of rows that create: %v", decided)
	}
}
