package collect

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net"
	"net/netip"
	"strconv"
	"time"

	"belfry"
	"belfry/catalog"
)

// ping asks one address, series after series, whether it answers.
type ping struct {
	env      *Env
	task     Task
	target   string
	interval time.Duration
	timeout  time.Duration
	count    int
	size     int

	addr     netip.Addr // of the target
	resolved time.Time
}

func newPing(e *Env, t Task) (Collector, error) {
	p := &ping{env: e, task: t, target: t.Answers["ip_address_fqdn"]}
	interval, err := catalog.AnsweredDuration(t.Answers["interval"])
	if err != nil {
		return nil, err
	}
	timeout, err := catalog.AnsweredDuration(t.Answers["timeout"])
	if err != nil {
		return nil, err
	}
	p.interval, p.timeout = interval.Std(), timeout.Std()
	if p.count, err = strconv.Atoi(t.Answers["count"]); err != nil {
		return nil, fmt.Errorf("count: %w", err)
	}
	if p.size, err = strconv.Atoi(t.Answers["size"]); err != nil {
		return nil, fmt.Errorf("size: %w", err)
	}
	return p, nil
}

// checkPing refuses series that would not be over before the next one begins.
func checkPing(answers map[string]string) (column string, err error) {
	interval, err := catalog.AnsweredDuration(answers["interval"])
	if err != nil {
		return "interval", err
	}
	timeout, err := catalog.AnsweredDuration(answers["timeout"])
	if err != nil {
		return "timeout", err
	}
	count, err := strconv.Atoi(answers["count"])
	if err != nil {
		return "count", err
	}
	if longest := time.Duration(count) * (timeout.Std() + pingGap); longest > interval.Std() {
		return "interval", fmt.Errorf("interval is %s, but %d requests of %s each may take %s; choose a longer interval, or fewer or shorter requests",
			answers["interval"], count, answers["timeout"], longest)
	}
	return "", nil
}

const (
	pingGap      = 50 * time.Millisecond // between the answer to a request and the next one
	pingTogether = 100 * time.Millisecond
	firstWithin  = time.Second // the first series of a new resource
	resolveAgain = time.Minute
)

// Run sends a first series soon and then one each interval. When in the interval follows from the resource, so that
// thousands of them do not all send at once, and a restart changes nothing.
func (p *ping) Run(ctx context.Context, _ <-chan Task) error {
	leave := p.env.pings.enter()
	defer leave()
	wait := p.phase() % firstWithin
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		if err := p.series(ctx); err != nil {
			return err
		}
		wait = p.wait(time.Now())
	}
}

// wait is how long it is to the next series; the first two are never close together.
func (p *ping) wait(now time.Time) time.Duration {
	next := now.Truncate(p.interval).Add(p.phase())
	for next.Sub(now) < p.interval/2 {
		next = next.Add(p.interval)
	}
	return next.Sub(now)
}

// phase is where in the interval the series of this resource begin. Those that begin within the same moment go together: they
// wake the process once, and what they find is committed with one fsync.
func (p *ping) phase() time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", p.task.Resource, p.task.Name)
	return time.Duration(h.Sum64() % uint64(p.interval)).Truncate(pingTogether)
}

// series sends a few requests and stores what came of them. It gives back what the collector cannot get over by itself.
func (p *ping) series(ctx context.Context) error {
	times, lost, err := p.measure(ctx)
	if ctx.Err() != nil {
		return nil
	}
	row := belfry.Row{Type: "data", Resource: p.task.Name}
	if p.addr.IsValid() {
		row.IP = p.addr.WithZone("").String()
	}
	if len(times) == 0 {
		row.NoResponse, row.Reason = true, p.reason(err)
	} else {
		row.Indicators = values(times, lost)
	}
	for _, name := range p.task.Objects {
		row.Object = name
		if err := send(ctx, p.env.Sink, p.task.Customer, &row); err != nil && ctx.Err() == nil {
			p.env.Log.Warn("a measurement was not stored", "resource", p.task.Resource, "err", err)
		}
	}
	return nil
}

// measure gives the times of the requests that were answered, in their order.
func (p *ping) measure(ctx context.Context) (times []time.Duration, lost int, err error) {
	if err := p.resolve(ctx); err != nil {
		return nil, p.count, err
	}
	for i := range p.count {
		if i > 0 {
			select {
			case <-time.After(pingGap):
			case <-ctx.Done():
				return nil, 0, ctx.Err()
			}
		}
		d, failed := p.env.pings.ping(ctx, p.task.Customer, p.addr, p.size, p.timeout)
		if failed != nil {
			lost++
			err = failed
			continue
		}
		times = append(times, d)
	}
	if len(times) == 0 {
		p.resolved = time.Time{} // it may have moved
	}
	return times, lost, err
}

// resolve finds the address of the target, again when it has been a while or nothing answers any more.
func (p *ping) resolve(ctx context.Context) error {
	if a, err := netip.ParseAddr(p.target); err == nil {
		p.addr = a.Unmap()
		return nil
	}
	if time.Since(p.resolved) < resolveAgain {
		return nil
	}
	p.addr = netip.Addr{}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", p.target)
	if err != nil {
		return &unresolved{p.target, err}
	}
	if len(all) == 0 {
		return &unresolved{p.target, errors.New("it has no address")}
	}
	p.addr, p.resolved = all[0].Unmap(), time.Now()
	return nil
}

// unresolved says that a name has no address.
type unresolved struct {
	name string
	err  error
}

func (u *unresolved) Error() string {
	why := u.err.Error()
	var dns *net.DNSError
	if errors.As(u.err, &dns) {
		why = dns.Err
	}
	return fmt.Sprintf("%s does not resolve: %s", u.name, why)
}

// reason says why nothing came back.
func (p *ping) reason(err error) string {
	var u *unresolved
	switch {
	case errors.As(err, &u):
		return u.Error()
	case errors.Is(err, errNoEcho):
		return fmt.Sprintf("no answer from %s to %d requests within %s each", p.where(), p.count, p.timeout)
	}
	return fmt.Sprintf("%s: %v", p.where(), err)
}

// where names the target, and its address if that is something else.
func (p *ping) where() string {
	if p.addr.IsValid() && p.addr.String() != p.target {
		return fmt.Sprintf("%s (%s)", p.target, p.addr)
	}
	return p.target
}

// values are the indicators of a series with at least one answer: mean, shortest and longest time, loss, jitter. Jitter is
// how much one answer differs from the one before it, in the mean.
func values(times []time.Duration, lost int) []belfry.Cell {
	sum, jitter := time.Duration(0), time.Duration(0)
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for i, d := range times {
		sum += d
		least, most = min(least, d), max(most, d)
		if i > 0 {
			jitter += (d - times[i-1]).Abs()
		}
	}
	n := time.Duration(len(times))
	if n > 1 {
		jitter /= n - 1
	}
	loss := float64(lost) / float64(lost+len(times)) * 100
	return []belfry.Cell{
		{N: 1, Text: milliseconds(sum / n)},
		{N: 2, Text: milliseconds(least)},
		{N: 3, Text: milliseconds(most)},
		{N: 4, Text: strconv.FormatFloat(math.Round(loss*100)/100, 'f', -1, 64)},
		{N: 5, Text: milliseconds(jitter)},
	}
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(float64(d)/1e3)/1e3, 'f', -1, 64)
}
