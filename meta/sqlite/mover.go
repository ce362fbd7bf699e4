package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"belfry"
)

// Mover carries committed records into the database.
//
// Configuration (items, docs, answers) is written within a fraction of a second. States are not: the last values of an
// object change with every row, so the mover only remembers which items were touched, and once in an interval writes
// the state each of them has by then. The stored position moves together with the states, never before them:
//
//	records   1  2  3  4  5  6  7  8  9
//	position        ▲           configuration of 4 … 9 is there already, their states are not
//
// After a crash the records above the position are replayed, and their configuration is written a second time. Items keep
// the newest content; a doc or an answer may have an older one for a moment, until the last record is reached.
type Mover struct {
	db *DB
	o  MoverOptions

	writing chan struct{} // held by whoever is writing
	wake    chan struct{} // there is something to write soon
	spare   *idSet        // the other dirty set, empty; belongs to whoever holds the turn
	bad     bool          // the last attempt did not succeed; the same

	mu      sync.Mutex
	pending change                    // without states; pos is that of the last record
	records int                       // how many came since the position was stored
	weight  int                       // bytes of pending and of what is being written, about
	weights map[belfry.CustomerID]int // the same of each customer that has any
	dirty   *idSet                    // items whose state has to be written
	answers map[answerKey]*belfry.Answer
	images  map[imageKey][]byte       // of pictures
	counted map[belfry.CustomerID]int // answers, those in the database included
}

// MoverOptions say how a Mover works.
type MoverOptions struct {
	// States reads the present state of items. It may leave out items that it does not know.
	States func([]belfry.ID) []StoredState
	// Interval is the time between two writings of states; 10 s when 0.
	Interval time.Duration
	// MaxPending is the number of records after which states are written even if the interval has not passed; 100,000
	// when 0. It bounds what has to be replayed after a crash.
	MaxPending int
	// MaxBytes is what items, docs and answers that are not written yet may take in memory, about, before Full says so; 64 MiB
	// when 0.
	MaxBytes int
	// Removed gets the removed items that are in the database from now on. May be nil.
	Removed func([]belfry.ID)
	// Failed gets the reason why nothing could be written, at each attempt, and nil once it works again. May be nil.
	Failed func(error)
	Log    *slog.Logger

	atOnce int // items and states in one transaction
}

const (
	configDelay  = 100 * time.Millisecond // configuration that comes within it shares a transaction
	configWait   = time.Second            // and so does more that keeps coming, so long: whoever sends it needs the processor
	writeAtOnce  = 20_000                 // so that one transaction does not keep the writer long
	readAtOnce   = 2_000                  // so that reading states does not hold up those who change them
	firstBackOff = 100 * time.Millisecond
	lastBackOff  = 2 * time.Second
	fullPending  = 10  // times MaxPending records are too many
	entryWeight  = 300 // bytes of an item, a doc or an answer in memory, with its texts, about
)

type answerKey struct {
	customer belfry.CustomerID
	key      string
}

