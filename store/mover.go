package store

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"belfry"
	"belfry/query"
)

// MoverOptions say when the Mover moves. What is zero has a default.
type MoverOptions struct {
	Rows       int             // move as soon as so many rows wait; 50,000
	Delay      time.Duration   // move when the oldest has waited so long; 200 ms
	After      belfry.Position // the store has every record up to here already
	Labels     query.Labels    // knows the names of items, which are put into answers here; nil: the store joins them
	MaxBacklog int             // rows that may wait before Room lets no more in; 500,000, each of them usualRow at most. See asideShare
	Log        *slog.Logger

	// Failed is told of every failed attempt and how many there have been in a row, and of nil and 0 once the store takes
	// rows again. It must not block.
	Failed func(err error, times int)
	// Reason says in words for clients why the store fails. The store's own words are for the log.
	Reason func(error) string
}

func (o *MoverOptions) fill() {
	if o.Rows == 0 {
		o.Rows = 50_000
	}
	if o.Delay == 0 {
		o.Delay = 200 * time.Millisecond
	}
	if o.MaxBacklog == 0 {
		o.MaxBacklog = 500_000
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Failed == nil {
		o.Failed = func(error, int) {}
	}
	if o.Reason == nil {
		o.Reason = func(error) string { return "the row store cannot write" }
	}
}

const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second

	// Stuck is the number of failed attempts in a row, a second and a half of them, after which the store counts as
	// failing: queries no longer wait for rows that it cannot take, and senders no longer wait for room.
	Stuck = 5
)

// Mover carries records into a Store, in order, each once. Small commits are dear, so it waits a little and moves many
// at a time; a query makes it move at once.
type Mover struct {
	store Appender
	opt   MoverOptions
	wake  chan struct{} // something has changed that Run may wait for; holds one

	mu       sync.Mutex
	queue    []waiting
	held     held                            // small batches of records that have been moved otherwise
	begun    []waiting                       // records of which a part has been moved, see Divided
	lastMove belfry.Position                 // position of the last record that has been moved, as a whole or but for what is held
	rows     int                             // in the queue and on the way
	load     int                             // the same, weighed
	loads    map[belfry.CustomerID]int       // the same, of those who have any
	littles  int                             // the sum of those of loads that are little
	records  int                             // how many records are in the queue and on the way
	added    belfry.Position                 // position of the last record added
	moved    belfry.Position                 // every record up to here is in the store
	last     map[rowsOf]belfry.Position      // position of the last record with such rows
	named    belfry.Position                 // names of items up to here are in the store; above moved only while it fails
	nameless bool                            // the last names could not be stored either
	wanted   belfry.Position                 // a query waits for this position
	asked    map[belfry.CustomerID]time.Time // when a query of the customer last had to wait
	oldest   time.Time                       // when the first in the queue was added
	failures int                             // in a row
	failure  error                           // the last of them
	since    time.Time                       // the first of them
	faults   int                             // attempts that have failed since the start
	tries    int                             // attempts that have begun
	tried    int                             // attempts that have ended
	ended    time.Time                       // the last round
	took     time.Duration                   // that round
	closing  bool                            // nothing follows what is under way
	changed  chan struct{}                   // closed when moved or failures change, and replaced
}

// waiting is a record in the queue.
type waiting struct {
	pos     belfry.Position
	batches []*belfry.Batch
	rows    int
	bytes   int
	shares  []share
}

// mostAtOnce is how many bytes the store gets at once, unless a single record has more. An engine holds what it is given
// until it is in its files, and folds its log in less memory than people think.
const mostAtOnce = 16 << 20

// NewMover makes a Mover into s. It moves while Run runs.
func NewMover(s Appender, o MoverOptions) *Mover {
	o.fill()
	return &Mover{store: s, opt: o, wake: make(chan struct{}, 1), moved: o.After, lastMove: o.After, last: map[rowsOf]belfry.Position{}, loads: map[belfry.CustomerID]int{}, asked: map[belfry.CustomerID]time.Time{}, changed: make(chan struct{})}
}

