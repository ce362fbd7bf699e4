// Package engine is where everything is decided. Rows, which package intake reads, and what operators and administrators do
// become commands, and one goroutine, the sequencer, decides them one after the other, commits what follows from them to the
// journal and makes it visible.
//
//	request goroutines                the sequencer                        after the fsync
//	──────────────────                ─────────────                        ───────────────
//	read CSV, check, resolve ──►  decide on a scratch copy ──► journal ──► tree, movers, answer
//	        (in parallel)             (one at a time)         (one fsync
//	                                                           per round)
//
// Invariants: nothing has happened before the fsync, and everything has after it; if it fails, the scratch is dropped
// and every command of the round is refused. Only the sequencer writes to the tree, so it reads it without a lock.
package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/journal"
	"belfry/meta"
)

// Config is what a Sequencer needs. All of it is required unless it says otherwise.
type Config struct {
	Tree    *meta.Tree // and the catalog as it is
	Journal Journal
	Sinks   []func(*belfry.Record) // told of every committed record, in order; must not block
	// Room waits until rows of a customer may come in, or says why they may not. With no rows it is asked for what only
	// removes something, which is taken also while memory is short.
	Room    func(ctx context.Context, c belfry.CustomerID, rows int) error
	Ready   func() error // non-nil while nothing can be stored
	Answers func(ctx context.Context, c belfry.CustomerID, key string) (*belfry.Answer, error)
	Count   func(belfry.CustomerID) int // of answers under an Idempotency-Key that are kept
	Limits  func() Limits
	Now     func() time.Time
	// Trusted is the time by which data expire. It differs from Now while the clock is in doubt; nil: it never does.
	Trusted func() time.Time
	// Passed reads a clock that nobody sets; nil: what Now has of it.
	Passed func() time.Duration
	// Oldest is the time before which answers under an Idempotency-Key are too old; nil: AnswersKept before Trusted.
	Oldest func() time.Time
	// Keep sees to it that rows of a moment are kept, which may be one whose rows have been dropped; may be nil.
	Keep func(at belfry.Time) error
	// Last is the time of the newest record in the journal, behind which arrival times do not fall by a few seconds.
	Last belfry.Time
	// Arrives is told the time of every record before it is written, by the sequencer, and may refuse it; may be nil.
	Arrives func(at belfry.Time) error
	// Stepped is told by how much the clock was set, forward or back, and what it says since; may be nil.
	Stepped func(by time.Duration, now time.Time)
	Zone    *time.Location                         // of times that are given without one
	ZoneOf  func(belfry.CustomerID) *time.Location // the same where customers differ; may be nil
	// Turn is how many items of a large change are dealt with in one turn; 0: the default.
	Turn int
	Log  *slog.Logger
}

// Journal makes payloads durable, all or none, at consecutive positions.
type Journal interface {
	Append(payloads ...[]byte) (first belfry.Position, err error)
}

// Limits bound what a client may send. They may change while the program runs.
type Limits struct {
	HeldRows   int   // of a body that is applied as a whole, see package intake; 0: the default
	HeldMemory int64 // of all such bodies together, decoded; 0: the default
	ChunkBytes int   // of a body that are decided at a time; 0: the default
	Row        int
	Columns    int
	Indicators int // the highest number, at most belfry.MaxIndicators
	Objects    int // per customer, and as many resources, views and elements together
	// Texts is the memory for what customers have set up, see meta.Tree.Texts. One customer may take half of it. 0: no limit.
	Texts int64
	// Items is the memory for items and their last values, see meta.Tree.Memory. 0: no limit.
	Items         int64
	Receivers     int // resources that listen, per customer
	Answers       int // under an Idempotency-Key, per customer
	Rate          int // rows per second and customer; 0: any number
	StrictClasses bool
	Retention     func(collection string) time.Duration // 0: for ever
	Oldest        func(collection string) belfry.Time   // rows before it would not be kept; nil: there are none
}

// Sequencer decides commands one at a time. Run must be running for any command to end.
type Sequencer struct {
	cfg          Config
	scratch      scratch
	activity     activity
	clock        clock
	arrivals     arrivalClock
	read         time.Time     // when the clock was last compared with the time that has passed
	passed       time.Duration // Config.Passed then
	latest       belfry.Time   // the time of arrivals then
	keptDay      belfry.Time   // the day for which keep was asked last
	since        atomic.Int64  // the same as clock.since, for others
	classRules   rulebook
	policyScopes policyScopes
	marks        int // given by tx.mark
	turn         int // see Config.Turn

	mu        sync.Mutex
	queues    map[belfry.CustomerID][]*Command
	turns     []belfry.CustomerID // customers with something waiting, each once
	afterLong bool                // the last round was a long command
	stopped   bool
	wake      chan struct{}
	answering map[string]chan struct{} // requests at work, by customer and Idempotency-Key
	behind    behind
}

// New makes a Sequencer.
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
		behind:    newBehind(),
		turn:      cmp.Or(c.Turn, turnItems),
	}
	s.arrivals.highest.Store(int64(c.Last))
	s.keptDay = -1
	return s
}

// Tree is the tree that the sequencer changes.
func (s *Sequencer) Tree() *meta.Tree { return s.cfg.Tree }

// Limits are those that hold now.
func (s *Sequencer) Limits() Limits { return s.cfg.Limits() }

// Clock is the time of day. See Now for the time of rows.
func (s *Sequencer) Clock() time.Time { return s.cfg.Now() }

// WaitForRoom waits until so many rows of a customer may come in, see Config.Room.
func (s *Sequencer) WaitForRoom(ctx context.Context, c belfry.CustomerID, rows int) error {
	return s.cfg.Room(ctx, c, rows)
}

