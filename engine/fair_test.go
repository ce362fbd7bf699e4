package engine_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"belfry"
	"belfry/engine"
)

// asleep makes a sequencer that decides nothing, so that everything waits.
func asleep() *engine.Sequencer {
	return engine.New(engine.Config{Ready: func() error { return nil }, Limits: func() engine.Limits { return engine.Limits{Indicators: belfry.MaxIndicators} }})
}

// As many rows a body gives to the sequencer at a time, and as much those count that create something, see package intake.
const (
	bodyRows = 16_384
	openBody = 50 * 2048
)

// TestTurns: whoever comes while another has much waiting is in the next round, behind one turn of the other.
func TestTurns(t *testing.T) {
	s := asleep()
	submit := func(c belfry.CustomerID, n, rows int) {
		t.Helper()
		for range n {
			if err := s.Submit(&engine.Command{Customer: c, Rows: rows}); err != nil {
				t.Fatal(err)
			}
		}
	}
	behind := func(c belfry.CustomerID) (rows int) {
		t.Helper()
		all := 0
		round := s.Take()
		for _, o := range round {
			if all += o.Rows; all > engine.RoundRows+bodyRows {
				t.Errorf("a round of %d rows", all)
			}
		}
		for _, o := range round {
			if o.Customer == c {
				return rows
			}
			rows += o.Rows
		}
		t.Errorf("customer %d is not in a round of %d", c, len(round))
		return rows
	}
	submit(1, 64, bodyRows)
	submit(2, 1, 3)
	if got := behind(2); got != bodyRows {
		t.Errorf("behind %d rows", got)
	}
	submit(2, 5, 3) // its own backlog does not count either
	submit(3, 1, 1)
	if got := behind(3); got != bodyRows+3 {
		t.Errorf("behind %d rows", got)
	}
	for c := range belfry.CustomerID(100) {
		submit(10+c, 1, 1)
	}
	if got := behind(109); got > 2*bodyRows+100 {
		t.Errorf("behind %d rows", got)
	}
}

// TestTurnsBetweenLongCommands: after a command that takes long, commands of others go before the next such command, whoever
// sent that one and however many wait; and short commands that keep coming do not hold up the long ones.
func TestTurnsBetweenLongCommands(t *testing.T) {
	for name, long := range map[string]engine.Command{
		"alone":      {Alone: true, Rows: 99_000},
		"long":       {Rows: engine.RoundRows + 1},
		"open chunk": {Rows: openBody},
	} {
		t.Run(name, func(t *testing.T) {
			s := asleep()
			submit := func(c engine.Command, customer belfry.CustomerID) {
				t.Helper()
				c.Customer = customer
				if err := s.Submit(&c); err != nil {
					t.Fatal(err)
				}
			}
			want := func(customers ...belfry.CustomerID) {
				t.Helper()
				var got []belfry.CustomerID
				for _, c := range s.Take() {
					got = append(got, c.Customer)
				}
				if !slices.Equal(got, customers) {
					t.Errorf("a round of customers %d, want %d", got, customers)
				}
			}
			short := engine.Command{Rows: 1}
			for range 4 {
				submit(long, 1)
			}
			submit(long, 2)
			submit(long, 2)
			want(1)
			submit(short, 3) // comes while the first is decided
			submit(short, 4)
			want(3, 4)
			want(2)
			submit(short, 3)
			submit(short, 4)
			submit(short, 3)
			want(3, 4, 3)
			submit(short, 3)
			want(1) // which would wait for ever otherwise
			want(3)
			want(2)
			want(1)
			want(1)
			want()
		})
	}
}

// TestOthersActive: it is others who count, and for a second.
func TestOthersActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asleep()
		f := func(c belfry.CustomerID, want bool) {
			t.Helper()
			if got := s.OthersActive(c); got != want {
				t.Errorf("beside %d: %v", c, got)
			}
		}
		f(1, false)
		s.Active(0) // the service itself
		f(1, false)
		s.Active(1)
		f(1, false)
		f(2, true)
		s.Active(1)
		f(1, false)
		s.Active(2)
		time.Sleep(engine.ActiveFor / 2)
		for range 3 {
			s.Active(1)
			f(1, true)
		}
		time.Sleep(engine.ActiveFor / 2)
		f(1, false)
		f(2, true)
		f(3, true)
	})
}
