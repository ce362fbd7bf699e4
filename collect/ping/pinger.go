// Package ping sends ICMP echo requests to the targets of resources, and stores the times of their replies.
package ping

import (
	"container/heap"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"belfry"
	"belfry/intake"
)

// Task says what to ping, and what gets the results.
type Task struct {
	Customer belfry.CustomerID
	Resource belfry.ID
	Name     string            // of the resource
	Objects  []string          // names of the objects that get the values
	Answers  map[string]string // ip_address_fqdn, interval, timeout, count and size
}

// Pinger runs all pings. One goroutine sends every request, scheduled by a heap; one per address family reads the replies. A ping has no
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
type Pinger struct {
	log    *slog.Logger
	send   func(echoRequest) error // write, except in tests
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

	mu       sync.Mutex
	ctx      context.Context // of Run; nil before
	intake   *intake.Intake  // the same
	all      map[belfry.ID]*ping
	queue    queue
	waiting  map[uint64]*ping // by token of the request
	jobs     [jobKinds]jobQueue
	logged   time.Time // when the stack of a panic was last logged
	sleeping time.Time // when run wakes up
	wake     chan struct{}
	sockets  [2]*echoSocket // IPv4 and IPv6; nil until needed
	pace     echoPace

	ended  sync.WaitGroup // readers and jobs
	number uint16         // sequence number and buffer of requests; used by Run only
	buffer []byte
}

// ping is a resource that is pinged in series.
type ping struct {
	spec
	series
	addr     netip.Addr // of the target
	resolved time.Time  // last lookup of its name

	due       time.Time // time of the next step
	sent      time.Time
	token     uint64 // of the current request
	heapIndex int32  // index in the queue; -1: none

	state   state
	changed bool // changed while a job ran: start again
}

type state byte

const (
	resting  state = iota // until the next series
	asking                // until the next request
	paced                 // the same, with a reserved time
	awaiting              // waits for a reply or the timeout
	busy                  // a job resolves its name or stores a series
)

// echoRequest is a request to send.
type echoRequest struct {
	to    netip.Addr
	token uint64
	size  int
}

// New makes a Pinger without pings.
func New(log *slog.Logger) *Pinger {
	p := &Pinger{
		log: log, lookup: net.DefaultResolver.LookupNetIP, wake: make(chan struct{}, 1),
		all: map[belfry.ID]*ping{}, waiting: map[uint64]*ping{},
	}
	p.send = p.write
	return p
}

// Set adds or changes the ping of a resource. A new or changed one begins soon.
func (p *Pinger) Set(t Task) {
	spec := p.parse(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[t.Resource]
	switch {
	case x == nil:
		x = &ping{heapIndex: -1}
		p.all[t.Resource] = x
	case x.spec.equal(&spec):
		return
	}
	x.spec, x.addr, x.resolved = spec, netip.Addr{}, time.Time{}
	if x.state == busy {
		x.changed = true // the job has the old configuration
		return
	}
	p.cancelRequest(x)
	p.restart(x, time.Now())
}

// restart schedules the first series of a new or changed ping. The mutex is held.
func (p *Pinger) restart(x *ping, now time.Time) {
	x.changed = false
	p.schedule(x, resting, now.Add(x.phase()%firstWithin))
}

// Remove ends the ping of a resource, if there is one. The last one closes the sockets.
func (p *Pinger) Remove(id belfry.ID) {
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

// Has reports whether a resource is pinged.
func (p *Pinger) Has(id belfry.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[id] != nil
}

// Count returns the number of resources that are pinged.
func (p *Pinger) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// IDs returns the resources that are pinged.
func (p *Pinger) IDs() (ids []belfry.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.all {
		ids = append(ids, id)
	}
	return ids
}

// cancelRequest removes a ping from the queue and drops its current request. The mutex is held.
func (p *Pinger) cancelRequest(x *ping) {
	if x.heapIndex >= 0 {
		heap.Remove(&p.queue, int(x.heapIndex))
	}
	delete(p.waiting, x.token)
	x.token = 0
}

// schedule sets the state and the due time of a ping. The mutex is held.
func (p *Pinger) schedule(x *ping, state state, due time.Time) {
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
