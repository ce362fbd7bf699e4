package collect

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"belfry"
)

// pingJobKind is a kind of work outside the goroutine that sends.
type pingJobKind byte

const (
	pingLookups pingJobKind = iota
	pingStores
	pingJobKinds
)

// pingJobs are the jobs of one kind. Kinds have separate limits: a name server that does not answer does not delay storing.
type pingJobs struct {
	busy int // running goroutines
	of   map[belfry.CustomerID]*customerJobs
	turn []*customerJobs // customers whose pings wait, in order
}

// customerJobs are the jobs of one customer.
type customerJobs struct {
	customer belfry.CustomerID
	busy     int
	waiting  []*ping
}

// How many jobs of a kind there are at the same time. Series that are stored together are committed with one fsync. The last
// quarter of the jobs is reserved for customers with none running, so that a few busy ones do not block the others.
const (
	pingJobsPerCustomer = 128 // per customer
	pingJobsAll         = 512
	pingJobsShared      = pingJobsAll * 3 / 4
)

// allowed reports whether a customer may run another job.
func (j *pingJobs) allowed(c *customerJobs) bool {
	return c.busy < pingJobsPerCustomer && (j.busy < pingJobsShared || c.busy == 0 && j.busy < pingJobsAll)
}

// customer returns the jobs of a customer.
func (j *pingJobs) customer(id belfry.CustomerID) *customerJobs {
	c := j.of[id]
	if c == nil {
		c = &customerJobs{customer: id}
		if j.of == nil {
			j.of = map[belfry.CustomerID]*customerJobs{}
		}
		j.of[id] = c
	}
	return c
}

// begin counts a job.
func (j *pingJobs) begin(c *customerJobs) {
	j.busy++
	c.busy++
}

// end ends a job, and returns the ping that is next, if one may run. Customers are served round-robin.
func (j *pingJobs) end(c *customerJobs) (*customerJobs, *ping) {
	j.busy--
	c.busy--
	if c.busy == 0 && len(c.waiting) == 0 {
		delete(j.of, c.customer)
	}
	i := slices.IndexFunc(j.turn, j.allowed)
	if i < 0 {
		return nil, nil
	}
	next := j.turn[i]
	x := next.waiting[0]
	next.waiting[0] = nil
	next.waiting = next.waiting[1:]
	j.turn = slices.Delete(j.turn, i, i+1)
	if len(next.waiting) > 0 {
		j.turn = append(j.turn, next)
	} else {
		next.waiting = nil
	}
	j.begin(next)
	return next, x
}

// work starts a job for a ping, now or when another one ends. The mutex is held.
func (p *pinger) work(x *ping, kind pingJobKind) {
	x.state = pingBusy
	j := &p.jobs[kind]
	c := j.customer(x.customer)
	if !j.allowed(c) {
		if c.waiting = append(c.waiting, x); len(c.waiting) == 1 {
			j.turn = append(j.turn, c)
		}
		return
	}
	j.begin(c)
	ctx := p.ctx
	p.ended.Go(func() {
		for x := x; x != nil; c, x = p.nextJob(j, c) {
			p.job(ctx, x, kind)
		}
	})
}

// nextJob ends a job and returns the ping that is next.
func (p *pinger) nextJob(j *pingJobs, c *customerJobs) (*customerJobs, *ping) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.end(c)
}

// job runs one job, unless the ping was changed or removed meanwhile, and resumes the ping.
func (p *pinger) job(ctx context.Context, x *ping, kind pingJobKind) {
	defer p.recoverPing(x, kind != pingStores)
	p.mu.Lock()
	spec, found, addr := x.pingSpec, x.series, x.addr
	current := p.all[spec.resource] == x && !x.changed && ctx.Err() == nil // nothing is started while the service stops
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

// resolve looks up the address of a name.
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

// store sends the result of a series to the sink.
func (p *pinger) store(ctx context.Context, x *ping, spec *pingSpec, row belfry.Row) {
	for _, name := range spec.objects {
		row.Object = name
		if err := send(ctx, p.env.Sink, spec.customer, &row); err != nil && ctx.Err() == nil && p.at(spec.resource) == x {
			p.env.Log.Warn("a measurement was not stored", "resource", spec.resource, "err", err)
		}
	}
}

func (p *pinger) at(id belfry.ID) *ping {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[id]
}
