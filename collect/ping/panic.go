package ping

import (
	"errors"
	"runtime/debug"
	"time"

	"belfry"
)

// ErrPanic is shown by a resource whose collector panicked, whatever it collects.
var ErrPanic = errors.New("internal error in the collector; see the service log")

// recoverPing is deferred around all work for one ping. A panic ends the current series: the objects of the resource show it,
// if report is true, and the ping continues with its next series. Other pings are not affected.
func (p *Pinger) recoverPing(x *ping, report bool) {
	fault := recover()
	if fault == nil {
		return
	}
	p.mu.Lock()
	id := x.resource
	p.mu.Unlock()
	p.logPanic(fault, id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[id] != x || p.ctx.Err() != nil {
		return
	}
	p.cancelRequest(x)
	if !report || x.changed {
		x.changed = false
		p.schedule(x, resting, time.Now().Add(pauseAfterPanic))
		return
	}
	x.series = series{asked: x.spec.count, err: ErrPanic}
	p.work(x, stores)
}

// pauseAfterPanic is the time until the next series, if the panic cannot be shown.
const pauseAfterPanic = time.Minute

// logPanic logs a panic, and its stack at most once a minute: thousands of pings may fail in the same way.
func (p *Pinger) logPanic(fault any, resource belfry.ID) {
	now := time.Now()
	p.mu.Lock()
	stack := p.logged.IsZero() || now.Sub(p.logged) >= time.Minute
	if stack {
		p.logged = now
	}
	p.mu.Unlock()
	log := p.log.With("fault", fault)
	if resource != 0 {
		log = log.With("resource", resource)
	}
	if stack {
		log = log.With("stack", string(debug.Stack()))
	}
	log.Error("panic in a ping")
}

// rebuild restores the queue after a panic in it.
func (p *Pinger) rebuild() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = nil
	clear(p.waiting)
	for _, x := range p.all {
		x.heapIndex, x.token = -1, 0
	}
	for _, x := range p.all {
		if x.state != busy {
			p.schedule(x, resting, time.Now().Add(pauseAfterPanic))
		}
	}
}

// parse parses the answers of a task, and recovers from a panic.
func (p *Pinger) parse(t Task) (s spec) {
	defer func() {
		if fault := recover(); fault != nil {
			p.logPanic(fault, t.Resource)
			s = spec{customer: t.Customer, resource: t.Resource, name: t.Name, objects: t.Objects, interval: time.Minute, fault: ErrPanic.Error()}
		}
	}()
	return newSpec(t)
}
