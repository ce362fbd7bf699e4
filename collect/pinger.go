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
// meanwhile, a limited number for each customer and in all.
//
// All pings share one socket per family: the kernel copies every answer to every raw socket, so with a thousand sockets each
// answer would be read a thousand times.
//
//	resting ──► looking up ──► asking ◄──► awaiting ──► storing ──► resting
//
// The mutex is held for short: never while something is sent, looked up or stored. A panic costs the ping that it happens to
// one series, see contain.
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
	jobs     [pingJobKinds]pingJobs
	logged   time.Time // when the stack of a panic was last logged
	sleeping time.Time // until when run sleeps
	wake     chan struct{}
	sockets  [2]*echoSocket // of IPv4 and IPv6; nil until needed
	pace     echoPace

	ended  sync.WaitGroup // readers and jobs
	number uint16         // sequence number and buffer of requests; of run alone
	buffer []byte
}

// ping is a resource that is asked, series after series.
type ping struct {
	pingSpec
	series
	addr     netip.Addr // of the target
	resolved time.Time  // when its name was last looked up

	due   time.Time // for the next step
	sent  time.Time
	token uint64 // of the request that is awaited
	place int32  // in the queue; -1: not there

	state   pingState
	changed bool // while a job was at work: begin again
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
		all: map[belfry.ID]*ping{}, waiting: map[uint64]*ping{},
	}
	p.send = p.write
	return p
}

// set makes a resource ping as a task says, beginning soon unless it does so already.
func (p *pinger) set(t *Task) {
	spec := p.spec(t)
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
		heap.Remove(&p.queue, int(x.place))
	}
	delete(p.waiting, x.token)
	x.token = 0
}

// schedule sets when the next step of a ping is due, and in which state. The mutex is held.
func (p *pinger) schedule(x *ping, state pingState, due time.Time) {
	x.state, x.due = state, due
	if x.place >= 0 {
		heap.Fix(&p.queue, int(x.place))
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
func (p *pinger) turn(ctx context.Context) (rest time.Duration) {
	defer func() {
		if fault := recover(); fault != nil { // in the queue itself
			p.logPanic(fault, 0)
			p.rebuild()
			rest = shortestWait
		}
	}()
	for ctx.Err() == nil {
		x, rest := p.next(time.Now())
		if x == nil {
			return rest
		}
		p.advance(x)
	}
	return 0
}

// next takes the ping that has been due for longest out of the queue. When none is due it gives back none, and how long to sleep.
func (p *pinger) next(now time.Time) (x *ping, rest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.sleeping = now.Add(time.Hour)
		return nil, time.Hour
	}
	if x = p.queue[0]; x.due.After(now) {
		p.sleeping = x.due
		return nil, x.due.Sub(now)
	}
	p.sleeping = time.Time{}
	heap.Pop(&p.queue)
	return x, 0
}

// advance lets a ping that is due take its next step, and sends the request if the step is one.
func (p *pinger) advance(x *ping) {
	defer p.contain(x, true)
	r := p.step(x, time.Now())
	if r.token == 0 {
		return
	}
	if err := p.send(r); err != nil {
		p.settled(r.token, time.Now(), err)
	}
}

// step gives back the request to be sent, if there is one.
func (p *pinger) step(x *ping, now time.Time) (r echoRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[x.resource] != x || x.place >= 0 { // removed or changed since it was taken out of the queue
		return r
	}
	switch x.state {
	case pingRests:
		p.begin(x, now)
	case pingAsks:
		if delay := p.pace.book(x.customer, int(x.size), now); delay > 0 {
			p.schedule(x, pingBooked, now.Add(delay))
			return r
		}
		return p.request(x, now)
	case pingBooked:
		return p.request(x, now)
	case pingAwaits:
		p.settle(x, now, errNoEcho)
	}
	return r
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
	return echoRequest{to: x.addr, token: x.token, size: int(x.size)}
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

// settled takes what became of a request: an answer came, or the reason why none will.
func (p *pinger) settled(token uint64, at time.Time, failed error) {
	p.mu.Lock()
	x := p.waiting[token]
	p.mu.Unlock()
	if x == nil {
		return
	}
	defer p.contain(x, true)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[token] != x {
		return
	}
	if failed == nil {
		x.add(max(at.Sub(x.sent), 0))
	}
	p.settle(x, at, failed)
}

// pingQueue is a heap of pings by when they are due.
type pingQueue []*ping

func (q pingQueue) Len() int           { return len(q) }
func (q pingQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q pingQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = int32(i), int32(j)
}

func (q *pingQueue) Push(x any) { x.(*ping).place = int32(len(*q)); *q = append(*q, x.(*ping)) }

func (q *pingQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last], x.place = nil, -1
	*q = (*q)[:last]
	return x
}
