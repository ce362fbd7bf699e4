// Package live distributes committed changes of status and events to listeners, as server-sent events.
//
// A customer has a feed for each scope with listeners. A record waits in the inbox of its feed until the hub's goroutine has written it as
// messages, once for all listeners, each of which reads on from its own position:
//
//	sequencer ─ Add ─► inbox ─ Run ─► blocks ▓▓▓▓▓▓▓▓▓▓ ◄── listener, listener, listener
//	                                  └ the oldest are dropped when there are too many
//
// A listener has no queue of its own. If it is too slow, or resumes too late, what it wants is gone, and it gets a resync:
// the client has to read everything again.
//
// Nothing is written for a feed without listeners: after the last one has left, records wait in the inbox for a while, in case it
// comes back, and then the feed is dropped. Without any feed, Add costs one atomic load.
package live

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/api/limit"
	"belfry/meta"
)

// Hub distributes committed records to listeners.
type Hub struct {
	Timing Timing // set before Run; tests have a faster one

	tree    *meta.Tree
	log     *slog.Logger
	feeds   atomic.Int32 // how many there are
	sent    atomic.Int64 // messages, to each listener
	resyncs atomic.Int64
	wake    chan struct{}
	ctx     context.Context // ends when streams are to end
	end     context.CancelFunc

	mu         sync.Mutex
	byCustomer map[belfry.CustomerID][]*feed // one for each scope that has listeners
	ready      []*feed                       // with listeners and something in the inbox, each once
	listeners  int
	epoch      uint64    // of the newest feed
	panicked   time.Time // when the last panic was logged
	limits     limits
}

// Timing is how often things happen.
type Timing struct {
	Gather time.Duration // between two parts of a stream: changes in between are sent together
	Alive  time.Duration // longest silence of a stream
	Check  time.Duration // how often an idle stream checks that its key is still valid
	Keep   time.Duration // how long a feed outlives its last listener
}

// limits is how much is kept. Tests have less.
type limits struct {
	feed     int // bytes of messages that a feed keeps
	all      int // bytes of messages that all feeds keep together
	inbox    int // messages that wait to be written, for one customer; one record may exceed it
	deserted int // the same without listeners
	turn     int // messages that are written for one customer while others wait
}

