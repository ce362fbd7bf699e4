package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"belfry"
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/meta"
	"belfry/status"
)

// crowd is a stage on which several requests are under way at once. Each has its turn when the test says so.
type crowd struct {
	*stage
	live atomic.Int32
}

// begin starts a request, and waits until it stands in the queue or has ended.
func (c *crowd) begin(request func()) {
	c.live.Add(1)
	go func() {
		defer c.live.Add(-1)
		request()
	}()
	c.wait()
}

// wait waits until every request stands in the queue or has ended.
func (c *crowd) wait() {
	for {
		live := c.live.Load()
		queued := c.Queued()
		if int(live) == queued && live == c.live.Load() {
			return
		}
		runtime.Gosched()
	}
}

// turn decides one round.
func (c *crowd) turn() (more bool) {
	round := c.Take()
	if len(round) == 0 {
		return false
	}
	c.Round(round)
	c.behindTurn()
	return true
}

// behindTurn lets what windows and moves have left begin.
func (c *crowd) behindTurn() {
	c.wait()
	for _, id := range c.Behind() {
		c.begin(func() {
			for list := c.Claim(id); len(list) > 0; list = c.Claim(id) {
				if c.ReassessAll(id, list) != nil {
					return // killed
				}
			}
		})
	}
}

// kill ends the process with all requests, and begins another one.
func (c *crowd) kill() error {
	c.journal.Refuse = errors.New("killed")
	for c.turn() {
	}
	c.journal.Refuse = nil
	if err := c.start(); err != nil {
		return err
	}
	c.begin(func() { _ = c.Reassess() })
	return nil
}

// pass lets time pass, and what is due happen.
func (c *crowd) pass(by belfry.Time) {
	c.now += by
	for c.Tick() {
	}
	c.behindTurn()
}

// faults lists what is not as it should be when all requests have ended.
func (c *crowd) faults() []string {
	list := faultsOf(c.tree.Tenant(c.who.Customer))
	if left := c.tree.Documents().Reassessments(c.who.Customer); len(left) > 0 {
		list = append(list, fmt.Sprintf("left are %v", left))
	}
	return list
}

// faultsOf lists what is not as it follows from what was set and from what stands in each item.
func faultsOf(e *meta.Tenant) (list []string) {
	add := func(n *meta.Node, format string, args ...any) {
		list = append(list, nameOf(n)+": "+fmt.Sprintf(format, args...))
	}
	e.All(func(n *meta.Node) bool {
		s := &n.State
		if want := engine.SettledMode(n); s.Mode != want {
			add(n, "mode %v, want %v", s.Mode, want)
		}
		shows := s.Evaluated
		if s.Unmanaged() {
			shows = belfry.Unknown
		}
		if s.Status != shows {
			add(n, "shows %v, want %v", s.Status, shows)
		}
		if n.Kind == belfry.KindObject {
			return true
		}
		var counts status.Counts
		n.Children(func(o *meta.Node) bool { counts[o.State.Status]++; return true })
		if own := status.Worst.Of(counts); own != s.Evaluated || counts != status.Counts(n.Counts()) {
			add(n, "holds %v and has counted %v, says %v, want %v", counts, n.Counts(), s.Evaluated, own)
		}
		return true
	})
	return list
}

// TestCustomersInterrupt lets requests meet in the middle of each other's turns, contrary orders among them, and kills the process now and
// then. When all have ended, each item has the mode that was asked for last, and views show what stands in them.
func TestCustomersInterrupt(t *testing.T) {
	count := 2000
	if testing.Short() {
		count = 60
	}
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range count {
		g, err := newStage(&enginetest.Memory{Records: slices.Clip(w.records)}, begun)
		if err != nil {
			t.Fatal(err)
		}
		g.turn, g.driven = 1+seed%3, true
		g.SetTurn(g.turn)
		if faults := (&crowd{stage: g}).play(w, seed); len(faults) > 0 {
			t.Fatalf("seed %d: %v", seed, faults)
		}
	}
}

func (c *crowd) play(w *world, seed int) (faults []string) {
	random := &chance{rand.New(rand.NewPCG(uint64(seed), 14)), w, 0}
	for range 100 {
		switch n := random.IntN(100); {
		case n < 60:
			c.turn()
		case n < 62:
			c.pass(random.span())
		case n < 63:
			if err := c.kill(); err != nil {
				return []string{err.Error()}
			}
		default:
			c.ask(random, random.step())
		}
	}
	for c.turn() {
	}
	if faults = c.faults(); len(faults) > 0 {
		return faults
	}
	before := c.tree
	if err := c.start(); err != nil {
		return []string{err.Error()}
	}
	for _, n := range before.Everything(c.who.Customer) {
		if now := c.tree.Node(n.ID); now == nil || !sameState(&n.State, &now.State) {
			faults = append(faults, nameOf(n)+" is not after a restart what it was")
		}
	}
	return append(faults, c.faults()...)
}

// ask begins a request for what a step says. Whether it is refused does not matter.
func (c *crowd) ask(random *chance, s *step) {
	if random.IntN(2) == 0 {
		random.manage(s)
		s.item = random.item()
	}
	request := func() error { return nil }
	switch s.verb {
	case "manage":
		if s.from, s.to = 0, 0; s.at/second%2 == 1 {
			s.to = c.now - begun + 30*second
		}
		request = func() error { return c.act(s) }
	case "ack", "unack":
		s.to = 0
		request = func() error { return c.act(s) }
	case "place":
		request = func() error { return c.place(s.item, s.in) }
	case "data":
		s.dated, s.from = true, c.now-begun // in a body, for single rows join others
		request = func() error { return c.send(s) }
	case "silent":
		if c.live.Load() == 0 {
			request = func() error { return c.send(s) }
		}
	}
	c.begin(func() { _ = request() })
}

// TestContraryOrders: of two orders the later one wins, also if it comes in the middle of the first. What is created meanwhile
// follows it, too.
func TestContraryOrders(t *testing.T) {
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	for after := range 16 { // turns of the first order
		for _, mode := range []belfry.Mode{belfry.UnmanagedKeep, belfry.Managed} {
			g, err := newStage(&enginetest.Memory{Records: slices.Clip(w.records)}, begun)
			if err != nil {
				t.Fatal(err)
			}
			g.turn, g.driven = 1, true
			g.SetTurn(1)
			c := &crowd{stage: g}
			order := func(m belfry.Mode) {
				c.begin(func() { _ = c.act(&step{verb: "manage", item: belfry.Main, mode: m}) })
			}
			if mode == belfry.UnmanagedKeep {
				order(belfry.UnmanagedKeep)
				for c.turn() {
				}
			}
			order(belfry.UnmanagedKeep - mode) // the other one
			for range after {
				c.turn()
			}
			order(mode)
			c.begin(func() { _ = c.place("web01/cpu9", "web01:shelf") })
			for c.turn() {
			}
			if faults := c.faults(); len(faults) > 0 {
				t.Errorf("after %d turns: %v", after, faults)
			}
			if n := c.item("web01/cpu9"); n == nil || n.State.Mode != mode {
				t.Errorf("after %d turns: what is new: %+v", after, n)
			}
		}
	}
}
