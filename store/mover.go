package store

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"belfry"
	"belfry/query"
)

// MoverOptions configure when the Mover moves rows. Zero fields have defaults.
type MoverOptions struct {
	Rows       int             // move as soon as this many rows wait; 50,000
	Delay      time.Duration   // move when the oldest has waited this long; 200 ms
	After      belfry.Position // the store already has every record up to here
	Names      query.ItemNames // of items, which are added to answers here; nil: the store joins them
	MaxBacklog int             // rows that may wait before Room lets no more in; 500,000, each of them normalRow at most. See reservedShare
	Log        *slog.Logger

	// Failed is called with the error of every failed attempt and the number of consecutive failures, and with nil and 0 once
	// the store accepts rows again. It must not block.
	Failed func(err error, times int)
	// Reason returns a text for clients why the store fails. The error of the store itself is for the log.
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

	// Stuck is the number of consecutive failed attempts, about a second and a half, after which the store counts as failing:
	// queries no longer wait for rows that it cannot store, and senders no longer wait for room.
	Stuck = 5
)

// Mover moves records into a Store, in order, each once. Small commits are expensive, so it waits a little and moves
// many at a time; a query makes it move at once.
type Mover struct {
	store Store
	opt   MoverOptions
	wake  chan struct{} // wakes Run after a change; capacity 1

	mu          sync.Mutex
	queue       []queued
	deferred    deferred                        // small batches of records that have otherwise been moved
	partial     []queued                        // partly moved records, see Store.Append
	lastMove    belfry.Position                 // position of the last record that has been moved, apart from deferred batches
	rows        int                             // in the queue and being moved
	load        int                             // the same, weighted
	loads       map[belfry.CustomerID]int       // the same by customer, without zeros
	smallLoad   int                             // sum of the small ones of loads
	records     int                             // number of records in the queue and being moved
	added       belfry.Position                 // position of the last record added
	moved       belfry.Position                 // every record up to here is in the store
	last        map[rowSet]belfry.Position      // position of the last record with rows of a set, at least of those that are not moved
	scanAt      int                             // how many sets last may have before those that are moved are removed
	named       belfry.Position                 // names of items up to here are in the store; above moved only while the store fails
	namesFailed bool                            // storing the names failed too
	wanted      belfry.Position                 // a query waits for this position
	queryWaits  map[belfry.CustomerID]time.Time // when a query of the customer last had to wait
	oldest      time.Time                       // when the first in the queue was added
	failures    int                             // in a row
	failure     error                           // the last of them
	since       time.Time                       // the first of them
	losses      []Loss                          // times of which rows may be missing
	faults      int                             // failed attempts since the start
	tries       int                             // attempts begun
	tried       int                             // attempts ended
	ended       time.Time                       // end of the last round
	took        time.Duration                   // its duration
	closing     bool                            // only requests in progress are left
	changed     chan struct{}                   // closed when moved or failures change, and replaced
}

// queued is a record in the queue.
type queued struct {
	pos     belfry.Position
	batches []*belfry.Batch
	rows    int
	bytes   int
	shares  []share
}

// maxRoundBytes limits the bytes passed to the store at once, unless a single record has more. An engine holds them in
// memory until they are in its files, and checkpoints its log with little memory.
const maxRoundBytes = 16 << 20

// NewMover returns a Mover into s. It moves while Run runs.
func NewMover(s Store, o MoverOptions) *Mover {
	o.fill()
	return &Mover{store: s, opt: o, wake: make(chan struct{}, 1), moved: o.After, lastMove: o.After, last: map[rowSet]belfry.Position{}, loads: map[belfry.CustomerID]int{}, queryWaits: map[belfry.CustomerID]time.Time{}, changed: make(chan struct{})}
}