// NewMover makes a mover that continues from the position of the database.
func NewMover(db *DB, o MoverOptions) *Mover {
	if o.Interval <= 0 {
		o.Interval = 10 * time.Second
	}
	if o.MaxPending <= 0 {
		o.MaxPending = 100_000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.atOnce <= 0 {
		o.atOnce = writeAtOnce
	}
	return &Mover{
		db: db, o: o,
		writing: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		spare: &idSet{}, dirty: &idSet{}, answers: map[answerKey]*belfry.Answer{},
		counted: map[belfry.CustomerID]int{}, weights: map[belfry.CustomerID]int{},
	}
}

// Add takes the next record, after it has been applied in memory, because states are read from there later. It keeps neither
// r nor its batches.
func (m *Mover) Add(r *belfry.Record) {
	if m.enqueue(r) {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

// enqueue reports whether there is something to write soon.
func (m *Mover) enqueue(r *belfry.Record) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Pos <= m.Position() {
		return false
	}
	m.pending.add(r)
	m.records++
	if w := weigh(r); w > 0 {
		m.weight += w
		m.weights[r.Customer] += w
	}
	for i := range r.States {
		m.dirty.add(r.States[i].Item)
	}
	for _, b := range r.Batches {
		if b.Collection != belfry.ObjectData {
			continue
		}
		if items := b.Column(belfry.ItemColumn); items != nil {
			for _, id := range items.Ints {
				if id > 0 {
					m.dirty.add(belfry.ID(id))
				}
			}
		}
	}
	m.keepImages(r.Docs)
	if a := r.Answer; a != nil {
		m.answers[answerKey{a.Customer, a.Key}] = a
		m.counted[a.Customer]++
	}
	return len(r.Items) > 0 || len(r.Docs) > 0 || r.Answer != nil || m.records >= m.o.MaxPending
}

// Position is the position up to which everything is in the database.
func (m *Mover) Position() belfry.Position { return m.db.Stored() }

// Pending returns how many records are above Position.
func (m *Mover) Pending() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records
}

// Full reports whether so much is pending that nothing should be added for the customer. A customer with little pending is
// held up only when the total is a quarter above the limit.
func (m *Mover) Full(c belfry.CustomerID) bool {
	const little, aside = 8, 4
	m.mu.Lock()
	defer m.mu.Unlock()
	most := m.o.MaxBytes
	if m.weights[c] <= most/little {
		most += most / aside
	}
	return m.weight > most || m.records > fullPending*m.o.MaxPending
}

// weigh is about how many bytes a record keeps in memory until it is written.
func weigh(r *belfry.Record) (bytes int) {
	bytes = entryWeight * (len(r.Items) + len(r.Docs))
	for i := range r.Docs {
		bytes += len(r.Docs[i].Body)
	}
	if r.Answer != nil {
		bytes += entryWeight + len(r.Answer.Body)
	}
	return bytes
}

// Answer finds what was answered under an idempotency key, whether it has reached the database or not; nil when
// nothing was.
func (m *Mover) Answer(ctx context.Context, customer belfry.CustomerID, key string) (*belfry.Answer, error) {
	m.mu.Lock()
	a := m.answers[answerKey{customer, key}]
	m.mu.Unlock()
	if a != nil {
		return a, nil
	}
	return m.db.Answer(ctx, customer, key) // an answer leaves the map only after it got there
}

// Run writes until ctx ends. What is still pending then stays so; Drain writes it.
func (m *Mover) Run(ctx context.Context) error {
	due := time.NewTimer(m.o.Interval)
	defer due.Stop()
	var soon <-chan time.Time
	var since time.Time // when the first of what is to be written came
	for ctx.Err() == nil {
		whole := false
		select {
		case <-ctx.Done():
			return nil
		case <-m.wake:
			if whole = m.Pending() >= m.o.MaxPending; !whole {
				now := time.Now()
				if soon == nil {
					since = now
				}
				if soon == nil || now.Sub(since) < configWait-configDelay {
					soon = time.After(configDelay)
				}
				continue
			}
		case <-soon:
		case <-due.C:
			whole = true
		}
		soon = nil
		if m.writeRetrying(ctx, whole, &rests{until: time.Now().Add(m.o.Interval / 2)}) != nil {
			return nil // ctx has ended
		}
		if whole {
			due.Reset(m.o.Interval)
		}
	}
	return nil
}

// Drain writes everything that was added before it was called. It works while Run does, and afterwards.
func (m *Mover) Drain(ctx context.Context) error {
	if err := m.writeRetrying(ctx, true, nil); err != nil {
		return fmt.Errorf("drain metadata: %w", err)
	}
	return nil
}

// writeRetrying writes, and retries until it succeeds or ctx ends.
func (m *Mover) writeRetrying(ctx context.Context, whole bool, rests *rests) error {
	for wait := firstBackOff; ; wait = min(2*wait, lastBackOff) {
		err := m.writeOnce(ctx, whole, rests)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// writeOnce writes what is pending; if whole, also the states and the position.
func (m *Mover) writeOnce(ctx context.Context, whole bool, rests *rests) error {
	select {
	case m.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-m.writing }()
	r := m.beginRound(whole)
	err := m.write(ctx, &r, rests)
	if err != nil {
		m.putBack(&r)
	} else {
		m.written(&r)
	}
	if ctx.Err() == nil {
		m.report(err)
	}
	return err
}

func (m *Mover) report(err error) {
	switch {
	case err != nil && !m.bad:
		m.o.Log.Warn("metadata cannot be written, trying again", "err", err, "pending", m.Pending())
	case err == nil && m.bad:
		m.o.Log.Info("metadata is written again")
	}
	if m.o.Failed != nil && (err != nil || m.bad) {
		m.o.Failed(err)
	}
	m.bad = err != nil
}

// round is what one call of writeOnce writes.
type round struct {
	change                           // without states; items are those that no transaction has written yet
	ids    []belfry.ID               // whose states are to be read and written
	count  int                       // records that will be at or below the position
	by     map[belfry.CustomerID]int // what it takes in memory, of each customer
}

// beginRound takes what is pending. Counters go with the position: records above it will raise them again.
func (m *Mover) beginRound(whole bool) (r round) {
	m.mu.Lock()
	r.change, r.by = m.pending, maps.Clone(m.weights)
	if whole {
		m.pending = change{pos: r.pos}
		m.dirty, m.spare = m.spare, m.dirty
		r.count, m.records = m.records, 0
	} else {
		r.counters, r.pos = nil, 0
		m.pending = change{pos: m.pending.pos, counters: m.pending.counters}
	}
	m.mu.Unlock()
	if whole {
		r.ids = m.spare.drain()
	}
	return r
}

// putBack undoes beginRound. What has come since is newer and stays behind what was taken.
func (m *Mover) putBack(r *round) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending.items = append(r.items, m.pending.items...)
	m.pending.docs = append(r.docs, m.pending.docs...)
	m.pending.answers = append(r.answers, m.pending.answers...)
	for c, next := range m.pending.counters {
		r.raise(c, next)
	}
	if r.counters != nil {
		m.pending.counters = r.counters
	}
	for _, id := range r.ids {
		m.dirty.add(id)
	}
	m.records += r.count
}

// itemsWritten releases the memory of the items that a transaction has written. The rest of the round may take seconds, and
// senders need not wait for it.
func (m *Mover) itemsWritten(r *round, items, rest []itemAt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.items = rest
	by := map[belfry.CustomerID]int{}
	for i := range items {
		by[items[i].Customer] += entryWeight
	}
	for c, w := range by {
		r.by[c] -= w
	}
	m.release(by)
}

// release subtracts weights from what is pending. m.mu is held.
func (m *Mover) release(by map[belfry.CustomerID]int) {
	for c, w := range by {
		m.weight -= w
		if m.weights[c] -= w; m.weights[c] == 0 {
			delete(m.weights, c)
		}
	}
}

// written releases the rest of a round, and the answers and images that can now be read from the database.
func (m *Mover) written(r *round) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.release(r.by)
	m.forgetImages(r.docs)
	for _, a := range r.answers {
		if k := (answerKey{a.Customer, a.Key}); m.answers[k] == a {
			delete(m.answers, k)
		}
	}
}

// write writes a round in as many transactions as its size asks for. Items come before states, so that no state is
// ever without its item, and the last transaction sets the position.
func (m *Mover) write(ctx context.Context, r *round, rests *rests) error {
	c := change{docs: r.docs, answers: r.answers, counters: r.counters, rests: rests}
	items, ids := r.items, r.ids
	m.setLastRows(items)
	for {
		var part []belfry.ID
		c.items, items = cut(items, m.o.atOnce)
		part, ids = cut(ids, m.o.atOnce-len(c.items))
		c.states = m.states(part)
		last := len(items) == 0 && len(ids) == 0
		if last {
			c.pos = r.pos
		}
		if !c.empty(m.Position()) {
			if err := m.db.apply(ctx, &c); err != nil {
				return err
			}
			m.reportRemoved(c.items)
			m.itemsWritten(r, c.items, items)
		}
		if last {
			return nil
		}
		c = change{rests: rests}
	}
}

// rests are the pauses between the statements that write states; nil: there are none. The states of 100,000 objects take most of a second of a
// processor every ten seconds, and no one waits for them, so requests get every other moment of it. Writing at a lower priority
// instead would hold up the garbage collector, see decision 059.
type rests struct {
	until  time.Time // no rests from then on; zero: none at all
	worked time.Time // since when no rest was taken
}

const (
	restAfter = time.Millisecond
	longRest  = 20 * time.Millisecond
)

// pause sleeps for as long as the work since the last rest took.
func (r *rests) pause() {
	if r == nil || !time.Now().Before(r.until) {
		return
	}
	if r.worked.IsZero() {
		r.worked = time.Now()
	}
	if took := time.Since(r.worked); took >= restAfter {
		time.Sleep(min(took, longRest))
		r.worked = time.Now()
	}
}

func (m *Mover) states(ids []belfry.ID) (states []StoredState) {
	for len(ids) > 0 {
		var part []belfry.ID
		part, ids = cut(ids, readAtOnce)
		states = append(states, m.o.States(part)...)
	}
	return states
}

// cut splits off the first n entries.
func cut[T any](s []T, n int) (first, rest []T) {
	n = min(n, len(s))
	return s[:n:n], s[n:]
}