// NewHub returns a hub for changes of the items in a tree.
func NewHub(t *meta.Tree, log *slog.Logger) *Hub {
	h := &Hub{
		tree: t, log: log, wake: make(chan struct{}, 1), byCustomer: map[belfry.CustomerID][]*feed{},
		Timing: Timing{Gather: 25 * time.Millisecond, Alive: 15 * time.Second, Check: 2 * time.Second, Keep: time.Minute},
		limits: limits{feed: 16 << 20, all: 64 << 20, inbox: 100_000, deserted: 16_384, turn: 8192},
	}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// changes is what a record holds for listeners of one customer. The rest of the record is not kept.
type changes struct {
	states []belfry.StateChange
	events *belfry.Batch // nil when there are none
	rows   []int         // of events, when only some are sent
	some   bool          // rows says which
}

// size is the number of messages.
func (n *changes) size() int {
	switch {
	case n.events == nil:
		return len(n.states)
	case n.some:
		return len(n.states) + len(n.rows)
	}
	return len(n.states) + n.events.Len()
}

// Add takes a committed record that the tree has applied. It is called by the goroutine that applies records, in their
// order, and does not block.
func (h *Hub) Add(r *belfry.Record) {
	if h.feeds.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() {
		if fault := recover(); fault != nil {
			h.restart(fault)
		}
	}()
	states := differing(r.States)
	if r.Customer == 0 { // a change of the instance may concern any customer
		h.offerEach(states)
		states = nil
	}
	for _, b := range r.Batches {
		if b.Collection != belfry.Events {
			continue
		}
		if b.Customer == r.Customer {
			h.offer(b.Customer, changes{states: states, events: b})
			states = nil
		} else {
			h.offer(b.Customer, changes{events: b})
		}
	}
	h.offer(r.Customer, changes{states: states})
}

// differing omits states that show no difference: only what the rules remember has changed.
func differing(states []belfry.StateChange) []belfry.StateChange {
	same := func(c belfry.StateChange) bool { return !c.Differs }
	if !slices.ContainsFunc(states, same) {
		return states
	}
	return slices.DeleteFunc(slices.Clone(states), same)
}

// offerEach offers each customer its own changes. The mutex is held.
func (h *Hub) offerEach(states []belfry.StateChange) {
	sorted := map[belfry.CustomerID][]belfry.StateChange{}
	for i := range states {
		if n := h.tree.Node(states[i].Item); n != nil && len(h.byCustomer[n.Customer]) > 0 {
			sorted[n.Customer] = append(sorted[n.Customer], states[i])
		}
	}
	for c, list := range sorted {
		h.offer(c, changes{states: list})
	}
}

// offer puts changes into the inboxes of a customer, into each those that its scope may see. The mutex is held.
func (h *Hub) offer(c belfry.CustomerID, n changes) {
	for _, f := range slices.Clone(h.byCustomer[c]) { // one of them may be dropped
		h.put(f, h.visible(f.scope, n))
	}
}

// put adds changes to an inbox. The mutex is held.
func (h *Hub) put(f *feed, n changes) {
	size := n.size()
	switch {
	case size == 0:
		return
	case f.listeners == 0 && f.waiting+size > h.limits.deserted:
		h.drop(f)
		return
	case f.waiting > h.limits.inbox:
		f.inbox, f.waiting = nil, 0 // every listener notices the gap in the numbers
	}
	f.inbox, f.waiting, f.end = append(f.inbox, n), f.waiting+size, f.end+uint64(size)
	h.announce(f)
}

// announce queues a feed to be written. The mutex is held.
func (h *Hub) announce(f *feed) {
	if f.queued || f.listeners == 0 || len(f.inbox) == 0 {
		return
	}
	f.queued = true
	h.ready = append(h.ready, f)
	h.signal()
}

// signal wakes Run.
func (h *Hub) signal() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// restart is called after a panic where records become messages, which must not end the service: the records are committed. All feeds
// continue behind a gap in their numbers, so every listener gets a resync. The mutex is held.
func (h *Hub) restart(fault any) {
	if now := time.Now(); h.panicked.IsZero() || now.Sub(h.panicked) >= time.Minute { // every record may have it
		h.panicked = now
		h.log.Error("panic in the streams, all clients get a resync", "fault", fault, "stack", string(debug.Stack()))
	}
	h.ready = nil
	for _, all := range h.byCustomer {
		for _, f := range all {
			f.inbox, f.waiting, f.end = nil, 0, f.end+1
			f.queued = true
			h.ready = append(h.ready, f)
		}
	}
	h.signal()
}

// Run writes messages until ctx ends.
func (h *Hub) Run(ctx context.Context) error {
	idle := time.NewTicker(max(h.Timing.Keep/10, time.Millisecond))
	defer idle.Stop()
	w := newWriter(h.tree)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-idle.C:
			h.dropIdle(time.Now())
		case <-h.wake:
			if !h.writeWaiting(ctx, w) {
				w = newWriter(h.tree)
			}
		}
	}
}

// writeWaiting writes what waits. After a panic it returns false, and the writer must not be used any more.
func (h *Hub) writeWaiting(ctx context.Context, w *writer) (ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.restart(fault)
		}
	}()
	for f, inbox, first := h.next(); f != nil && ctx.Err() == nil; f, inbox, first = h.next() {
		w.write(f, inbox, first, h.share())
		h.done(f)
	}
	return true
}