// Add adds the next record of the journal. It does not block. The batches of the record must not change any more.
func (m *Mover) Add(r *belfry.Record) {
	w := queued{pos: r.Pos, batches: r.Batches, shares: sharesOf(r.Batches)}
	for _, s := range w.shares {
		w.rows, w.bytes = w.rows+s.rows, w.bytes+s.bytes
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added = r.Pos
	m.forgetMoved()
	for _, b := range r.Batches {
		m.last[rowSet{b.Customer, b.Collection}] = r.Pos
	}
	if len(r.Batches) == 0 && m.records == 0 && m.deferred.empty() { // nothing to move, and nothing being moved
		m.moved, m.lastMove = r.Pos, r.Pos
		m.announce()
		return
	}
	if len(m.queue) == 0 {
		m.oldest = time.Now()
	}
	m.queue = append(m.queue, w)
	m.rows += w.rows
	m.addLoad(&w, 1)
	m.records++
	if len(m.queue) == 1 || m.load >= m.opt.Rows {
		m.signal()
	}
}

// Run moves records until ctx ends; a round in progress is finished. Drain moves the rest.
func (m *Mover) Run(ctx context.Context) error {
	for m.wait(ctx) {
		m.round(ctx)
	}
	return nil
}

// Drain moves the remaining records after Run has returned, until ctx ends.
func (m *Mover) Drain(ctx context.Context) error {
	for {
		m.mu.Lock()
		left, rows := m.records, m.rows
		m.wanted = m.added // nothing is deferred any more
		done := left == 0 && m.deferred.empty()
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

// wait blocks until it is time to move. It returns false when ctx has ended.
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

// due reports whether to move now, and otherwise when to check again; a nil channel means after the next change.
func (m *Mover) due() (bool, <-chan time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 && m.deferred.empty() {
		return false, nil
	}
	left := m.deferred.remaining()
	if len(m.queue) > 0 {
		left = m.opt.Delay - elapsed(m.oldest)
		if m.load >= m.opt.Rows {
			return true, nil
		}
	}
	if m.wanted > m.moved {
		left = min(left, m.queryDelay())
	}
	if left <= 0 {
		return true, nil
	}
	return false, time.After(left)
}

// maxQueryDelay is the longest time that a query waits for the next round to begin.
const maxQueryDelay = 100 * time.Millisecond

// queryDelay returns how long a query still has to wait for the next round: a quarter of the duration of the last one.
// Otherwise a sequence of queries during heavy sending would cause commits of a few rows each.
func (m *Mover) queryDelay() time.Duration { return min(m.took/4, maxQueryDelay) - elapsed(m.ended) }

// elapsed returns how long ago t was. A time in the future counts as past, too: times after 2157 have no monotonic clock
// reading, and after such a clock is corrected nothing may wait until it shows that time again.
func elapsed(t time.Time) time.Duration { return time.Since(t).Abs() }

// round moves the first part of the queue, with as many attempts as needed, unless ctx ends between two of them; then it
// puts the part back.
func (m *Mover) round(ctx context.Context) {
	part, batches, later := m.dequeue()
	if len(part) == 0 && len(batches) == 0 {
		return
	}
	retry := firstRetry
	start := time.Now()
	for {
		left, err := m.append(ctx, batches)
		if err == nil {
			m.recordRound(start)
			later.addPartial(left)
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
func (m *Mover) pauseAfter(ctx context.Context, part []queued, retry time.Duration) bool {
	timer := time.NewTimer(retry)
	defer timer.Stop()
	for {
		m.storeNames(ctx, part)
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-m.wake: // a query, perhaps one that needs only names
		}
	}
}

// storeNames stores the names of items of the waiting records, without the rows. A store has names in memory, so this
// works while its disk is full, and queries of collections without waiting rows can be answered.
func (m *Mover) storeNames(ctx context.Context, part []queued) {
	m.mu.Lock()
	named, last := max(m.moved, m.named), m.added
	var names []*belfry.Batch
	for _, list := range [][]queued{part, m.queue} {
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
	if m.namesFailed = err != nil; !m.namesFailed {
		m.named = last
	}
	m.announce()
}

// maxRound limits the duration of a round if the store can divide its work: a query waits for the round in progress, and
// rows of one customer may belong to the files of four hundred days.
const maxRound = 100 * time.Millisecond

// append lets a commit finish even if ctx ends. It returns the batches with rows that are not yet stored.
func (m *Mover) append(ctx context.Context, batches []*belfry.Batch) (left []*belfry.Batch, err error) {
	if len(batches) == 0 {
		return nil, nil
	}
	m.mu.Lock()
	m.tries++
	m.mu.Unlock()
	defer func() { m.attemptEnded(err) }()
	start := time.Now()
	return m.store.Append(context.WithoutCancel(ctx), func() bool { return time.Since(start) > maxRound }, batches...)
}

// attemptEnded counts the end of an attempt.
func (m *Mover) attemptEnded(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tried++
	if err != nil {
		m.faults++
	}
	m.announce()
}

// dequeue removes records from the queue: all, or at most as much as one round may have. It divides their batches and
// the deferred ones into those to store now and those to defer.
func (m *Mover) dequeue() (part []queued, now []*belfry.Batch, later deferred) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, rows, bytes := 0, 0, 0
	for n < len(m.queue) && (n == 0 || rows+m.queue[n].rows <= 4*m.opt.Rows && bytes+m.queue[n].bytes <= maxRoundBytes) {
		rows, bytes = rows+m.queue[n].rows, bytes+m.queue[n].bytes
		n++
	}
	part = m.queue[:n:n]
	m.queue = m.queue[n:]
	if len(m.queue) == 0 {
		m.queue = nil // frees the memory of moved records
	}
	var batches []*belfry.Batch
	for _, w := range part {
		batches = append(batches, w.batches...)
	}
	now, later = m.deferred.split(batches, m.wanted > m.moved || m.failures > 0)
	return part, now, later
}

// recordRound records the duration of a round.
func (m *Mover) recordRound(start time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = time.Now()
	m.took = m.ended.Sub(start)
}

func (m *Mover) putBack(part []queued) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(part, m.queue...)
}

func (m *Mover) done(part []queued, left []*belfry.Batch, later deferred) {
	if m.countMoved(part, left, later) {
		m.opt.Log.Info("rows are stored again")
		m.opt.Failed(nil, 0)
	}
}

// countMoved counts part as moved, except records with rows that are not yet stored. It reports whether earlier attempts
// failed.
func (m *Mover) countMoved(part []queued, left []*belfry.Batch, later deferred) (failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(part) > 0 {
		m.lastMove = part[len(part)-1].pos
	}
	begun := m.partial
	m.partial = nil
	for _, w := range append(begun, part...) {
		if slices.ContainsFunc(left, func(b *belfry.Batch) bool { return b.Pos == w.pos }) {
			m.partial = append(m.partial, w)
			continue
		}
		m.rows -= w.rows
		m.addLoad(&w, -1)
	}
	m.rows += later.rows - m.deferred.rows // deferred rows still wait
	m.records -= len(part)
	m.deferred = later
	if m.moved = m.lastMove; !later.empty() {
		m.moved = later.first() - 1
	}
	failed = m.failures > 0
	m.failures, m.failure, m.namesFailed = 0, nil, false
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

// unavailable returns the error for a client while the store fails. The caller holds the mutex.
func (m *Mover) unavailable(what string) error {
	return belfry.Errorf(belfry.StorageUnavailable, "%s: %s (since %s)", what, m.opt.Reason(m.failure), belfry.At(m.since))
}

// announce wakes all goroutines that wait for a change. The caller holds the mutex.
func (m *Mover) announce() {
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *Mover) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Closing is called when the service stops. Requests in progress get as much room again and are not delayed: their rows
// are safe in the journal, and nothing follows that would have to keep pace with the store.
func (m *Mover) Closing() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closing = true
	m.announce()
}

// Select answers a plan from the store, once the rows of its collection and the names of items that were added before
// the call are in it. It never answers without them: while the store fails, the error is StorageUnavailable. A plan whose
// span touches a loss is refused, or reports the incomplete days.
func (m *Mover) Select(ctx context.Context, p *query.Plan) (rows query.Rows, err error) {
	if err := m.checkLosses(p); err != nil {
		return nil, err
	}
	if err := m.catchUp(ctx, p.Customer, p.Collection.Name); err != nil {
		return nil, err
	}
	before := m.failedAttempts()
	naming, err := query.NewNaming(ctx, p, m.opt.Names)
	for done := false; err == nil && !done; {
		rows, done, err = naming.Add(m.store.Select(ctx, naming.Plan))
	}
	if err != nil && ctx.Err() == nil && belfry.CodeOf(err) == belfry.Internal {
		err = m.failureError(ctx, before, err)
	}
	return rows, err
}

// failedAttempts returns how many attempts to store rows have failed since the start.
func (m *Mover) failedAttempts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.faults
}

// failureError returns the error of a query that the store could not answer; before is the number of failed writes
// before the query. While the store cannot write it may be unable to open its files too, and then the reason is the
// same. It waits for a write in progress: what makes that fail may have failed the query first.
func (m *Mover) failureError(ctx context.Context, before int, err error) error {
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
	if m.failures == 0 { // it works again, or the failure is not counted yet
		return belfry.Errorf(belfry.StorageUnavailable, "the query cannot be answered: %s; try again shortly", m.opt.Reason(err))
	}
	return m.unavailable("the query cannot be answered")
}

// Explain describes how the store would answer a plan.
func (m *Mover) Explain(ctx context.Context, p *query.Plan) ([]query.Line, error) {
	if err := m.checkLosses(p); err != nil {
		return nil, err
	}
	return m.store.Explain(ctx, p)
}

// rowSet identifies the rows of a customer in a collection.
type rowSet struct {
	customer   belfry.CustomerID
	collection string
}

// firstScan is the smallest value of Mover.scanAt.
const firstScan = 256

// forgetMoved removes the sets of rows that are all in the store, when many have been added since the last time. So customers that
// send no more, or are removed, take no memory. The caller holds the mutex.
func (m *Mover) forgetMoved() {
	if len(m.last) < max(m.scanAt, firstScan) {
		return
	}
	maps.DeleteFunc(m.last, func(_ rowSet, pos belfry.Position) bool { return pos <= m.moved })
	maps.DeleteFunc(m.queryWaits, func(_ belfry.CustomerID, at time.Time) bool { return elapsed(at) > queryShareFor })
	m.scanAt = 2 * len(m.last)
}

// catchUp waits until the store has the rows of the customer in the collection, and the names of its items, that were
// added before the call. It does not wait for a store that fails.
func (m *Mover) catchUp(ctx context.Context, customer belfry.CustomerID, collection string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := rowSet{customer, collection}
	rows, names := m.last[of], m.last[rowSet{customer, belfry.Dimension}]
	for m.missing(of, rows) || max(m.lastMove, m.named) < names {
		if m.failures >= Stuck && (m.missing(of, rows) || m.namesFailed) {
			return m.unavailable("rows of " + collection + " that were acknowledged cannot be read yet")
		}
		m.wanted = max(m.wanted, rows, names)
		m.queryWaits[customer] = time.Now()
		m.signal()
		changed := m.changed
		m.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		m.mu.Lock()
		if err := ctx.Err(); err != nil {
			return m.timeoutError(err)
		}
	}
	return nil
}

// missing reports whether rows of a customer in a collection, from records up to pos, are not yet in the store. The
// caller holds the mutex.
func (m *Mover) missing(of rowSet, pos belfry.Position) bool {
	return m.lastMove < pos || m.deferred.has(of, pos)
}

// timeoutError returns the error of a query whose context has ended. The caller holds the mutex.
func (m *Mover) timeoutError(err error) error {
	if m.failures > 0 {
		return m.unavailable("rows that were acknowledged cannot be read yet")
	}
	return err
}

// Flush moves what has been added without waiting for more.
func (m *Mover) Flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted = m.added
	m.signal()
}

// Position returns how far the store has come: every record at or below it is durable there.
func (m *Mover) Position() belfry.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.moved
}

// Backlog returns how much has been added and is not yet in the store.
func (m *Mover) Backlog() (rows, records int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows, m.records
}
