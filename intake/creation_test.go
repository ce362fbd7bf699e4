package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
)

// newObjects is a body of rows for objects that do not exist.
func newObjects(prefix string, count int) string {
	var body strings.Builder
	body.WriteString("type,resname,view,class,object,i1\n")
	for i := range count {
		fmt.Fprintf(&body, "data,web01,web01,class%s%d,object%s%d,1\n", prefix, i, prefix, i)
	}
	return body.String()
}

// twoCustomers makes a bench with another customer. Nobody has been at work lately.
func twoCustomers(t *testing.T) (*bench, belfry.CustomerID) {
	t.Helper()
	b := newBenchOn(t, &enginetest.Memory{})
	b.provision(t, "web01")
	other, err := b.CreateCustomer("other", "test")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(engine.ActiveFor)
	return b, other.ID
}

// besideOthers runs f in a bubble of its own clock, with another customer that is at work all the time.
func besideOthers(t *testing.T, f func(t *testing.T, b *bench, other belfry.CustomerID)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, other := twoCustomers(t)
		var working sync.WaitGroup
		defer working.Wait()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		working.Go(func() {
			for ctx.Err() == nil {
				b.Active(other)
				time.Sleep(engine.ActiveFor / 2)
			}
		})
		synctest.Wait()
		f(t, b, other)
	})
}

// took is how long f takes by the clock of the bubble.
func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// TestCreationBesideOthers: while another customer is at work, a customer creates createRate items per second, however it sends them.
func TestCreationBesideOthers(t *testing.T) {
	const items = 8 * engine.TurnUndecided
	least := time.Duration(items-engine.TurnUndecided) * time.Second / createRate
	besideOthers(t, func(t *testing.T, b *bench, _ belfry.CustomerID) {
		f := func(name string, send func()) {
			t.Helper()
			time.Sleep(time.Second) // nothing is owed
			if got := took(send); got < least || got > 2*least {
				t.Errorf("%s: %d items in %s, want %s", name, items, got, least)
			}
		}
		f("one body", func() { b.send(t, newObjects("a", items), Options{}) })
		f("small bodies", func() {
			for i := range 16 {
				b.send(t, newObjects(fmt.Sprintf("b%d.", i), items/16), Options{})
			}
		})
		f("atomic bodies", func() {
			for i := range 8 {
				b.send(t, newObjects(fmt.Sprintf("c%d.", i), items/8), Options{Atomic: true})
			}
		})
		f("a package", func() {
			names := []string{"name"}
			for i := range items {
				names = append(names, fmt.Sprintf("r%d", i))
			}
			b.bulk(t, false, "custom", strings.Join(names, "\n")+"\n", Options{})
		})
		f("clients at the same time", func() {
			ended := make(chan struct{})
			for i := range 8 {
				go func() {
					b.send(t, newObjects(fmt.Sprintf("d%d.", i), items/8), Options{})
					ended <- struct{}{}
				}()
			}
			for range 8 {
				<-ended
			}
		})
	})
}

// TestNothingCreatedBesideOthers: rows that create nothing are not slowed down, even if only the sequencer can decide them.
func TestNothingCreatedBesideOthers(t *testing.T) {
	besideOthers(t, func(t *testing.T, b *bench, _ belfry.CustomerID) {
		const items = 2048
		views := "name\n"
		for i := range items {
			views += fmt.Sprintf("v%d\n", i)
		}
		b.bulk(t, false, "view", views, Options{})
		known := newObjects("", items)
		b.send(t, known, Options{})
		wrong := strings.ReplaceAll(known, "web01,web01", "nosuch,web01")
		for _, c := range []struct {
			name string
			send func()
		}{
			{"rows of known objects", func() { b.send(t, known, Options{}) }},
			{"refused rows", func() { b.send(t, wrong, Options{}) }},
			{"a package again", func() { b.bulk(t, false, "view", views, Options{}) }},
			{"a dry run", func() { b.send(t, newObjects("dry", 1000), Options{DryRun: true}) }},
			{"refused together", func() { b.send(t, newObjects("atomic", 1000)+"data,nosuch,web01,c,o,1\n", Options{Atomic: true}) }},
			{"a removal", func() { b.bulk(t, true, "view", views, Options{}) }},
		} {
			time.Sleep(time.Second)
			if got := took(c.send); got > 0 {
				t.Errorf("%s: %s", c.name, got)
			}
		}
	})
}

// TestCreationAlone: a customer creates as fast as it can when nobody else has been at work for a second, and from then on in the
// middle of a body.
func TestCreationAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, other := twoCustomers(t)
		if got := took(func() { b.send(t, newObjects("a", 10_000), Options{}) }); got > 0 {
			t.Errorf("alone: %s", got)
		}
		b.Active(other)
		if got := took(func() { b.send(t, newObjects("b", 20_000), Options{}) }); got < engine.ActiveFor || got > 2*engine.ActiveFor {
			t.Errorf("after the other has left: %s", got)
		}
	})
}

