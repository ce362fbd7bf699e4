package api

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry"
	"belfry/meta"
)

// Hub tells whoever listens what has been committed. A customer to whom somebody listens has a feed: a record waits in
// its inbox until the hub's goroutine has written it as messages, once for all listeners, each of whom reads on from
// where it is:
//
//	sequencer ─ Add ─► inbox ─ Run ─► blocks ▓▓▓▓▓▓▓▓▓▓ ◄── listener, listener, listener
//	                                  └ the oldest go when there are too many
//
// A listener has no queue of its own. One that is too slow, or comes back too late, finds that what it wants is gone, and
// is told to read everything again.
//
// Where nobody listens nothing is written. Without any feed, Add looks at one number; when the last listener of a
// customer has gone, records wait in the inbox for a while, in case it comes back.
type Hub struct {
	tree    *meta.Tree
	feeds   atomic.Int32 // how many there are
	sent    atomic.Int64 // messages, to each listener
	resyncs atomic.Int64
	wake    chan struct{}
	ended   chan struct{} // closed when streams are to end

	mu      sync.Mutex
	byOwner map[belfry.CustomerID][]*feed // one for each scope that somebody listens to
	ready   []*feed                       // with something in the inbox and somebody to read it, each once
	streams map[*listener]bool
	closed  bool
	epoch   uint64 // of the newest feed
	timing  hubTiming
	limits  hubLimits
}

// hubTiming is how often things happen. Tests have a faster one.
type hubTiming struct {
	pace   time.Duration // between two parts of a stream: what comes meanwhile goes together
	alive  time.Duration // how long a stream says nothing at most
	check  time.Duration // how often an idle stream looks whether its key still counts
	linger time.Duration // how long a feed outlives its last listener
}

// hubLimits is how much is kept. Tests have less.
type hubLimits struct {
	feed   int // bytes of messages that a feed keeps
	all    int // bytes of messages that all feeds keep together
	inbox  int // messages that wait to be written, for one customer; one record may exceed it
	linger int // the same while nobody listens
	turn   int // messages that are written for one customer while others wait
}

// NewHub makes a hub. It tells the names of the tree's items.
func NewHub(t *meta.Tree) *Hub {
	return &Hub{
		tree: t, wake: make(chan struct{}, 1), ended: make(chan struct{}), byOwner: map[belfry.CustomerID][]*feed{},
		streams: map[*listener]bool{},
		timing:  hubTiming{pace: 25 * time.Millisecond, alive: 15 * time.Second, check: 2 * time.Second, linger: time.Minute},
		limits:  hubLimits{feed: 16 << 20, all: 64 << 20, inbox: 100_000, linger: 16_384, turn: 8192},
	}
}

// changes is what a record holds for listeners of one customer. The rest of the record is not kept.
type changes struct {
	states []belfry.StateChange
	events *belfry.Batch // nil when there are none
	rows   []int         // those of events that are told, when some are not
	some   bool          // rows says which
}

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
	states := differing(r.States)
	if r.Customer == 0 { // a change of the instance may concern anybody
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

// differing leaves out the states of items that look as before: only what the rules remember has changed.
func differing(states []belfry.StateChange) []belfry.StateChange {
	same := func(c belfry.StateChange) bool { return !c.Differs }
	if !slices.ContainsFunc(states, same) {
		return states
	}
	return slices.DeleteFunc(slices.Clone(states), same)
}

// offerEach sorts changes by the customer they belong to. The mutex is held.
func (h *Hub) offerEach(states []belfry.StateChange) {
	sorted := map[belfry.CustomerID][]belfry.StateChange{}
	for i := range states {
		if n := h.tree.Node(states[i].Item); n != nil && len(h.byOwner[n.Customer]) > 0 {
			sorted[n.Customer] = append(sorted[n.Customer], states[i])
		}
	}
	for c, list := range sorted {
		h.offer(c, changes{states: list})
	}
}

// offer puts changes into the inboxes of a customer, if it has any, into each what its listeners may know. The mutex is held.
func (h *Hub) offer(c belfry.CustomerID, n changes) {
	for _, f := range slices.Clone(h.byOwner[c]) { // one of them may be dropped
		h.put(f, h.visible(f.scope, n))
	}
}

func (h *Hub) put(f *feed, n changes) {
	size := n.size()
	switch {
	case size == 0:
		return
	case f.listeners == 0 && f.waiting+size > h.limits.linger:
		h.drop(f)
		return
	case f.waiting > h.limits.inbox:
		f.inbox, f.waiting = nil, 0 // their numbers are missing, which everybody notices
	}
	f.inbox, f.waiting, f.end = append(f.inbox, n), f.waiting+size, f.end+uint64(size)
	h.announce(f)
}

// announce gives a feed its turn. The mutex is held.
func (h *Hub) announce(f *feed) {
	if f.queued || f.listeners == 0 || len(f.inbox) == 0 {
		return
	}
	f.queued = true
	h.ready = append(h.ready, f)
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run writes messages until ctx ends.
func (h *Hub) Run(ctx context.Context) error {
	sweep := time.NewTicker(max(h.timing.linger/10, time.Millisecond))
	defer sweep.Stop()
	w := newWriter(h.tree)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sweep.C:
			h.sweep(time.Now())
		case <-h.wake:
			for f, inbox, first := h.take(); f != nil && ctx.Err() == nil; f, inbox, first = h.take() {
				w.write(f, inbox, first, h.share())
				h.done(f)
			}
		}
	}
}

