package collect

import (
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"belfry"
)

// pinger does the work of all resources that ping. One goroutine sends every request, at the time that a heap gives; one per address
// family reads the answers. A ping has no goroutine, timer or buffer of its own, so that tens of thousands of them take little
// memory. What may block, finding the address of a name and storing a series, is done by goroutines that exist only
// meanwhile, a limited number for each customer.
//
// All pings share one socket per family: the kernel copies every answer to every raw socket, so with a thousand sockets each
// answer would be read a thousand times.
//
//	resting ──► looking up ──► asking ◄──► awaiting ──► storing ──► resting
//
// The mutex is held for short: never while something is sent, looked up or stored.
type pinger struct {
	sink   func() Sink
	log    *slog.Logger
	send   func(echoRequest) error // write, unless a test has another
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

	mu       sync.Mutex
	ctx      context.Context // of run; nil before
	all      map[belfry.ID]*ping
	queue    pingQueue
	waiting  map[uint64]*ping // by the token of the request
	jobs     map[jobOf]*pingJobs
	sleeping time.Time // until when run sleeps
	wake     chan struct{}
	sockets  [2]*echoSocket // of IPv4 and IPv6; nil until needed
	pace     echoPace

	ended  sync.WaitGroup // readers and jobs
	next   uint16         // sequence number and buffer of requests; of run alone
	buffer []byte
}

// ping is a resource that is asked, series after series.
type ping struct {
	pingSpec
	series
	state    pingState
	changed  bool       // while a job was at work: begin again
	addr     netip.Addr // of the target
	resolved time.Time  // when its name was last looked up

	due   time.Time // for the next step
	place int       // in the queue; -1: not there
	token uint64    // of the request that is awaited
	sent  time.Time
}

type pingState byte

const (
	pingRests  pingState = iota // until the next series
	pingAsks                    // until the next request
	pingBooked                  // the same, and the pace allows it then
	pingAwaits                  // an answer, or the time-out
	pingBusy                    // a job looks up its name, or stores a series
)

// echoRequest is one to be sent.
type echoRequest struct {
	to    netip.Addr
	token uint64
	size  int
}

func newPinger(sink func() Sink, log *slog.Logger) *pinger {
	p := &pinger{
		sink: sink, log: log, lookup: net.DefaultResolver.LookupNetIP, wake: make(chan struct{}, 1),
		all: map[belfry.ID]*ping{}, waiting: map[uint64]*ping{}, jobs: map[jobOf]*pingJobs{},
	}
	p.send = p.write
	return p
}