// TestCreationGivenUp: the rest of a body is given up when its client goes away.
func TestCreationGivenUp(t *testing.T) {
	besideOthers(t, func(t *testing.T, b *bench, _ belfry.CustomerID) {
		b.Counters().Received.Store(0) // without the resource
		b.Counters().Stored.Store(0)
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		_, _, err := b.Send(ctx, b.Who, strings.NewReader(newObjects("a", 10_000)), Options{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		made := 0
		for _, r := range b.Records {
			for _, batch := range r.Batches {
				if batch.Collection == belfry.ObjectData {
					made += batch.Len()
				}
			}
		}
		n := b.Counters()
		if got := int(n.Stored.Load()); got != made || made == 0 || made > 4*engine.TurnUndecided {
			t.Errorf("%d rows count as stored, %d are", got, made)
		}
		if n.Received.Load() != n.Stored.Load()+n.Lost[lostBroken].Load() {
			t.Errorf("received %d, stored %d, lost %d", n.Received.Load(), n.Stored.Load(), n.Lost[lostBroken].Load())
		}
	})
}

// TestCreationAtTheStop: when the service begins to stop, bodies that wait are told so at once, and how much of them is stored. Others are
// taken as before.
func TestCreationAtTheStop(t *testing.T) {
	const rows = 10_000
	f := func(name string, o Options, until time.Duration, partly bool) {
		t.Helper()
		besideOthers(t, func(t *testing.T, b *bench, _ belfry.CustomerID) {
			b.send(t, newObjects("before", 1000), Options{Atomic: true})
			n := b.Counters()
			stored, lost := n.Stored.Load(), n.Lost[lostOverloaded].Load()
			time.AfterFunc(until, b.Closing)
			var err error
			if got := took(func() { _, _, err = b.Send(t.Context(), b.Who, strings.NewReader(newObjects("a", rows)), o) }); got != until {
				t.Errorf("%s: it took %s", name, got)
			}
			stored, lost = n.Stored.Load()-stored, n.Lost[lostOverloaded].Load()-lost
			if !errors.Is(err, engine.ErrStopping) || belfry.CodeOf(err) != belfry.Overloaded || (stored > 0) != partly || stored+lost > rows {
				t.Errorf("%s: %d rows stored and %d lost: %v", name, stored, lost, err)
			}
			if partly && !strings.Contains(err.Error(), fmt.Sprintf("the first %d rows of this body have been processed: %d stored;", stored, stored)) {
				t.Errorf("%s: %d rows are stored: %v", name, stored, err)
			}
			if _, r := b.send(t, "type,resname,object,i1\ndata,web01,objectbefore1,2\n", Options{}); r.Accepted != 1 {
				t.Errorf("%s: a body that does not wait: %s", name, enginetest.Brief(r))
			}
		})
	}
	const first = 1000 * time.Second / createRate // when the first wait ends
	f("before the first turn", Options{}, first/2, false)
	f("between two turns", Options{}, 2*first-1, true)
	f("atomic", Options{Atomic: true}, first/2, false)
	f("repeatable", Options{Repeat: engine.Repeat{Key: "1"}}, first/2, false)
}

// TestRightsAfterTheWait: a sender that loses its rights while its rows wait stores no more of them.
func TestRightsAfterTheWait(t *testing.T) {
	const (
		rows  = 2000
		first = rows * time.Second / createRate // when the first turn's wait ends, after an atomic body of as many rows
		turn  = engine.TurnUndecided * time.Second / createRate
	)
	f := func(name string, o Options, valid time.Duration, most int64) {
		t.Helper()
		besideOthers(t, func(t *testing.T, b *bench, _ belfry.CustomerID) {
			b.send(t, newObjects("before", rows), Options{Atomic: true})
			n := b.Counters()
			stored, lost := n.Stored.Load(), n.Lost[lostBroken].Load()
			start, revoked := time.Now(), belfry.Errorf(belfry.InvalidKey, "revoked")
			who := b.Who
			who.Wait = func(f func(context.Context) error) error {
				if err := f(t.Context()); err != nil || time.Since(start) < valid {
					return err
				}
				return revoked
			}
			_, _, err := b.Send(t.Context(), who, strings.NewReader(newObjects("a", rows)), o)
			stored, lost = n.Stored.Load()-stored, n.Lost[lostBroken].Load()-lost
			if !errors.Is(err, revoked) || stored+lost != rows || stored > most || most > 0 && stored == 0 {
				t.Errorf("%s: %d rows were stored and %d lost, want at most %d stored: %v", name, stored, lost, most, err)
			}
		})
	}
	f("before the first turn", Options{}, first/2, 0)
	f("between two turns", Options{}, first+turn, 2*engine.TurnUndecided)
	f("atomic", Options{Atomic: true}, first/2, 0)
	f("repeatable", Options{Repeat: engine.Repeat{Key: "1"}}, first/2, 0)
}
