package collect

import (
	"container/heap"
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"belfry"
)

// pinger runs all pings. One goroutine sends every request, scheduled by a heap; one per address family reads the replies. A ping has no
// separate goroutine, timer or buffer, so tens of thousands of them need little memory. What may block, resolving a name and
// storing a series, runs in goroutines that are limited per customer and in total.
//
// All pings share one socket per family: the kernel copies every reply to every raw socket, so with a thousand sockets each
// reply would be read a thousand times.
//
//	resting ──► looking up ──► asking ◄──► awaiting ──► storing ──► resting
//
// The mutex is never held while a request is sent, a name is resolved or a series is stored. A panic costs the affected ping one
// series, see recoverPing.
type pinger struct {
	env    *Env
	send   func(echoRequest) error // write, except in tests
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

	mu       sync.Mutex
	ctx      context.Context // of run; nil before
	all      map[belfry.ID]*ping
	queue    pingQueue
	waiting  map[uint64]*ping // by token of the request
	jobs     [pingJobKinds]pingJobs
	logged   time.Time // when the stack of a panic was last logged
	sleeping time.Time // when run wakes up
	wake     chan struct{}
	sockets  [2]*echoSocket // IPv4 and IPv6; nil until needed
	pace     echoPace

	ended  sync.WaitGroup // readers and jobs
	number uint16         // sequence number and buffer of requests; used by run only
	buffer []byte
}

// ping is a resource that is pinged in series.
type ping struct {
	pingSpec
	series
	addr     netip.Addr // of the target
	resolved time.Time  // last lookup of its name

	due       time.Time // time of the next step
	sent      time.Time
	token     uint64 // of the current request
	heapIndex int32  // index in the queue; -1: none

	state   pingState
	changed bool // changed while a job ran: start again
}

type pingState byte

const (
	pingRests  pingState = iota // until the next series
	pingAsks                    // until the next request
	pingBooked                  // the same, with a reserved time
	pingAwaits                  // waits for a reply or the timeout
	pingBusy                    // a job resolves its name or stores a series
)

// echoRequest is a request to send.
type echoRequest struct {
	to    netip.Addr
	token uint64
	size  int
}

func newPinger(e *Env) *pinger {
	p := &pinger{
		env: e, lookup: net.DefaultResolver.LookupNetIP, wake: make(chan struct{}, 1),
		all: map[belfry.ID]*ping{}, waiting: map[uint64]*ping{},
	}
	p.send = p.write
	return p
}

// set adds or changes the ping of a resource. A new or changed one begins soon.
func (p *pinger) set(t *Task) {
	spec := p.spec(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[t.Resource]
	switch {
	case x == nil:
		x = &ping{heapIndex: -1}
		p.all[t.Resource] = x
	case x.pingSpec.equal(&spec):
		return
	}
	x.pingSpec, x.addr, x.resolved = spec, netip.Addr{}, time.Time{}
	if x.state == pingBusy {
		x.changed = true // the job has the old configuration
		return
	}
	p.cancelRequest(x)
	p.restart(x, time.Now())
}

// restart schedules the first series of a new or changed ping. The mutex is held.
func (p *pinger) restart(x *ping, now time.Time) {
	x.changed = false
	p.schedule(x, pingRests, now.Add(x.phase()%firstWithin))
}

// remove ends the ping of a resource, if there is one. The last one closes the sockets.
func (p *pinger) remove(id belfry.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[id]
	if x == nil {
		return
	}
	delete(p.all, id)
	p.cancelRequest(x)
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

// cancelRequest removes a ping from the queue and drops its current request. The mutex is held.
func (p *pinger) cancelRequest(x *ping) {
	if x.heapIndex >= 0 {
		heap.Remove(&p.queue, int(x.heapIndex))
	}
	delete(p.waiting, x.token)
	x.token = 0
}

// schedule sets the state and the due time of a ping. The mutex is held.
func (p *pinger) schedule(x *ping, state pingState, due time.Time) {
	x.state, x.due = state, due
	if x.heapIndex >= 0 {
		heap.Fix(&p.queue, int(x.heapIndex))
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