// next returns the feed that is to be written next, with the oldest part of its inbox and the number of its first message;
// nil when there is none.
func (h *Hub) next() (f *feed, inbox []changes, first uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ready) == 0 {
		return nil, nil, 0
	}
	f = h.ready[0]
	h.ready = h.ready[1:]
	n, size := 0, 0
	for n < len(f.inbox) && size < h.limits.turn {
		size += f.inbox[n].size()
		n++
	}
	inbox, f.inbox = f.inbox[:n:n], f.inbox[n:]
	if len(f.inbox) == 0 {
		f.inbox = nil
	}
	first = f.end - uint64(f.waiting)
	f.waiting -= size
	f.queued, f.busy = false, true
	return f, inbox, first
}

// done returns a feed to the queue if it has more to send.
func (h *Hub) done(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.busy = false
	h.announce(f)
}

// share is how many bytes of messages each feed keeps.
func (h *Hub) share() int { return min(h.limits.feed, h.limits.all/max(1, int(h.feeds.Load()))) }

// dropIdle drops the feeds that have been without listeners for long.
func (h *Hub) dropIdle(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.byCustomer {
		for _, f := range slices.Clone(all) {
			if f.listeners == 0 && now.Sub(f.left) >= h.Timing.Keep {
				h.drop(f)
			}
		}
	}
}

// drop removes a feed. The mutex is held.
func (h *Hub) drop(f *feed) {
	c := f.scope.Customer
	if h.byCustomer[c] = slices.DeleteFunc(h.byCustomer[c], func(o *feed) bool { return o == f }); len(h.byCustomer[c]) == 0 {
		delete(h.byCustomer, c)
	}
	h.feeds.Add(-1)
}

// Listen returns a listener to changes in a scope, from now on. It is refused when the customer has as many listeners as
// each may have, or all customers together as many as all may have.
func (h *Hub) Listen(s belfry.Scope, kinds Kind, each, all int) (*Listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, streams := h.feedOf(s)
	reserve, few := limit.Reserved(all)
	switch {
	case h.ctx.Err() != nil:
		return nil, belfry.Errorf(belfry.Overloaded, "the server is stopping; try again in a moment")
	case streams >= each:
		return nil, belfry.Errorf(belfry.RateLimited, "%d streams are open, as many as a customer may have; end one, or let several users share one", each)
	case h.listeners >= all && (streams >= few || h.listeners >= all+reserve):
		return nil, belfry.Errorf(belfry.Overloaded, "as many streams are open as the service can serve; try again later")
	}
	if f == nil {
		h.epoch = max(h.epoch+1, uint64(belfry.At(time.Now())))
		f = &feed{scope: s, epoch: h.epoch, next: 1, end: 1}
		h.byCustomer[s.Customer] = append(h.byCustomer[s.Customer], f)
		h.feeds.Add(1)
	}
	f.listeners++
	h.listeners++
	h.announce(f) // changes may have waited for a listener
	return &Listener{hub: h, feed: f, kinds: kinds, at: f.end, first: f.end}, nil
}

// Close ends the listener.
func (l *Listener) Close() {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners--
	if l.feed.listeners--; l.feed.listeners == 0 {
		l.feed.left = time.Now()
	}
}

// CaughtUp reports whether the listener has read everything that was committed before.
func (l *Listener) CaughtUp() bool { return l.written() && l.atEnd() }

// written reports whether everything that was committed before is in the feed.
func (l *Listener) written() bool {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return len(l.feed.inbox) == 0 && !l.feed.busy
}

// Close ends all streams; no further ones may begin.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end()
}

// Context ends when streams are to end.
func (h *Hub) Context() context.Context { return h.ctx }

// Register registers the counters of the hub.
func (h *Hub) Register(reg prometheus.Registerer) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "belfry_streams", Help: "Open streams."}, func() float64 {
			h.mu.Lock()
			defer h.mu.Unlock()
			return float64(h.listeners)
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "belfry_stream_messages_total", Help: "Messages sent on streams, counted per client."},
			func() float64 { return float64(h.sent.Load()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "belfry_stream_resyncs_total", Help: "Number of times a client of a stream was sent a resync because it missed messages."},
			func() float64 { return float64(h.resyncs.Load()) }),
	)
}