// Trusted is the time by which data expire, see Config.
func (s *Sequencer) Trusted() time.Time { return s.cfg.Trusted() }

// Command is one thing to decide.
type Command struct {
	Customer belfry.CustomerID
	Views    []string // to which it is limited; none: it may touch everything of the customer
	Rows     int      // its cost in a round, in rows that are ready
	Alone    bool     // its effects may have to be taken back, so it gets a round of its own
	Gathers  bool     // rows of other requests join it until it is decided
	Urgent   bool     // tried even when the disk is nearly full: a key must be revocable then, too
	Decide   func(*Tx) error
	Err      error
	Done     chan struct{}
}

// Again makes a command that does the same in another turn.
func (c *Command) Again() *Command {
	return &Command{Customer: c.Customer, Views: c.Views, Rows: c.Rows, Alone: c.Alone, Decide: c.Decide}
}

// long tells whether a command takes as much time as a round may, so that no other shares a round with it.
func (c *Command) long() bool { return c.Alone || c.Rows > roundRows }

// roundRows is how many rows share one fsync at most: enough to make it cheap, few enough to keep everybody's wait short.
const roundRows = 1 << 16

// ErrGone is for who asks for a customer that was removed while the request was under way.
var ErrGone = belfry.Errorf(belfry.InvalidKey, "the customer of this key or session has been removed")

// ErrTakenBack ends a command whose effects are not wanted.
var ErrTakenBack = errors.New("taken back")

// Submit puts a command in its customer's queue. The command has ended when done is closed.
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

// Do submits a command and waits for its end. It does not give up with ctx: the effects may be under way already.
func (s *Sequencer) Do(c *Command) error {
	if err := s.Submit(c); err != nil {
		return err
	}
	<-c.Done
	return c.Err
}

// Run decides commands until ctx ends, then finishes those that were accepted.
func (s *Sequencer) Run(ctx context.Context) error {
	s.startClock()
	var finishing sync.WaitGroup
	defer finishing.Wait()
	finishing.Go(func() { s.finishBehind(ctx) })
	timer := time.NewTimer(clockEvery)
	defer timer.Stop()
	for {
		if ctx.Err() != nil { // what is left of large changes is for the next process
			s.stop()
		}
		s.watchClock()
		s.tick()
		if s.gathers() {
			runtime.Gosched() // who is ready to send a row gets into this round: one fsync for more of them
		}
		if round := s.nextRound(); len(round) > 0 {
			s.round(round)
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
			if s.stop() {
				return nil
			}
		}
	}
}

// stop makes the sequencer take no more commands, and tells whether none is left.
func (s *Sequencer) stop() (empty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	return len(s.turns) == 0
}

// gathers tells whether the next command is one that further rows may join.
func (s *Sequencer) gathers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns) > 0 && s.queues[s.turns[0]][0].Gathers
}

// nextRound picks the commands of the next round, one of each customer in turn, so that nobody waits for another's backlog. After
// a long command the short ones of all customers go first: whoever sends little waits for one long command at most, not for
// one of each customer that sends them. The long ones have every other round, so they are not held up either.
func (s *Sequencer) nextRound() (round []*Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.afterLong {
		round = s.pickCommands(false)
	}
	if len(round) == 0 {
		round = s.pickCommands(true)
	}
	s.afterLong = len(round) > 0 && round[len(round)-1].long()
	return round
}

// pickCommands takes the commands of a round from the queues, with or without long ones. A command that would make the round longer
// than roundRows begins the next: those who are in the round would wait for it.
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

// round decides commands, commits their records with one fsync, and makes them visible.
func (s *Sequencer) round(commands []*Command) {
	changes, err := s.decide(commands)
	if err == nil {
		err = s.commit(changes)
	}
	if err != nil {
		for _, c := range commands {
			if c.Err == nil {
				c.Err = err
			}
		}
	}
	for _, c := range commands {
		close(c.Done)
	}
}

// decide lets each command of a round have its say. A fault in one of them leaves a scratch that nobody can trust, so
// none of the round counts; the next round starts afresh.
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

// change is a record with the nodes that were made for its new items.
type change struct {
	*belfry.Record
	made []*meta.Node
}

func (s *Sequencer) commit(changes []change) error {
	if len(changes) > 0 {
		if err := s.publish(changes); err != nil {
			return err
		}
	}
	for _, n := range s.scratch.wake {
		s.schedule(n)
	}
	s.evaluateUnseen()
	s.behind.add(s.scratch.left...)
	return nil
}

// publish makes records durable, and then visible.
func (s *Sequencer) publish(changes []change) error {
	if s.cfg.Arrives != nil {
		for _, c := range changes {
			if err := s.cfg.Arrives(c.Time); err != nil {
				s.cfg.Log.Error("a round is refused, as its time cannot be noted", "err", err)
				return belfry.Errorf(belfry.StorageUnavailable, NothingStored+"the time of the record could not be noted; the health of the service says why. Send again when that is put right")
			}
		}
	}
	first, err := s.cfg.Journal.Append(s.scratch.encode(changes)...)
	if err != nil {
		return s.refused(err)
	}
	for i, c := range changes {
		r := c.Record
		r.SetPos(first + belfry.Position(i))
		if err := s.cfg.Tree.Apply(r, c.made...); err != nil {
			// The record is committed and this is the code that made it: going on would answer from a wrong picture.
			panic("engine: a committed record does not apply: " + err.Error())
		}
		for _, sink := range s.cfg.Sinks {
			sink(r)
		}
	}
	s.dropPolicyScopes()
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
	return nil
}

// refused turns a journal's failure into what clients are told.
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
