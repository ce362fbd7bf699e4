// Package engine decides, commits and publishes all changes. Rows, which package intake reads, and actions of operators and
// administrators become commands. One goroutine, the sequencer, decides them one at a time, commits their effects to the
// journal and makes them visible.
//
//	request goroutines                the sequencer                        after the fsync
//	──────────────────                ─────────────                        ───────────────
//	read CSV, check, resolve ──►  decide on a scratch copy ──► journal ──► tree, movers, streams, collectors, answer
//	        (in parallel)             (one at a time)         (one fsync
//	                                                           per round)
//
// Invariants: a command has no effect before the fsync and its whole effect after it. If the fsync fails, the scratch is
// dropped and every command of the round gets the error. Only the sequencer writes to the tree, so it reads without a lock.
package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/journal"
	"belfry/meta"
)

// Config configures a Sequencer. All fields are required unless they say otherwise.
type Config struct {
	Tree    *meta.Tree
	Journal Journal
	Sinks   []func(*belfry.Record) // receive every committed record, in order; must not block. A panic in one ends the process
	// Room waits until rows of a customer may be accepted, or returns why they may not. With rows 0 it is called for
	// removals, which are accepted even while memory is short.
	Room    func(ctx context.Context, c belfry.CustomerID, rows int) error
	Ready   func() error // non-nil while nothing can be stored
	Answers func(ctx context.Context, c belfry.CustomerID, key string) (*belfry.Answer, error)
	Count   func(belfry.CustomerID) int // of stored replies
	Limits  func() Limits
	Now     func() time.Time
	// Trusted is the time by which data expire. It differs from Now while the clock is not trusted; nil: Now.
	Trusted func() time.Time
	// Passed reads a monotonic clock; nil: that of Now.
	Passed func() time.Duration
	// Oldest is the time before which stored replies have expired; nil: AnswersKept before Trusted.
	Oldest func() time.Time
	// Keep makes sure that rows of this time are stored even if rows of that day were dropped before; may be nil.
	Keep func(at belfry.Time) error
	// Last is the time of the newest record in the journal. Arrival times do not fall a few seconds behind it.
	Last belfry.Time
	// Arrives is called with the time of every record before it is written, and may refuse it; may be nil.
	Arrives func(at belfry.Time) error
	// Stepped is called when the clock was set, with the difference and the new time; may be nil.
	Stepped func(by time.Duration, now time.Time)
	Zone    *time.Location                         // of times without a zone
	ZoneOf  func(belfry.CustomerID) *time.Location // Zone of a customer; may be nil
	// Turn is how many items of a large change are processed in one turn; 0: the default.
	Turn int
	Log  *slog.Logger
}

// Journal stores payloads durably, all or none, at consecutive positions.
type Journal interface {
	Append(payloads ...[]byte) (first belfry.Position, err error)
}

// Limits bound what a client may send. They may change while the program runs.
type Limits struct {
	HeldRows   int   // of a body that is applied as a whole, see package intake; 0: the default
	HeldMemory int64 // of all such bodies together, decoded; 0: the default
	ChunkBytes int   // of a body, decided at a time; 0: the default
	Row        int
	Columns    int
	Indicators int // the highest number, at most belfry.MaxIndicators
	Objects    int // per customer, and as many resources, views and elements together
	// Texts is the memory for texts of configuration, see meta.Tree.TextMemory. One customer may use half of it. 0: no limit.
	Texts int64
	// Items is the memory for items and their last values, see meta.Tree.ItemMemory. 0: no limit.
	Items         int64
	Receivers     int // resources that listen, per customer
	Answers       int // under an Idempotency-Key, per customer
	Rate          int // rows per second and customer; 0: any number
	StrictClasses bool
	Retention     func(collection string) time.Duration // 0: unlimited
	Oldest        func(collection string) belfry.Time   // rows before it would be dropped; nil: none
}

