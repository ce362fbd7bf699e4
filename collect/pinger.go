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
	env    *Env
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

func newPinger(e *Env) *pinger {
	p := &pinger{
		env: e, lookup: net.DefaultResolver.LookupNetIP, wake: make(chan struct{}, 1),
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
