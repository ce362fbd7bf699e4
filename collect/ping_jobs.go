package collect

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"belfry"
)

// pingJobKind is what is done outside of the goroutine that sends.
type pingJobKind byte

const (
	pingLookups pingJobKind = iota
	pingStores
	pingJobKinds
)

// pingJobs are the jobs of one kind. Each kind has its own limits: a name server that does not answer delays no series that is to be stored.
type pingJobs struct {
	busy int // goroutines at work
	of   map[belfry.CustomerID]*customerJobs
	turn []*customerJobs // customers whose pings wait, the one that is next first
}

// customerJobs are those of one customer.
type customerJobs struct {
	customer belfry.CustomerID
	busy     int
	waiting  []*ping
}

// How many jobs of a kind there are at the same time. Series that are stored together are committed with one fsync. The last
// quarter of the jobs goes to customers who have none at work, so that a few with much to do leave room for the others.
const (
	pingJobsMost   = 128 // of a customer
	pingJobsAll    = 512
	pingJobsShared = pingJobsAll * 3 / 4
)

// may tells whether a customer may have one more job at work.
func (j *pingJobs) may(c *customerJobs) bool {
	return c.busy < pingJobsMost && (j.busy < pingJobsShared || c.busy == 0 && j.busy < pingJobsAll)
}

// customer gives the jobs of one.
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

// end counts that a job has ended, and gives back the ping that is next, if one may be. Customers have their turns one after the other.
func (j *pingJobs) end(c *customerJobs) (*customerJobs, *ping) {
	j.busy--
	c.busy--
	if c.busy == 0 && len(c.waiting) == 0 {
		delete(j.of, c.customer)
	}
	i := slices.IndexFunc(j.turn, j.may)
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

// work gives a ping to a job, now or when one ends. The mutex is held.
func (p *pinger) work(x *ping, kind pingJobKind) {
	x.state = pingBusy
	j := &p.jobs[kind]
	c := j.customer(x.customer)
	if !j.may(c) {
		if c.waiting = append(c.waiting, x); len(c.waiting) == 1 {
			j.turn = append(j.turn, c)
		}
		return
	}
	j.begin(c)
	ctx := p.ctx
	p.ended.Go(func() {
		for x := x; x != nil; c, x = p.following(j, c) {
			p.job(ctx, x, kind)
		}
	})
}

// following ends a job, and takes the ping that is next.
func (p *pinger) following(j *pingJobs, c *customerJobs) (*customerJobs, *ping) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.end(c)
}

// job does one job, unless the ping was changed or removed meanwhile, and lets the ping go on.
func (p *pinger) job(ctx context.Context, x *ping, kind pingJobKind) {
	defer p.contain(x, kind != pingStores)
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