// set makes a resource ping as a task says, beginning soon unless it does so already.
func (p *pinger) set(t *Task) {
	spec := newPingSpec(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[t.Resource]
	switch {
	case x == nil:
		x = &ping{place: -1}
		p.all[t.Resource] = x
	case x.pingSpec.equal(&spec):
		return
	}
	x.pingSpec, x.addr, x.resolved = spec, netip.Addr{}, time.Time{}
	if x.state == pingBusy {
		x.changed = true // the job has begun with what was before
		return
	}
	p.withdraw(x)
	p.restart(x, time.Now())
}

// restart lets the first series of a new or changed ping begin soon. The mutex is held.
func (p *pinger) restart(x *ping, now time.Time) {
	x.changed = false
	p.schedule(x, pingRests, now.Add(x.phase()%firstWithin))
}

// remove ends the ping of a resource, if there is one. With the last one the sockets go.
func (p *pinger) remove(id belfry.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[id]
	if x == nil {
		return
	}
	delete(p.all, id)
	p.withdraw(x)
	if len(p.all) == 0 {
		p.closeSockets()
		p.pace.forget()
		clear(p.jobs) // those at work keep theirs
		p.queue, p.waiting = nil, map[uint64]*ping{}
	}
}

func (p *pinger) has(id belfry.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[id] != nil
}

func (p *pinger) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

func (p *pinger) ids() (ids []belfry.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.all {
		ids = append(ids, id)
	}
	return ids
}

// withdraw takes a ping out of the queue and forgets the request that it awaits. The mutex is held.
func (p *pinger) withdraw(x *ping) {
	if x.place >= 0 {
		heap.Remove(&p.queue, x.place)
	}
	delete(p.waiting, x.token)
	x.token = 0
}

// schedule sets when the next step of a ping is due, and in which state. The mutex is held.
func (p *pinger) schedule(x *ping, state pingState, due time.Time) {
	x.state, x.due = state, due
	if x.place >= 0 {
		heap.Fix(&p.queue, x.place)
	} else {
		heap.Push(&p.queue, x)
	}
	if due.Before(p.sleeping) {
		p.sleeping = due
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// run works until ctx ends.
func (p *pinger) run(ctx context.Context) {
	p.mu.Lock()
	p.ctx = ctx
	p.mu.Unlock()
	defer p.ended.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(p.turn(ctx))
		select {
		case <-timer.C:
		case <-p.wake:
		case <-ctx.Done():
		}
	}
	p.mu.Lock()
	p.closeSockets()
	p.mu.Unlock()
}

// turn does what is due, and tells how long it is until something else will be.
func (p *pinger) turn(ctx context.Context) time.Duration {
	for ctx.Err() == nil {
		x, r, rest := p.step(time.Now())
		if x == nil {
			return rest
		}
		if r.token == 0 {
			continue
		}
		if err := p.send(r); err != nil {
			p.failed(x, r.token, err)
		}
	}
	return 0
}

// step lets the ping that has been due for longest go on. It gives it back with the request to be sent, if there is one. When none is
// due it gives back none, and how long to sleep.
func (p *pinger) step(now time.Time) (x *ping, r echoRequest, rest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.sleeping = now.Add(time.Hour)
		return nil, r, time.Hour
	}
	if x = p.queue[0]; x.due.After(now) {
		p.sleeping = x.due
		return nil, r, x.due.Sub(now)
	}
	p.sleeping = time.Time{}
	heap.Pop(&p.queue)
	switch x.state {
	case pingRests:
		p.begin(x, now)
	case pingAsks:
		if delay := p.pace.book(x.customer, x.size, now); delay > 0 {
			p.schedule(x, pingBooked, now.Add(delay))
			return x, r, 0
		}
		r = p.request(x, now)
	case pingBooked:
		r = p.request(x, now)
	case pingAwaits:
		p.settle(x, now, errNoEcho)
	}
	return x, r, 0
}

// begin begins a series. The mutex is held.
func (p *pinger) begin(x *ping, now time.Time) {
	x.series = series{}
	if x.fault != "" {
		p.work(x, pingStores)
		return
	}
	if a, err := netip.ParseAddr(x.target); err == nil {
		x.addr = a.Unmap()
	} else if x.resolved.IsZero() || now.Sub(x.resolved) >= resolveAgain {
		p.work(x, pingLookups)
		return
	}
	p.schedule(x, pingAsks, now)
}

// request notes that a request is sent. Nobody can guess its token. The mutex is held.
func (p *pinger) request(x *ping, now time.Time) echoRequest {
	var b [8]byte
	rand.Read(b[:])
	x.token = binary.BigEndian.Uint64(b[:]) | 1 // 0 is none
	x.asked++
	x.sent = now
	p.waiting[x.token] = x
	p.schedule(x, pingAwaits, now.Add(x.timeout))
	return echoRequest{to: x.addr, token: x.token, size: x.size}
}

// settle ends the request that a ping awaits: what comes next is another one, or the end of the series. The mutex is held.
func (p *pinger) settle(x *ping, now time.Time, failed error) {
	p.withdraw(x)
	if failed != nil {
		x.err = failed
	}
	if x.asked < x.pingSpec.count {
		p.schedule(x, pingAsks, now.Add(pingGap))
		return
	}
	if x.series.answered == 0 {
		x.resolved = time.Time{} // it may have moved
	}
	p.work(x, pingStores)
}

// answered takes what came back for a request.
func (p *pinger) answered(token uint64, at time.Time, failed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.waiting[token]
	if x == nil {
		return
	}
	if failed == nil {
		x.add(max(at.Sub(x.sent), 0))
	}
	p.settle(x, at, failed)
}

// failed ends a request that could not be sent.
func (p *pinger) failed(x *ping, token uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[token] == x {
		p.settle(x, time.Now(), err)
	}
}

// pingQueue is a heap of pings by when they are due.
type pingQueue []*ping

func (q pingQueue) Len() int           { return len(q) }
func (q pingQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q pingQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].place, q[j].place = i, j }
func (q *pingQueue) Push(x any)        { x.(*ping).place = len(*q); *q = append(*q, x.(*ping)) }
func (q *pingQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last], x.place = nil, -1
	*q = (*q)[:last]
	return x
}
