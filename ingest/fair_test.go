package ingest

import (
	"slices"
	"testing"

	"belfry"
)

// asleep makes a sequencer that decides nothing, so that everything waits.
func asleep() *Sequencer {
	return New(Config{Ready: func() error { return nil }, Limits: func() Limits { return Limits{Indicators: belfry.MaxIndicators} }})
}

// TestTurns: whoever comes while another has much waiting is in the next round, behind one turn of the other.
func TestTurns(t *testing.T) {
	s := asleep()
	submit := func(c belfry.CustomerID, n, rows int) {
		t.Helper()
		for range n {
			if err := s.Submit(&Command{Customer: c, Rows: rows}); err != nil {
				t.Fatal(err)
			}
		}
	}
	behind := func(c belfry.CustomerID) (rows int) {
		t.Helper()
		all := 0
		round := s.take()
		for _, o := range round {
			if all += o.Rows; all > roundRows+chunkRows {
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
	submit(1, 64, chunkRows)
	submit(2, 1, 3)
	if got := behind(2); got != chunkRows {
		t.Errorf("behind %d rows", got)
	}
	submit(2, 5, 3) // its own backlog does not count either
	submit(3, 1, 1)
	if got := behind(3); got != chunkRows+3 {
		t.Errorf("behind %d rows", got)
	}
	for c := range belfry.CustomerID(100) {
		submit(10+c, 1, 1)
	}
	if got := behind(109); got > 2*chunkRows+100 {
		t.Errorf("behind %d rows", got)
	}
}

// TestTurnsBetweenLongCommands: after a command that takes long, commands of others go before the next such command, whoever
// sent that one and however many wait; and short commands that keep coming do not hold up the long ones.
func TestTurnsBetweenLongCommands(t *testing.T) {
	for name, long := range map[string]Command{
		"alone":      {Alone: true, Rows: 99_000},
		"long":       {Rows: roundRows + 1},
		"open chunk": {Rows: openCost * chunkOpen},
	} {
		t.Run(name, func(t *testing.T) {
			s := asleep()
			submit := func(c Command, customer belfry.CustomerID) {
				t.Helper()
				c.Customer = customer
				if err := s.Submit(&c); err != nil {
					t.Fatal(err)
				}
			}
			want := func(customers ...belfry.CustomerID) {
				t.Helper()
				var got []belfry.CustomerID
				for _, c := range s.take() {
					got = append(got, c.Customer)
				}
				if !slices.Equal(got, customers) {
					t.Errorf("a round of customers %d, want %d", got, customers)
				}
			}
			short := Command{Rows: 1}
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

// TestSinglesLimit: single rows that wait are limited; the one beyond is refused and counted.
func TestSinglesLimit(t *testing.T) {
	engine := asleep()
	awake := newBench(t).Sequencer.cfg
	engine.cfg.Tree, engine.cfg.Room, engine.cfg.Now = awake.Tree, awake.Room, awake.Now
	s := NewIntake(IntakeConfig{Engine: engine})
	row := &belfry.Row{Type: "data", Resource: "res", Object: "cpu", Indicators: []belfry.Cell{{N: 1, Text: "1"}}}
	for i := range mostGathered {
		if _, n, err := s.gather(1, row); err != nil || n != i+1 {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	if _, _, err := s.SendOne(t.Context(), 1, row); belfry.CodeOf(err) != belfry.Overloaded {
		t.Errorf("one more: %v", err)
	}
	if got := s.counters.Lost[lostOverloaded].Load(); got != 1 || s.counters.Received.Load() != 1 {
		t.Errorf("%d counted", got)
	}
}