// Sequencer decides commands one at a time. Run must be running for any command to end.
type Sequencer struct {
	cfg          Config
	scratch      scratch
	activity     activity
	began        atomic.Pointer[time.Time] // the present round; nil: none
	clock        clock
	arrivals     arrivalClock
	read         time.Time     // when the clock was last compared with the time that has passed
	passed       time.Duration // Config.Passed then
	latest       belfry.Time   // the time of arrivals then
	keptDay      belfry.Time   // the day for which Config.Keep was last called
	since        atomic.Int64  // clock.since, for other goroutines
	classRules   rulebook
	policyScopes policyScopes
	marks        int  // number of marks made, see Tx.addMark
	turn         int  // see Config.Turn
	afterLong    bool // the last round was a long command or one of the clock
	afterClock   bool // no long command has run since the last round of the clock

	mu        sync.Mutex
	queues    map[belfry.CustomerID][]*Command
	turns     []belfry.CustomerID // customers with queued commands, each once
	stopped   bool
	wake      chan struct{}
	answering map[string]chan struct{} // requests in flight, by customer and Idempotency-Key
	queue     reassessQueue
}

// New returns a Sequencer that Run starts.
func New(c Config) *Sequencer {
	if c.Trusted == nil {
		c.Trusted = c.Now
	}
	if c.Oldest == nil {
		c.Oldest = func() time.Time { return c.Trusted().Add(-AnswersKept) }
	}
	s := &Sequencer{
		cfg:       c,
		queues:    map[belfry.CustomerID][]*Command{},
		wake:      make(chan struct{}, 1),
		answering: map[string]chan struct{}{},
		queue:     newReassessQueue(),
		turn:      cmp.Or(c.Turn, turnItems),
		clock:     clock{unseen: map[belfry.ID]bool{}, due: map[belfry.CustomerID][]*meta.Node{}},
	}
	s.arrivals.highest.Store(int64(c.Last))
	s.keptDay = -1
	return s
}

// Tree returns the tree that the sequencer writes to.
func (s *Sequencer) Tree() *meta.Tree { return s.cfg.Tree }

// Limits returns the current limits.
func (s *Sequencer) Limits() Limits { return s.cfg.Limits() }

// Clock returns the time of day. Now returns the time of rows.
func (s *Sequencer) Clock() time.Time { return s.cfg.Now() }

// WaitForRoom waits until that many rows of a customer may be accepted, see Config.Room.
func (s *Sequencer) WaitForRoom(ctx context.Context, c belfry.CustomerID, rows int) error {
	return s.cfg.Room(ctx, c, rows)
}

// Trusted returns the time by which data expire, see Config.
func (s *Sequencer) Trusted() time.Time { return s.cfg.Trusted() }

// Command is a unit of work: it is decided as a whole and its effects are one record.
type Command struct {
	Customer belfry.CustomerID
	By       *belfry.Actor // who sent it; nil: the service
	Views    []string      // to which it is limited; none: the whole customer
	Rows     int           // its cost in a round, in rows that are ready
	Alone    bool          // it gets its own round, so that its effects can be rolled back
	Gathers  bool          // rows of other requests may join it until it is decided
	Urgent   bool          // tried even when the disk is nearly full: a key must be revocable then, too
	Decide   func(*Tx) error
	Err      error
	Done     chan struct{}
}

// Again returns a copy of the command for another turn.
func (c *Command) Again() *Command {
	return &Command{Customer: c.Customer, By: c.By, Views: c.Views, Rows: c.Rows, Alone: c.Alone, Decide: c.Decide}
}

// long reports whether a command needs its own round.
func (c *Command) long() bool { return c.Alone || c.Rows > roundRows }

// roundRows limits the rows that share one fsync: enough to make it cheap, few enough to keep latency low.
const roundRows = 1 << 16

// ErrGone: the customer was removed while the request was in flight.
var ErrGone = belfry.Errorf(belfry.InvalidKey, "the customer of this key or session has been removed")

// ErrStopping refuses commands after the sequencer has been stopped.
var ErrStopping = belfry.Errorf(belfry.Overloaded, "the server is stopping; send again in a moment")

// NothingStored is the prefix of errors of a round that could not be stored. It must be removed for a body whose earlier rounds were.
const NothingStored = "nothing was stored: "

// ErrRolledBack is returned by Command.Decide to roll the command back.
var ErrRolledBack = errors.New("rolled back")