// Add gives the Mover the next record of the journal. It does not block. The batches of the record must not change
// any more.
func (m *Mover) Add(r *belfry.Record) {
	w := waiting{pos: r.Pos, batches: r.Batches, shares: sharesOf(r.Batches)}
	for _, s := range w.shares {
		w.rows, w.bytes = w.rows+s.rows, w.bytes+s.bytes
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added = r.Pos
	for _, b := range r.Batches {
		m.last[rowsOf{b.Customer, b.Collection}] = r.Pos
	}
	if len(r.Batches) == 0 && m.records == 0 && m.held.empty() { // nothing to move, and nothing on the way
		m.moved, m.lastMove = r.Pos, r.Pos
		m.announce()
		return
	}
	if len(m.queue) == 0 {
		m.oldest = time.Now()
	}
	m.queue = append(m.queue, w)
	m.rows += w.rows
	m.weigh(&w, 1)
	m.records++
	if len(m.queue) == 1 || m.load >= m.opt.Rows {
		m.poke()
	}
}

// Run moves records until ctx ends; the round on its way is finished. Drain moves the rest.
func (m *Mover) Run(ctx context.Context) error {
	for m.wait(ctx) {
		m.round(ctx)
	}
	return nil
}

// Drain moves what is left once Run has returned, until ctx ends.
func (m *Mover) Drain(ctx context.Context) error {
	for {
		m.mu.Lock()
		left, rows := m.records, m.rows
		m.wanted = m.added // nothing is held back any more
		done := left == 0 && m.held.empty()
		m.mu.Unlock()
		if done {
			return nil
		}
		if ctx.Err() != nil {
			return belfry.Errorf(belfry.StorageUnavailable, "%d rows are still only in the journal; the next start moves them", rows)
		}
		m.round(ctx)
	}
}

// wait blocks until there is something worth moving. It gives false when ctx has ended.
func (m *Mover) wait(ctx context.Context) bool {
	for {
		if ctx.Err() != nil {
			return false
		}
		due, timer := m.due()
		if due {
			return true
		}
		select {
		case <-ctx.Done():
		case <-m.wake:
		case <-timer:
		}
	}
}

// due tells whether to move now, and otherwise when to ask again; nil is when something has changed.
func (m *Mover) due() (bool, <-chan time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 && m.held.empty() {
		return false, nil
	}
	left := m.held.left()
	if len(m.queue) > 0 {
		left = m.opt.Delay - past(m.oldest)
		if m.load >= m.opt.Rows {
			return true, nil
		}
	}
	if m.wanted > m.moved {
		left = min(left, m.rest())
	}
	if left <= 0 {
		return true, nil
	}
	return false, time.After(left)
}

// longestRest is how long a query may have to wait for the next round to begin.
const longestRest = 100 * time.Millisecond

// rest is how long the Mover does not yet hurry for a query: a quarter of what the last round took. Queries that come one after
// the other beside much that is sent would otherwise make it commit a few rows at a time, all the time.
func (m *Mover) rest() time.Duration { return min(m.took/4, longestRest) - past(m.ended) }

// past is how long ago a moment was. One that seems to come yet is over, too: times after 2157 lack the reading of the clock that nobody
// sets, and when such a clock is put right nothing may wait until it shows that time again.
func past(t time.Time) time.Duration { return time.Since(t).Abs() }

// round moves the first part of the queue, however many attempts it takes, unless ctx ends between two of them; then
// it puts it back.
func (m *Mover) round(ctx context.Context) {
	part, batches, later := m.take()
	if len(part) == 0 && len(batches) == 0 {
		return
	}
	retry := firstRetry
	start := time.Now()
	for {
		left, err := m.append(ctx, batches)
		if err == nil {
			m.rounded(start)
			later.addBegun(left)
			m.done(part, left, later)
			return
		}
		m.failed(err)
		if !m.pauseAfter(ctx, part, retry) {
			m.putBack(part)
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

// pauseAfter waits before the next attempt to store part. It returns false when ctx has ended.
func (m *Mover) pauseAfter(ctx context.Context, part []waiting, retry time.Duration) bool {
	timer := time.NewTimer(retry)
	defer timer.Stop()
	for {
		m.storeNames(ctx, part)
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-m.wake: // a query, perhaps one that only needs names
		}
	}
}

// storeNames gives the store the names of items in what waits, without the rows. A store keeps names in memory, so that
// works while its disk is full, and queries of collections of which no rows wait can be answered.
func (m *Mover) storeNames(ctx context.Context, part []waiting) {
	m.mu.Lock()
	named, last := max(m.moved, m.named), m.added
	var names []*belfry.Batch
	for _, list := range [][]waiting{part, m.queue} {
		for _, w := range list {
			for _, b := range w.batches {
				if w.pos > named && b.Collection == belfry.Dimension {
					names = append(names, b)
				}
			}
		}
	}
	m.mu.Unlock()
	if last == named {
		return
	}
	_, err := m.append(ctx, names)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nameless = err != nil; !m.nameless {
		m.named = last
	}
	m.announce()
}

// longestRound is how long a round takes at most if the rows of the store can be divided: a query waits for the round that is under
// way, and rows of one customer may belong to the files of four hundred days.
const longestRound = 100 * time.Millisecond

// append lets a commit come to its end even if ctx ends meanwhile. It returns the batches of which rows are left.
func (m *Mover) append(ctx context.Context, batches []*belfry.Batch) (left []*belfry.Batch, err error) {
	if len(batches) == 0 {
		return nil, nil
	}
	m.mu.Lock()
	m.tries++
	m.mu.Unlock()
	defer func() { m.attempted(err) }()
	ctx = context.WithoutCancel(ctx)
	if d, ok := m.store.(Divided); ok {
		start := time.Now()
		return d.AppendSome(ctx, func() bool { return time.Since(start) > longestRound }, batches...)
	}
	return nil, m.store.Append(ctx, batches...)
}

// attempted takes note of the end of an attempt.
func (m *Mover) attempted(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tried++
	if err != nil {
		m.faults++
	}
	m.announce()
}

// take removes records from the queue: all, unless so many wait that others should see progress in between. Of their
// batches, and of those that were held before, it says which to move now, and what is held afterwards.
func (m *Mover) take() (part []waiting, now []*belfry.Batch, later held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, rows, bytes := 0, 0, 0
	for n < len(m.queue) && (n == 0 || rows+m.queue[n].rows <= 4*m.opt.Rows && bytes+m.queue[n].bytes <= mostAtOnce) {
		rows, bytes = rows+m.queue[n].rows, bytes+m.queue[n].bytes
		n++
	}
	part = m.queue[:n:n]
	m.queue = m.queue[n:]
	if len(m.queue) == 0 {
		m.queue = nil // so that what has been moved can be freed
	}
	var batches []*belfry.Batch
	for _, w := range part {
		batches = append(batches, w.batches...)
	}
	now, later = m.held.part(batches, m.wanted > m.moved || m.failures > 0)
	return part, now, later
}

// rounded remembers how long a round took.
func (m *Mover) rounded(start time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = time.Now()
	m.took = m.ended.Sub(start)
}

func (m *Mover) putBack(part []waiting) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(part, m.queue...)
}

func (m *Mover) done(part []waiting, left []*belfry.Batch, later held) {
	if m.settle(part, left, later) {
		m.opt.Log.Info("rows are stored again")
		m.opt.Failed(nil, 0)
	}
}

// settle counts part as moved, but for records of which rows are left. It tells whether attempts before this one failed.
func (m *Mover) settle(part []waiting, left []*belfry.Batch, later held) (failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(part) > 0 {
		m.lastMove = part[len(part)-1].pos
	}
	begun := m.begun
	m.begun = nil
	for _, w := range append(begun, part...) {
		if slices.ContainsFunc(left, func(b *belfry.Batch) bool { return b.Pos == w.pos }) {
			m.begun = append(m.begun, w)
			continue
		}
		m.rows -= w.rows
		m.weigh(&w, -1)
	}
	m.rows += later.rows - m.held.rows // what is held still waits
	m.records -= len(part)
	m.held = later
	if m.moved = m.lastMove; !later.empty() {
		m.moved = later.from() - 1
	}
	failed = m.failures > 0
	m.failures, m.failure, m.nameless = 0, nil, false
	m.announce()
	return failed
}

func (m *Mover) failed(err error) {
	m.mu.Lock()
	if m.failures == 0 {
		m.since = time.Now()
	}
	m.failures++
	m.failure = err
	times, rows := m.failures, m.rows
	m.announce()
	m.mu.Unlock()
	if times == 1 {
		m.opt.Log.Warn("rows cannot be stored, trying again", "rows", rows, "err", err)
	}
	m.opt.Failed(err, times)
}

// unavailable is the error for who needs a store that fails. The mutex is held.
func (m *Mover) unavailable(what string) error {
	return belfry.Errorf(belfry.StorageUnavailable, "%s: %s (since %s)", what, m.opt.Reason(m.failure), belfry.At(m.since))
}

// announce wakes all who wait for a change. The mutex is held.
func (m *Mover) announce() {
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *Mover) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Closing tells that the service stops. What is under way finds as much room again, and is not held up: it is safe in the
// journal, and nothing follows it that would have to keep pace with the store.
func (m *Mover) Closing() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closing = true
	m.announce()
}

// Select answers a plan from the store, once the rows of its collection and the names of items that were added before
// the call are in it. It never answers without them: while the store fails, the error is StorageUnavailable.
func (m *Mover) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	if err := m.catchUp(ctx, p.Customer, p.Collection.Name); err != nil {
		return nil, err
	}
	var source query.Source = m.store
	if m.opt.Labels != nil {
		source = query.WithNames{Source: m.store, Labels: m.opt.Labels}
	}
	m.mu.Lock()
	before := m.faults
	m.mu.Unlock()
	rows, err := source.Select(ctx, p)
	if err != nil && ctx.Err() == nil && belfry.CodeOf(err) == belfry.Internal {
		err = m.whileFailing(ctx, before, err)
	}
	return rows, err
}