// take gives the feed whose turn it is, with the oldest part of its inbox and the number of its first message; nil when
// there is none.
func (h *Hub) take() (f *feed, inbox []changes, first uint64) {
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

// done puts a feed that has more behind the others.
func (h *Hub) done(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.busy = false
	h.announce(f)
}

// share is how many bytes of messages a feed keeps.
func (h *Hub) share() int { return min(h.limits.feed, h.limits.all/max(1, int(h.feeds.Load()))) }

// sweep drops the feeds that nobody has come back to.
func (h *Hub) sweep(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, all := range h.byOwner {
		for _, f := range slices.Clone(all) {
			if f.listeners == 0 && now.Sub(f.left) >= h.timing.linger {
				h.drop(f)
			}
		}
	}
}

// drop forgets a feed. The mutex is held.
func (h *Hub) drop(f *feed) {
	c := f.scope.Customer
	if h.byOwner[c] = slices.DeleteFunc(h.byOwner[c], func(o *feed) bool { return o == f }); len(h.byOwner[c]) == 0 {
		delete(h.byOwner, c)
	}
	h.feeds.Add(-1)
}

// listen begins to listen to what happens in a scope. Whatever is committed from now on is told. When streams are to end,
// cut is called for those that hang.
func (h *Hub) listen(s belfry.Scope, l *Limits, cut func()) (*listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, streams := h.feedOf(s)
	reserve, few := reserved(l.AllStreams)
	switch {
	case h.closed:
		return nil, belfry.Errorf(belfry.Overloaded, "the server is stopping; try again in a moment")
	case streams >= l.Streams:
		return nil, belfry.Errorf(belfry.RateLimited, "%d streams are open, as many as a customer may have; end one, or let several users share one", l.Streams)
	case len(h.streams) >= l.AllStreams && (streams >= few || len(h.streams) >= l.AllStreams+reserve):
		return nil, belfry.Errorf(belfry.Overloaded, "as many streams are open as the service can serve; try again later")
	}
	if f == nil {
		h.epoch = max(h.epoch+1, uint64(belfry.At(time.Now())))
		f = &feed{scope: s, epoch: h.epoch, next: 1, end: 1}
		h.byOwner[s.Customer] = append(h.byOwner[s.Customer], f)
		h.feeds.Add(1)
	}
	f.listeners++
	h.announce(f) // it may have waited for somebody
	joined := &listener{hub: h, feed: f, kinds: allMessages, at: f.end, came: f.end, cut: cut}
	h.streams[joined] = true
	return joined, nil
}

// leave ends it.
func (l *listener) leave() {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, l)
	if l.feed.listeners--; l.feed.listeners == 0 {
		l.feed.left = time.Now()
	}
}

// settled tells whether all that was committed before is written.
func (l *listener) settled() bool {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return len(l.feed.inbox) == 0 && !l.feed.busy
}

// Close ends all streams, and lets no further ones begin.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	close(h.ended)
	for l := range h.streams { // none of them leaves before this is over
		l.cut()
	}
}

func (h *Hub) register(reg prometheus.Registerer) {
	if reg == nil || h == nil {
		return
	}
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "belfry_streams", Help: "Streams that are open."}, func() float64 {
			h.mu.Lock()
			defer h.mu.Unlock()
			return float64(len(h.streams))
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "belfry_stream_messages_total", Help: "Messages that were sent on streams, to each client."},
			func() float64 { return float64(h.sent.Load()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "belfry_stream_resyncs_total", Help: "Times a client of a stream was told that it missed something."},
			func() float64 { return float64(h.resyncs.Load()) }),
	)
}