// Submit puts a command in its customer's queue. Done is closed when the command has ended.
func (s *Sequencer) Submit(c *Command) error {
	if !c.Urgent {
		if err := s.cfg.Ready(); err != nil {
			return err
		}
	}
	c.Done = make(chan struct{})
	s.Active(c.Customer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return ErrStopping
	}
	if len(s.queues[c.Customer]) == 0 {
		s.turns = append(s.turns, c.Customer)
	}
	s.queues[c.Customer] = append(s.queues[c.Customer], c)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// Do submits a command and waits until it has ended. It cannot be cancelled, since the effects may already be committed.
func (s *Sequencer) Do(c *Command) error {
	if err := s.Submit(c); err != nil {
		return err
	}
	<-c.Done
	return c.Err
}

// Run decides commands until ctx ends, then those still queued.
func (s *Sequencer) Run(ctx context.Context) error {
	s.startClock()
	var finishing sync.WaitGroup
	defer finishing.Wait()
	finishing.Go(func() { s.finishBehind(ctx) })
	timer := time.NewTimer(clockEvery)
	defer timer.Stop()
	for {
		if ctx.Err() != nil && s.stop() { // the next process continues large changes
			return nil
		}
		s.watchClock()
		if s.step() {
			continue
		}
		wait, ok := s.clock.wait(s.Now())
		if !ok || wait > clockEvery {
			wait = clockEvery
		}
		timer.Reset(wait)
		select {
		case <-s.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// step runs the next round, of the clock or of commands, and reports whether there was one.
func (s *Sequencer) step() bool {
	if s.clockTurn() && s.tick() {
		return true
	}
	if s.gathers() {
		runtime.Gosched() // requests that are about to add a row can join this round and share its fsync
	}
	round := s.nextRound()
	if len(round) > 0 {
		s.round(round)
	}
	return len(round) > 0
}

// Busy returns how long the present round has taken so far. Many seconds mean that something is wrong with a command.
func (s *Sequencer) Busy() time.Duration {
	if at := s.began.Load(); at != nil {
		return time.Since(*at)
	}
	return 0
}

// stop makes the sequencer refuse further commands and reports whether the queues are empty.
func (s *Sequencer) stop() (empty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	return len(s.turns) == 0
}

// gathers reports whether further rows may join the next command.
func (s *Sequencer) gathers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns) > 0 && s.queues[s.turns[0]][0].Gathers
}

// clockTurn reports whether the clock comes before commands. It takes turns with long ones, and short ones come after each.
func (s *Sequencer) clockTurn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := func(long bool) bool {
		return slices.ContainsFunc(s.turns, func(c belfry.CustomerID) bool { return s.queues[c][0].long() == long })
	}
	return !(s.afterLong && waits(false)) && !(s.afterClock && waits(true))
}

// nextRound picks the commands of the next round, one from each customer in turn, so that a backlog delays only its own customer.
// After a long command the short ones of all customers come first, so that a short command waits for one long command at most.
// Long ones get every other round, so they are not starved.
func (s *Sequencer) nextRound() (round []*Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.afterLong {
		round = s.pickCommands(false)
	}
	if len(round) == 0 {
		round, s.afterClock = s.pickCommands(true), false
	}
	s.afterLong = len(round) > 0 && round[len(round)-1].long()
	return round
}

// pickCommands takes the commands of a round from the queues, with or without long ones. A command that does not fit into
// roundRows starts the next round.
func (s *Sequencer) pickCommands(long bool) (round []*Command) {
	var passed []belfry.CustomerID // their turn comes in the next round
	rows := 0
	for len(s.turns) > 0 && rows < roundRows {
		who := s.turns[0]
		c := s.queues[who][0]
		if !long && c.long() {
			passed = append(passed, who)
			s.turns = s.turns[1:]
			continue
		}
		if len(round) > 0 && (c.Alone || rows+c.Rows > roundRows) {
			break
		}
		s.turns = s.turns[1:]
		if s.queues[who] = s.queues[who][1:]; len(s.queues[who]) > 0 {
			s.turns = append(s.turns, who)
		} else {
			delete(s.queues, who)
		}
		round = append(round, c)
		rows += c.Rows
		if c.Alone {
			break
		}
	}
	if len(passed) > 0 {
		s.turns = append(passed, s.turns...)
	}
	return round
}

// round decides commands, commits their records to the journal with one fsync, and makes them visible. Then the commands have
// ended.
func (s *Sequencer) round(commands []*Command) {
	now := time.Now()
	s.began.Store(&now)
	defer s.began.Store(nil)
	changes, err := s.decide(commands)
	if err == nil {
		err = s.arrive(changes)
	}
	var first belfry.Position
	if err == nil && len(changes) > 0 {
		if first, err = s.cfg.Journal.Append(s.scratch.encode(changes)...); err != nil {
			err = s.refused(err)
		}
	}
	if err == nil {
		s.publish(first, changes)
	}
	for _, c := range commands {
		if err != nil && c.Err == nil {
			c.Err = err
		}
		close(c.Done)
	}
}

// change is a record with the nodes of its new items.
type change struct {
	*belfry.Record
	made []*meta.Node
}

// decide runs every command of the round. If one panics, the scratch is unusable, so the whole round fails.
func (s *Sequencer) decide(commands []*Command) (changes []change, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			s.cfg.Log.Error("panic in the sequencer", "fault", fault, "stack", string(debug.Stack()))
			err = errors.New("panic in the sequencer")
		}
	}()
	s.scratch.reset(s.cfg.Tree)
	for _, c := range commands {
		t, made := s.begin(c.Customer), len(s.scratch.made)
		if t.Tenant == nil && c.Customer != 0 {
			c.Err = ErrGone
			continue
		}
		t.By = c.By
		t.limit(c.Views)
		if c.Err = s.keep(t.Now); c.Err != nil {
			continue
		}
		if c.Err = c.Decide(t); c.Err != nil {
			continue
		}
		if r := t.record(); r != nil {
			changes = append(changes, change{r, s.scratch.made[made:]})
		}
	}
	return changes, nil
}

