package ping

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"belfry"
	"belfry/catalog"
)

// spec is the configuration of a ping.
type spec struct {
	customer belfry.CustomerID
	resource belfry.ID
	name     string   // of the resource
	objects  []string // that get the values
	target   string
	interval time.Duration
	timeout  time.Duration
	count    int32
	size     int32
	fault    string // why the answers are invalid; reported instead of a series
}

// newSpec parses the answers of a task. They were checked when they were provisioned, so an error is rare, and is shown
// like any other reason for no reply.
func newSpec(t Task) spec {
	p := spec{customer: t.Customer, resource: t.Resource, name: t.Name, objects: t.Objects, target: t.Answers["ip_address_fqdn"]}
	interval, err := catalog.AnsweredDuration(t.Answers["interval"])
	timeout, err2 := catalog.AnsweredDuration(t.Answers["timeout"])
	count, err3 := strconv.ParseInt(t.Answers["count"], 10, 32)
	size, err4 := strconv.ParseInt(t.Answers["size"], 10, 32)
	p.interval, p.timeout, p.count, p.size = interval.Std(), timeout.Std(), int32(count), int32(size)
	if err := errors.Join(err, err2, err3, err4); err != nil || p.interval <= 0 || p.count < 1 || p.size < 0 || p.size > echoLongest {
		p.fault, p.interval = fmt.Sprintf("interval, timeout, count or size cannot be followed: %v", err), time.Minute
	}
	return p
}

func (p *spec) equal(o *spec) bool {
	return p.customer == o.customer && p.name == o.name && slices.Equal(p.objects, o.objects) && p.target == o.target &&
		p.interval == o.interval && p.timeout == o.timeout && p.count == o.count && p.size == o.size && p.fault == o.fault
}

// Check rejects series that would not end before the next one begins.
func Check(answers map[string]string) (column string, err error) {
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
	if longest := time.Duration(count) * (timeout.Std() + requestGap); longest > interval.Std() {
		return "interval", fmt.Errorf("interval is %s, but %d requests of %s each may take %s; choose a longer interval, or fewer or shorter requests",
			answers["interval"], count, answers["timeout"], longest)
	}
	return "", nil
}

const (
	requestGap   = 50 * time.Millisecond // between a reply and the next request
	phaseStep    = 100 * time.Millisecond
	firstWithin  = time.Second // before the first series of a new resource
	resolveAgain = time.Minute
)

// wait returns the time until the next series; the first two are never close together.
func (p *spec) wait(now time.Time) time.Duration {
	next := now.Truncate(p.interval).Add(p.phase())
	for next.Sub(now) < p.interval/2 {
		next = next.Add(p.interval)
	}
	return next.Sub(now)
}

// phase is the offset of the series in the interval. It is derived from the resource, so that thousands of them do not send at
// once, and a restart changes nothing. Series of the same phaseStep wake the process once, and are committed with one fsync.
func (p *spec) phase() time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", p.resource, p.name)
	return time.Duration(h.Sum64() % uint64(p.interval)).Truncate(phaseStep)
}

// series is the result of a series so far.
type series struct {
	asked, answered     int32
	sum, least, longest time.Duration
	last, jitter        time.Duration
	err                 error // of the last request that failed
}

// add counts a reply.
func (s *series) add(d time.Duration) {
	if s.answered == 0 {
		s.least = d
	} else {
		s.jitter += (d - s.last).Abs()
	}
	s.answered++
	s.sum += d
	s.least, s.longest, s.last = min(s.least, d), max(s.longest, d), d
}

// row returns the row for a series, without its object.
func (p *spec) row(s *series, addr netip.Addr) belfry.Row {
	row := belfry.Row{Type: "data", Resource: p.name}
	if addr.IsValid() {
		row.IP = addr.WithZone("").String()
	}
	if s.answered == 0 {
		row.NoResponse, row.Reason = true, p.reason(s.err, addr)
	} else {
		row.Indicators = s.values()
	}
	return row
}

// unresolved: the name has no address.
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

// reason explains why no reply came.
func (p *spec) reason(err error, addr netip.Addr) string {
	var u *unresolved
	switch {
	case p.fault != "":
		return p.fault
	case errors.As(err, &u), errors.Is(err, ErrPanic):
		return err.Error()
	case errors.Is(err, errNoEcho):
		return fmt.Sprintf("no answer from %s to %d requests within %s each", p.where(addr), p.count, p.timeout)
	}
	return fmt.Sprintf("%s: %v", p.where(addr), err)
}

// where returns the target, with its address if that is different.
func (p *spec) where(addr netip.Addr) string {
	if addr.IsValid() && addr.String() != p.target {
		return fmt.Sprintf("%s (%s)", p.target, addr)
	}
	return p.target
}

// values returns the indicators of a series with at least one reply: mean, minimum and maximum time, loss, and jitter: the mean
// difference between consecutive replies.
func (s *series) values() []belfry.Cell {
	n, jitter := time.Duration(s.answered), s.jitter
	if n > 1 {
		jitter /= n - 1
	}
	loss := float64(s.asked-s.answered) / float64(s.asked) * 100
	return []belfry.Cell{
		{N: 1, Text: milliseconds(s.sum / n)},
		{N: 2, Text: milliseconds(s.least)},
		{N: 3, Text: milliseconds(s.longest)},
		{N: 4, Text: strconv.FormatFloat(math.Round(loss*100)/100, 'f', -1, 64)},
		{N: 5, Text: milliseconds(jitter)},
	}
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(float64(d)/1e3)/1e3, 'f', -1, 64)
}
