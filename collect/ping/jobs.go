package ping

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"belfry"
)

// jobKind is a kind of work outside the goroutine that sends.
type jobKind byte

const (
	lookups jobKind = iota
	stores
	jobKinds
)

// jobQueue are the jobs of one kind. Kinds have separate limits: a name server that does not answer does not delay storing.
type jobQueue struct {
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
	jobsPerCustomer = 128 // per customer
	jobsAll         = 512
	jobsShared      = jobsAll * 3 / 4
)

// allowed reports whether a customer may run another job.
func (j *jobQueue) allowed(c *customerJobs) bool {
	return c.busy < jobsPerCustomer && (j.busy < jobsShared || c.busy == 0 && j.busy < jobsAll)
}

// customer returns the jobs of a customer.
func (j *jobQueue) customer(id belfry.CustomerID) *customerJobs {
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
func (j *jobQueue) begin(c *customerJobs) {
	j.busy++
	c.busy++
}

// end ends a job, and returns the ping that is next, if one may run. Customers are served round-robin.
func (j *jobQueue) end(c *customerJobs) (*customerJobs, *ping) {
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
func (p *Pinger) work(x *ping, kind jobKind) {
	x.state = busy
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
func (p *Pinger) nextJob(j *jobQueue, c *customerJobs) (*customerJobs, *ping) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.end(c)
}

// job runs one job, unless the ping was changed or removed in between, and resumes the ping.
func (p *Pinger) job(ctx context.Context, x *ping, kind jobKind) {
	defer p.recoverPing(x, kind != stores)
	p.mu.Lock()
	spec, found, addr := x.spec, x.series, x.addr
	current := p.all[spec.resource] == x && !x.changed && ctx.Err() == nil // nothing is started while the service stops
	p.mu.Unlock()
	var err error
	if current && kind == lookups {
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
	case kind == stores:
		p.schedule(x, resting, now.Add(x.wait(now)))
	case err != nil:
		x.addr, x.asked, x.err = netip.Addr{}, x.spec.count, err
		p.work(x, stores)
	default:
		x.addr, x.resolved = addr, now
		p.schedule(x, asking, now)
	}
}

// resolve looks up the address of a name.
func (p *Pinger) resolve(ctx context.Context, name string) (netip.Addr, error) {
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

// store stores the result of a series.
func (p *Pinger) store(ctx context.Context, x *ping, s *spec, row belfry.Row) {
	for _, name := range s.objects {
		row.Object = name
		err := p.intake.Feed(ctx, belfry.Whole(s.customer), []*belfry.Row{&row}, false)
		if err != nil && ctx.Err() == nil && p.at(s.resource) == x {
			p.log.Warn("a measurement was not stored", "resource", s.resource, "err", err)
		}
	}
}

func (p *Pinger) at(id belfry.ID) *ping {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[id]
}
