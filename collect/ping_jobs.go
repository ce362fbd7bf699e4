package collect

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"belfry"
)

// pingJobKind is what is done outside of the goroutine that sends.
type pingJobKind byte

const (
	pingLookups pingJobKind = iota
	pingStores
)

// jobOf is a kind of job of a customer. Each has its own limit: a name server that does not answer delays no series that is to be
// stored, and one customer delays no other.
type jobOf struct {
	customer belfry.CustomerID
	kind     pingJobKind
}

// pingJobs are those of one kind and customer.
type pingJobs struct {
	busy    int
	waiting []*ping
}

// pingJobsMost is how many jobs of a kind a customer has at the same time. Series that are stored together are committed with one fsync.
const pingJobsMost = 128

// work gives a ping to a job, now or when one of its customer ends. The mutex is held.
func (p *pinger) work(x *ping, kind pingJobKind) {
	x.state = pingBusy
	key := jobOf{x.customer, kind}
	j := p.jobs[key]
	if j == nil {
		j = &pingJobs{}
		p.jobs[key] = j
	}
	if j.busy == pingJobsMost {
		j.waiting = append(j.waiting, x)
		return
	}
	j.busy++
	ctx := p.ctx
	p.ended.Go(func() {
		for x := x; x != nil; x = p.following(j) {
			p.job(ctx, x, kind)
		}
	})
}

// following takes the next ping of a queue of jobs, or ends this goroutine's part in it.
func (p *pinger) following(j *pingJobs) *ping {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(j.waiting) == 0 {
		j.busy--
		j.waiting = nil
		return nil
	}
	x := j.waiting[0]
	j.waiting[0] = nil
	j.waiting = j.waiting[1:]
	return x
}

// job does one job, unless the ping was changed or removed meanwhile, and lets the ping go on.
func (p *pinger) job(ctx context.Context, x *ping, kind pingJobKind) {
	p.mu.Lock()
	spec, found, addr := x.pingSpec, x.series, x.addr
	current := p.all[spec.resource] == x && !x.changed && ctx.Err() == nil // at the end of the service nothing more is begun
	p.mu.Unlock()
	var err error
	if current && kind == pingLookups {
		addr, err = p.resolve(ctx, spec.target)
	} else if current {
		p.store(ctx, x, &spec, spec.row(&found, addr))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch {
	case p.all[spec.resource] != x || ctx.Err() != nil:
	case x.changed:
		p.restart(x, now)
	case kind == pingStores:
		p.schedule(x, pingRests, now.Add(x.wait(now)))
	case err != nil:
		x.addr, x.asked, x.err = netip.Addr{}, x.pingSpec.count, err
		p.work(x, pingStores)
	default:
		x.addr, x.resolved = addr, now
		p.schedule(x, pingAsks, now)
	}
}

// resolve finds the address of a name.
func (p *pinger) resolve(ctx context.Context, name string) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all, err := p.lookup(ctx, "ip", name)
	if err != nil {
		return netip.Addr{}, &unresolved{name, err}
	}
	if len(all) == 0 {
		return netip.Addr{}, &unresolved{name, errors.New("it has no address")}
	}
	return all[0].Unmap(), nil
}

// store hands what a series has found to the sink.
func (p *pinger) store(ctx context.Context, x *ping, spec *pingSpec, row belfry.Row) {
	for _, name := range spec.objects {
		row.Object = name
		if err := send(ctx, p.sink(), spec.customer, &row); err != nil && ctx.Err() == nil && p.at(spec.resource) == x {
			p.log.Warn("a measurement was not stored", "resource", spec.resource, "err", err)
		}
	}
}

func (p *pinger) at(id belfry.ID) *ping {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[id]
}
