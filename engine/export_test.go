package engine

import (
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// Exported for the tests in package engine_test.

const (
	ActKeyed        = actKeyed
	ActWhole        = actWhole
	ResultUnchanged = resultUnchanged
	MaxClasses      = maxClasses
	MaxOnItem       = maxOnItem
	MaxPolicies     = maxPolicies
	RoundRows       = roundRows
	TickItems       = tickItems
	TurnItems       = turnItems
)

// SettledMode is settledMode.
func SettledMode(n *meta.Node) belfry.Mode { return settledMode(n) }

// ResolveTimes is resolveTimes.
func (a *Action) ResolveTimes(who Sender, now belfry.Time) error { return a.resolveTimes(who, now) }

// ArrivalClock is arrivalClock.
type ArrivalClock struct{ clock arrivalClock }

// At is at.
func (a *ArrivalClock) At(now time.Time) belfry.Time { return a.clock.at(now) }

// Cfg returns the configuration, which a test may change.
func (s *Sequencer) Cfg() *Config { return &s.cfg }

// Wake receives when a command has been queued.
func (s *Sequencer) Wake() <-chan struct{} { return s.wake }

// Take picks the commands of the next round.
func (s *Sequencer) Take() []*Command { return s.nextRound() }

// Round decides the commands of a round.
func (s *Sequencer) Round(commands []*Command) { s.round(commands) }

// Queued counts the queued commands.
func (s *Sequencer) Queued() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		n += len(q)
	}
	return n
}

// Listen is startClock.
func (s *Sequencer) Listen() { s.startClock() }

// Due returns the time until the next item is due.
func (s *Sequencer) Due(now belfry.Time) (time.Duration, bool) { return s.clock.wait(now) }

// Ticking reports whether an item is due.
func (s *Sequencer) Ticking(now belfry.Time) bool {
	wait, some := s.clock.wait(now)
	return some && wait == 0
}

// Tick is tick.
func (s *Sequencer) Tick() bool { return s.tick() }

// WatchClock is watchClock.
func (s *Sequencer) WatchClock() { s.watchClock() }

// SetClock is stepped.
func (s *Sequencer) SetClock(by time.Duration, now time.Time) { s.stepped(by, now) }

// SetRead sets when the clock was last read.
func (s *Sequencer) SetRead(at time.Time, passed time.Duration) { s.read, s.passed = at, passed }

// ForgetDay makes the next command call Config.Keep.
func (s *Sequencer) ForgetDay() { s.keptDay = -1 }

// SetTurn sets Config.Turn.
func (s *Sequencer) SetTurn(items int) { s.turn = items }

// Behind lists the customers with queued reassessments and marks them busy.
func (s *Sequencer) Behind() []belfry.CustomerID { return s.queue.begin() }

// Claim takes the queued reassessments of a customer.
func (s *Sequencer) Claim(c belfry.CustomerID) []string { return s.queue.claim(c) }

// ReassessAll is reassessAll.
func (s *Sequencer) ReassessAll(c belfry.CustomerID, list []string) error {
	return s.reassessAll(c, list)
}

// Rollup decides an input in a round of its own that is not committed.
func (s *Sequencer) Rollup(c belfry.CustomerID, n *meta.Node, in status.Input) *belfry.Record {
	s.scratch.reset(s.cfg.Tree)
	t := s.begin(c)
	t.Input(n, in)
	return t.record()
}

// SetOperatorState manages an item without an action.
func (t *Tx) SetOperatorState(n *meta.Node, c *belfry.OperatorState, info, by string) {
	d := &t.s.drafts[t.s.draft(n)]
	d.state.Operator = c
	t.recordState(n, d.state)
	t.managed(n, info, by)
}

// Step is step.
func (s *Sequencer) Step() bool { return s.step() }