// arrive notes the times of records before they are written.
func (s *Sequencer) arrive(changes []change) error {
	if s.cfg.Arrives == nil {
		return nil
	}
	for _, c := range changes {
		if err := s.cfg.Arrives(c.Time); err != nil {
			s.cfg.Log.Error("a round is refused, as its time cannot be recorded", "err", err)
			return belfry.Errorf(belfry.StorageUnavailable, NothingStored+"the time of the record could not be recorded; see /api/health, fix the cause and retry")
		}
	}
	return nil
}

// publish makes the effects of a round visible, whose records are in the journal from position first on, and schedules what
// follows from them.
func (s *Sequencer) publish(first belfry.Position, changes []change) {
	for i, c := range changes {
		r := c.Record
		r.SetPos(first + belfry.Position(i))
		if err := s.cfg.Tree.Apply(r, c.made...); err != nil {
			// The record is committed, so this is a bug, and the tree is wrong from here on.
			panic("engine: a committed record does not apply: " + err.Error())
		}
		for _, sink := range s.cfg.Sinks {
			sink(r)
		}
	}
	if len(changes) > 0 {
		s.dropPolicyScopes()
	}
	for _, c := range changes {
		for i := range c.States {
			s.schedule(s.cfg.Tree.Node(c.States[i].Item))
		}
		for i := range c.Items {
			if c.Items[i].Removed != 0 {
				s.clock.forget(c.Items[i].ID)
				s.policyScopes.known.Set(uint64(c.Items[i].ID), nil)
			}
		}
	}
	for _, n := range s.scratch.wake {
		s.schedule(n)
	}
	s.evaluateUnseen()
	s.queue.add(s.scratch.left...)
}

// refused turns an error of the journal into the error for clients.
func (s *Sequencer) refused(err error) error {
	s.cfg.Log.Error("journal refused a round", "err", err)
	switch {
	case errors.Is(err, journal.ErrGone):
		return belfry.Errorf(belfry.StorageUnavailable, NothingStored+"the journal was removed or replaced while the service ran; put it back, or start the service again")
	case errors.Is(err, journal.ErrLockLost):
		return belfry.Errorf(belfry.StorageUnavailable, NothingStored+"the service does not hold the lock of its folder any more; see its health")
	case errors.Is(err, journal.ErrNoSpace):
		return belfry.Errorf(belfry.StorageUnavailable, NothingStored+"no space left for the journal; free space and send again")
	}
	return belfry.Errorf(belfry.StorageUnavailable, NothingStored+"the journal could not be written; see the server's log and send again")
}
