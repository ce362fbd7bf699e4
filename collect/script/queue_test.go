package script

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
)

// turnsTest grants requests without starting processes. It must be used inside a synctest bubble.
type turnsTest struct {
	t     *testing.T
	s     *Workers
	given chan turnGiven
}

type turnGiven struct {
	turn *workerRequest
	w    *worker
}

func newTurnsTest(t *testing.T, most int) *turnsTest {
	return &turnsTest{t, &Workers{Max: most}, make(chan turnGiven, 1000)}
}

// ask sends a request and does not wait for it.
func (x *turnsTest) ask(turn *workerRequest) {
	go func() {
		if w, err := x.s.acquire(x.t.Context(), turn); err == nil {
			x.given <- turnGiven{turn, w}
		}
	}()
	synctest.Wait()
}

// next returns the request that was granted, if there is one.
func (x *turnsTest) next() (g turnGiven, ok bool) {
	synctest.Wait()
	select {
	case g = <-x.given:
		return g, true
	default:
		return g, false
	}
}

func (x *turnsTest) want(customer belfry.CustomerID) turnGiven {
	x.t.Helper()
	g, ok := x.next()
	if !ok {
		x.t.Fatalf("no turn is given; it is the turn of customer %d", customer)
	}
	if g.turn.customer != customer {
		x.t.Fatalf("customer %d has a turn; it is the turn of %d", g.turn.customer, customer)
	}
	return g
}

func (x *turnsTest) wantNone() {
	x.t.Helper()
	if g, ok := x.next(); ok {
		x.t.Fatalf("customer %d has a turn", g.turn.customer)
	}
}

// offend runs a request of a customer that ends with its process killed.
func (x *turnsTest) offend(customer belfry.CustomerID) (waited time.Duration) {
	begun := time.Now()
	turn := &workerRequest{customer: customer}
	w, err := x.s.acquire(x.t.Context(), turn)
	if err != nil {
		x.t.Fatal(err)
	}
	waited = time.Since(begun)
	x.s.release(w, true, true)
	return waited
}

// A customer with many requests is not served repeatedly while another waits: the one served longest ago is next.
func TestTurnsGoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurnsTest(t, 1)
		const a, b, c = 1, 2, 3
		for range 6 {
			x.ask(&workerRequest{customer: a, alone: true})
		}
		first := x.want(a)
		x.ask(&workerRequest{customer: b})
		x.ask(&workerRequest{customer: c})
		x.s.release(first.w, false, false)
		var order []belfry.CustomerID
		for g, ok := x.next(); ok; g, ok = x.next() {
			order = append(order, g.turn.customer)
			if g.turn.customer != a && len(order) < 6 {
				x.ask(&workerRequest{customer: g.turn.customer})
			}
			x.s.release(g.w, false, false)
		}
		if want := []belfry.CustomerID{b, c, a, b, c, a, b, c, a, a, a}; !slices.Equal(order, want) {
			t.Errorf("turns of %v, want %v", order, want)
		}
	})
}

// After an offence the customer waits, longer each time; others do not. A minute without an offence ends it.
func TestOffencesPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurnsTest(t, 1)
		const a, b = 1, 2
		var waits []time.Duration
		for range 7 {
			waits = append(waits, x.offend(a))
		}
		want := []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second}
		if !slices.Equal(waits, want) {
			t.Errorf("pauses of %v, want %v", waits, want)
		}
		x.ask(&workerRequest{customer: a})
		x.ask(&workerRequest{customer: b})
		x.s.release(x.want(b).w, false, false)
		x.wantNone()
		time.Sleep(10 * time.Second)
		g := x.want(a)
		if !g.turn.strict {
			t.Error("an offender has the same limits as others")
		}
		x.s.release(g.w, false, false)
		time.Sleep(offenceForget)
		if _, offends := x.s.penalty(a); offends {
			t.Error("the offences are not forgotten")
		}
		if waited := x.offend(a); waited != 0 {
			t.Errorf("a pause of %v", waited)
		}
		if waited := x.offend(a); waited != time.Second {
			t.Errorf("a pause of %v after the first offence", waited)
		}
	})
}

// A proven script waits for at most a second after an offence of another one.
func TestProvenScriptsWaitLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurnsTest(t, 1)
		for range 5 {
			x.offend(1)
		}
		x.ask(&workerRequest{customer: 1})
		x.ask(&workerRequest{customer: 1, proven: true})
		x.wantNone()
		time.Sleep(time.Second)
		g := x.want(1)
		if !g.turn.proven {
			t.Error("the wrong turn is given")
		}
		x.wantNone()
		x.s.release(g.w, false, false)
		time.Sleep(9 * time.Second)
		x.s.release(x.want(1).w, false, false)
	})
}

// Customers with offences leave one process to the others, and are still served.
func TestOffendersLeaveAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurnsTest(t, 3)
		for c := range belfry.CustomerID(3) {
			x.offend(c + 1)
		}
		time.Sleep(time.Second)
		for c := range belfry.CustomerID(3) {
			x.ask(&workerRequest{customer: c + 1})
		}
		one, two := x.want(1), x.want(2)
		x.wantNone()
		x.ask(&workerRequest{customer: 9})
		good := x.want(9)
		x.s.release(one.w, false, false)
		x.s.release(x.want(3).w, false, false)
		x.s.release(good.w, false, false)
		x.s.release(two.w, false, false)
	})
}

// Cancelled requests are removed, and so are customers that no longer use scripts.
func TestTurnsForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurnsTest(t, 1)
		x.offend(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := x.s.acquire(ctx, &workerRequest{customer: 1}); err == nil {
			t.Error("a turn in the pause")
		}
		for c := range belfry.CustomerID(10) {
			w, err := x.s.acquire(t.Context(), &workerRequest{customer: c + 2})
			if err != nil {
				t.Fatal(err)
			}
			x.s.release(w, false, false)
		}
		time.Sleep(offenceForget + workerIdle)
		synctest.Wait()
		x.s.mu.Lock()
		defer x.s.mu.Unlock()
		if len(x.s.customers) != 0 || len(x.s.live) != 0 {
			t.Errorf("%d customers and %d processes are left", len(x.s.customers), len(x.s.live))
		}
	})
}

// A customer with offences may have one trial at a time; one more gets 429 with Retry-After.
func TestTrialsOfOffenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurnsTest(t, 1)
		done, err := x.s.BeginTrial(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		waits := make(chan error)
		go func() { // a customer without offences waits
			done, err := x.s.BeginTrial(t.Context(), 1)
			if err == nil {
				done()
			}
			waits <- err
		}()
		synctest.Wait()
		for range 3 {
			x.offend(1)
		}
		_, err = x.s.BeginTrial(t.Context(), 1)
		e, ok := err.(*belfry.Error)
		if !ok || e.Code != belfry.RateLimited || e.Retry != 4 {
			t.Errorf("the second trial: %#v", err)
		}
		if other, err := x.s.BeginTrial(t.Context(), 2); err != nil {
			t.Error(err)
		} else {
			other()
		}
		done()
		if err := <-waits; err != nil {
			t.Error(err)
		}
		if done, err = x.s.BeginTrial(t.Context(), 1); err != nil {
			t.Error(err)
		} else {
			done()
		}
	})
}