// whileFailing is the error of a query that the store could not answer, and before which it had failed to write so often. While the store cannot write it
// may be unable to open its files, too, and then the reason is the same. An attempt that is under way is waited for: what fails it may have failed the query
// first.
func (m *Mover) whileFailing(ctx context.Context, before int, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for last := m.tries; m.tried < last && m.faults == before && ctx.Err() == nil; {
		changed := m.changed
		m.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		m.mu.Lock()
	}
	if m.failures == 0 && m.faults == before {
		return err
	}
	m.opt.Log.Warn("a query cannot be answered while rows cannot be stored", "err", err)
	if m.failures == 0 { // it works again, or is about to be counted
		return belfry.Errorf(belfry.StorageUnavailable, "the query cannot be answered: %s; try again shortly", m.opt.Reason(err))
	}
	return m.unavailable("the query cannot be answered")
}

// Explain says how the store would answer a plan, if it can tell.
func (m *Mover) Explain(ctx context.Context, p *query.Plan) ([]query.Line, error) {
	if e, ok := m.store.(query.Explainer); ok {
		return e.Explain(ctx, p)
	}
	return nil, nil
}

// rowsOf are the rows of a customer in a collection.
type rowsOf struct {
	customer   belfry.CustomerID
	collection string
}

// catchUp waits until the store has the rows of the customer in the collection, and the names of its items, that were
// added before the call. It does not wait for a store that fails.
func (m *Mover) catchUp(ctx context.Context, customer belfry.CustomerID, collection string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := rowsOf{customer, collection}
	rows, names := m.last[of], m.last[rowsOf{customer, belfry.Dimension}]
	for m.lacks(of, rows) || max(m.lastMove, m.named) < names {
		if m.failures >= Stuck && (m.lacks(of, rows) || m.nameless) {
			return m.unavailable("rows of " + collection + " that were acknowledged cannot be read yet")
		}
		m.wanted = max(m.wanted, rows, names)
		m.asked[customer] = time.Now()
		m.poke()
		changed := m.changed
		m.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		m.mu.Lock()
		if err := ctx.Err(); err != nil {
			return m.outOfTime(err)
		}
	}
	return nil
}

// lacks tells whether rows of a customer in a collection, from records up to pos, are not yet in the store. The mutex is held.
func (m *Mover) lacks(of rowsOf, pos belfry.Position) bool {
	return m.lastMove < pos || m.held.has(of, pos)
}

// outOfTime is the error of a query that could not wait any longer. The mutex is held.
func (m *Mover) outOfTime(err error) error {
	if m.failures > 0 {
		return m.unavailable("rows that were acknowledged cannot be read yet")
	}
	return err
}

// Hurry moves what has been added without waiting for more.
func (m *Mover) Hurry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted = m.added
	m.poke()
}

// Position is how far the store has come: every record at or below it is durable there.
func (m *Mover) Position() belfry.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.moved
}

// Backlog is how much has been added and is not yet in the store.
func (m *Mover) Backlog() (rows, records int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows, m.records
}
