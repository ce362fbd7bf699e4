package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/meta"
	"belfry/status"
)

// windowStage is a stage on which many windows of one customer open at once, and another customer beside it.
type windowStage struct {
	*stage
	other   belfry.CustomerID
	opens   belfry.Time
	items   []*meta.Node // that have windows
	records []*belfry.Record
}

// newWindowStage creates resources of a number of objects, each at the end of a chain of views. set tells which items get a window.
func newWindowStage(t *testing.T, resources, views, objects int, set func(*meta.Node) bool) *windowStage {
	t.Helper()
	g, err := newStage(&enginetest.Memory{}, begun)
	if err != nil {
		t.Fatal(err)
	}
	w := &windowStage{stage: g, opens: begun + 60*second}
	limits := g.Cfg().Limits
	g.Cfg().Limits = func() engine.Limits { l := limits(); l.Objects = 1_000_000; return l }
	g.run(func() {
		var other belfry.Customer
		if other, err = enginetest.CreateCustomer(g.Sequencer, "other", "test"); err != nil {
			return
		}
		w.other = other.ID
		err = g.Do(&engine.Command{Customer: g.who.Customer, Alone: true, Decide: func(x *engine.Tx) error {
			view, object := x.Find().ViewClass(engine.GenericView), x.Find().ViewClass("network-ping")
			made := func(n *meta.Node) *meta.Node {
				if set(n) {
					w.setWindow(x, n)
				}
				return n
			}
			for i := range resources {
				in := x.Tenant.Main
				for j := range views {
					in = made(x.Create(belfry.KindView, fmt.Sprintf("v%d-%d", i, j), in, nil, view, "", nil))
				}
				r := made(x.Create(belfry.KindResource, fmt.Sprintf("r%d", i), in, nil, view, "custom", nil))
				for j := range objects {
					o := x.Create(belfry.KindObject, fmt.Sprintf("o%d", j), r, r, object, "", nil)
					x.Input(o, status.Input{Time: x.Now, NoResponse: true})
					made(o)
				}
			}
			return nil
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Cfg().Sinks = append(g.Cfg().Sinks, func(r *belfry.Record) { w.records = append(w.records, r) })
	return w
}

// setWindow gives an item the window.
func (w *windowStage) setWindow(x *engine.Tx, n *meta.Node) {
	w.items = append(w.items, n)
	o := status.Arrange(belfry.OperatorState{}, status.Order{Mode: belfry.UnmanagedKeep, From: w.opens, To: w.opens + 60*second}, x.Now)
	x.SetOperatorState(n, &o, "", operator)
}

// windowBeside gives a view of the other customer the window.
func (w *windowStage) windowBeside(t *testing.T) (n *meta.Node) {
	t.Helper()
	var err error
	w.run(func() {
		err = w.Do(&engine.Command{Customer: w.other, Alone: true, Decide: func(x *engine.Tx) error {
			n = x.Create(belfry.KindView, "beside", x.Tenant.Main, nil, x.Find().ViewClass(engine.GenericView), "", nil)
			w.setWindow(x, n)
			return nil
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// submit queues a short command that does nothing.
func (w *windowStage) submit(t *testing.T, c belfry.CustomerID) *engine.Command {
	t.Helper()
	command := &engine.Command{Customer: c, Rows: 1, Decide: func(*engine.Tx) error { return nil }}
	if err := w.Submit(command); err != nil {
		t.Fatal(err)
	}
	return command
}

func ended(c *engine.Command) bool {
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}

// pass takes all steps until the clock has nothing more to do. A short command of the other customer is always waiting: it must
// not wait for more than one round of the clock, and its window, which opens and closes at the same moments, for two.
func (w *windowStage) pass(t *testing.T, what string, beside *meta.Node) (rounds int) {
	t.Helper()
	mode := beside.State.Mode
	command := w.submit(t, w.other)
	waited := 0
	for n := 0; w.Ticking(w.now); n++ {
		if n > 100_000 {
			t.Fatal("the clock does not come to rest")
		}
		before := len(w.records)
		w.Step()
		if ended(command) {
			command, waited = w.submit(t, w.other), 0
		}
		if len(w.records) == before {
			continue
		}
		if rounds++; rounds == 3 && beside.State.Mode == mode {
			t.Errorf("%s: a window of another customer waits for more than two rounds of the clock", what)
		}
		if waited++; waited > 1 {
			t.Errorf("%s: a short command waits for %d rounds of the clock", what, waited)
		}
		for _, r := range w.records[before:] {
			events := 0
			for _, b := range r.Batches {
				if b.Collection == belfry.Events {
					events += b.Len()
				}
			}
			// A window counts as an item: it writes an event. There are also items inside, and those around.
			most := engine.TickItems/2 + 2*engine.TurnItems + engine.MaxDepth
			if len(r.States) > most || len(r.Docs) > engine.TickItems/2 || events > engine.TickItems+2*engine.TurnItems+engine.MaxDepth {
				t.Errorf("%s: %d states, %d marks and %d events in one round", what, len(r.States), len(r.Docs), events)
			}
		}
		if len(w.records)-before > 1 {
			t.Errorf("%s: %d records in one round", what, len(w.records)-before)
		}
	}
	w.finish()
	return rounds
}

// TestClockTakesTurns: however many windows open or close at one moment, and however much is in or around their items, a round of the
// clock has a bounded effect, and short commands of others come between two of them.
func TestClockTakesTurns(t *testing.T) {
	part := 1
	if testing.Short() {
		part = 5
	}
	ofKind := func(k belfry.Kind) func(*meta.Node) bool { return func(n *meta.Node) bool { return n.Kind == k } }
	for _, f := range []struct {
		what                      string
		resources, views, objects int
		set                       func(*meta.Node) bool
	}{
		{"objects", 55 / part, 0, 100, ofKind(belfry.KindObject)},
		{"objects of one resource", 1, 0, 5500 / part, ofKind(belfry.KindObject)},
		{"objects in nested views", 5500 / part, 20, 1, ofKind(belfry.KindObject)},
		{"resources", 1000 / part, 0, 100, ofKind(belfry.KindResource)},
		{"nested views", 55 / part, 95, 100, ofKind(belfry.KindView)},
		{"everything", 55 / part, 95, 100, func(*meta.Node) bool { return true }},
	} {
		t.Run(f.what, func(t *testing.T) {
			w := newWindowStage(t, f.resources, f.views, f.objects, f.set)
			beside := w.windowBeside(t)
			for _, mode := range []belfry.Mode{belfry.UnmanagedKeep, belfry.Managed} {
				wait, _ := w.Due(w.now)
				w.now += belfry.Time(wait.Microseconds())
				w.records = nil
				rounds := w.pass(t, fmt.Sprintf("to %v", mode), beside)
				t.Logf("%d windows in %d rounds", len(w.items), rounds)
				for _, n := range w.items {
					if n.State.Mode != mode {
						t.Fatalf("%s is %v, want %v", nameOf(n), n.State.Mode, mode)
					}
				}
			}
			if faults := append(w.faults, faultsOf(w.tree.Tenant(w.who.Customer))...); len(faults) > 0 {
				t.Errorf("%.500s", fmt.Sprint(faults))
			}
		})
	}
}

// TestClockBetweenCommands: the clock and long commands take turns, and short commands come after each of them. However many of one
// kind wait, the others have their turns.
func TestClockBetweenCommands(t *testing.T) {
	w := newWindowStage(t, 100, 0, 100, func(n *meta.Node) bool { return n.Kind == belfry.KindObject })
	order := ""
	w.Cfg().Sinks = append(w.Cfg().Sinks, func(*belfry.Record) { order += "c" }) // commands here write nothing
	queued := map[string]int{}
	f := func(waiting, want string) {
		t.Helper()
		order = ""
		for len(order) < len(want) {
			for _, kind := range strings.Split(waiting, "") {
				for ; queued[kind] < 3; queued[kind]++ {
					c := &engine.Command{Customer: w.other, Rows: 1, Decide: func(*engine.Tx) error {
						order += kind
						queued[kind]--
						return nil
					}}
					if kind == "l" {
						c.Customer, c.Alone = w.who.Customer, true
					}
					if err := w.Submit(c); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !w.Step() {
				t.Fatalf("%s wait: nothing runs after %q", waiting, order)
			}
		}
		if order != want {
			t.Errorf("%s wait: the order is %q, want %q", waiting, order, want)
		}
	}
	w.now = w.opens
	f("", "ccc")
	f("s", "ssscssscsssc")
	f("l", "ssslclclc")
	f("sl", "ssslssscssslsssc")
}

// TestClockOfManyCustomers: a round of the clock is of one customer, so that commands do not wait for those of all.
func TestClockOfManyCustomers(t *testing.T) {
	w := newWindowStage(t, 0, 0, 0, nil)
	const customers = 50
	for i := range customers {
		var err error
		w.run(func() {
			var c belfry.Customer
			if c, err = enginetest.CreateCustomer(w.Sequencer, fmt.Sprintf("c%d", i), "test"); err == nil {
				w.other = c.ID
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		w.windowBeside(t)
	}
	w.now, w.records = w.opens, nil
	if rounds := w.pass(t, "opens", w.items[0]); rounds != customers {
		t.Errorf("%d rounds", rounds)
	}
	for _, n := range w.items {
		if n.State.Mode != belfry.UnmanagedKeep {
			t.Errorf("a window of customer %d has not opened", n.Customer)
		}
	}
}
