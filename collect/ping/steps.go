package ping

import (
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"time"

	"belfry/intake"
)

// Run pings until ctx ends.
func (p *Pinger) Run(ctx context.Context, in *intake.Intake) {
	p.mu.Lock()
	p.ctx, p.intake = ctx, in
	p.mu.Unlock()
	defer p.ended.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		timer.Reset(p.runDue(ctx))
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

// runDue runs all steps that are due, and returns the time until the next one.
func (p *Pinger) runDue(ctx context.Context) (rest time.Duration) {
	defer func() {
		if fault := recover(); fault != nil { // in the queue itself
			p.logPanic(fault, 0)
			p.rebuild()
			rest = time.Second
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

// next removes the ping that has been due for longest from the queue. If none is due it returns nil and how long to sleep.
func (p *Pinger) next(now time.Time) (x *ping, rest time.Duration) {
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

// advance runs the next step of a ping, and sends its request if there is one.
func (p *Pinger) advance(x *ping) {
	defer p.recoverPing(x, true)
	r := p.step(x, time.Now())
	if r.token == 0 {
		return
	}
	if err := p.send(r); err != nil {
		p.requestDone(r.token, time.Now(), err)
	}
}

// step returns the request to send, if there is one.
func (p *Pinger) step(x *ping, now time.Time) (r echoRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[x.resource] != x || x.heapIndex >= 0 { // removed or changed since it left the queue
		return r
	}
	switch x.state {
	case resting:
		p.begin(x, now)
	case asking:
		if delay := p.pace.reserve(x.customer, int(x.size), now); delay > 0 {
			p.schedule(x, paced, now.Add(delay))
			return r
		}
		return p.request(x, now)
	case paced:
		return p.request(x, now)
	case awaiting:
		p.finishRequest(x, now, errNoEcho)
	}
	return r
}

// begin starts a series. The mutex is held.
func (p *Pinger) begin(x *ping, now time.Time) {
	x.series = series{}
	if x.fault != "" {
		p.work(x, stores)
		return
	}
	if a, err := netip.ParseAddr(x.target); err == nil {
		x.addr = a.Unmap()
	} else if x.resolved.IsZero() || now.Sub(x.resolved) >= resolveAgain {
		p.work(x, lookups)
		return
	}
	p.schedule(x, asking, now)
}

// request makes a request with a random token. The mutex is held.
func (p *Pinger) request(x *ping, now time.Time) echoRequest {
	var b [8]byte
	rand.Read(b[:])
	x.token = binary.BigEndian.Uint64(b[:]) | 1 // 0 is none
	x.asked++
	x.sent = now
	p.waiting[x.token] = x
	p.schedule(x, awaiting, now.Add(x.timeout))
	return echoRequest{to: x.addr, token: x.token, size: int(x.size)}
}

// finishRequest ends the current request of a ping and schedules the next one, or the end of the series. The mutex is held.
func (p *Pinger) finishRequest(x *ping, now time.Time, failed error) {
	p.cancelRequest(x)
	if failed != nil {
		x.err = failed
	}
	if x.asked < x.spec.count {
		p.schedule(x, asking, now.Add(requestGap))
		return
	}
	if x.series.answered == 0 {
		x.resolved = time.Time{} // it may have moved
	}
	p.work(x, stores)
}

// requestDone handles a reply, or the reason why none will come.
func (p *Pinger) requestDone(token uint64, at time.Time, failed error) {
	p.mu.Lock()
	x := p.waiting[token]
	p.mu.Unlock()
	if x == nil {
		return
	}
	defer p.recoverPing(x, true)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[token] != x {
		return
	}
	if failed == nil {
		x.add(max(at.Sub(x.sent), 0))
	}
	p.finishRequest(x, at, failed)
}

// queue is a heap of pings by due time.
type queue []*ping

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].heapIndex, q[j].heapIndex = int32(i), int32(j)
}

func (q *queue) Push(x any) { x.(*ping).heapIndex = int32(len(*q)); *q = append(*q, x.(*ping)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last], x.heapIndex = nil, -1
	*q = (*q)[:last]
	return x
}
