package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"time"
)

const (
	pingTargets  = 10_000
	pingInterval = 60 * time.Second
	pingViews    = 100
)

// pinging is how many targets are pinged, and how often.
type pinging struct {
	targets  int
	interval time.Duration
}

// views is the body that makes the parent views of the targets.
func (p pinging) views() []byte {
	b := []byte("name,view\n")
	for i := range pingViews {
		b = fmt.Appendf(b, "site%02d,MAIN\n", i)
	}
	return b
}

// body is the one that makes the targets. Their addresses are all of this machine.
func (p pinging) body() []byte {
	b := []byte("name,ip_address_fqdn,view,interval\n")
	for i := range p.targets {
		b = fmt.Appendf(b, "host%06d,127.%d.%d.%d,site%02d,%.0fs\n", i, i>>16&255, i>>8&255, i&255, i%pingViews, p.interval.Seconds())
	}
	return b
}

// pings makes a separate server ping.
func (b *bench) pings(ctx context.Context) error {
	p := pinging{pingTargets, pingInterval}
	if b.quick { // as many in a second
		p.targets, p.interval = pingTargets*8/60, 8*time.Second
	}
	return b.during(ctx, &dataset{data: filepath.Join(b.tmp, "pings"), collect: true}, func(s *server) error {
		if _, err := s.provision(ctx, http.MethodPost, "view", p.views()); err != nil {
			return err
		}
		b.progress("%d pings every %s", p.targets, p.interval)
		start := time.Now()
		report, err := s.provision(ctx, http.MethodPost, "network-ping", p.body())
		if err == nil && accepted(report) != p.targets {
			err = fmt.Errorf("of %d targets not all were taken: %.300s", p.targets, report)
		}
		if err != nil {
			return err
		}
		b.add(receiverPart, "pings", "targets", "", float64(p.targets))
		b.add(receiverPart, "pings", "interval", "s", p.interval.Seconds())
		b.add(receiverPart, "pings", "call that made them", "s", time.Since(start).Seconds())
		return b.pingMinute(ctx, s, p)
	})
}

// pingMinute looks at the server for an interval. The first series of a new resource goes out within a second, the second one
// at the earliest half an interval later, and at the latest one and a half. So between these two moments every target has
// one, and before them all wait.
func (b *bench) pingMinute(ctx context.Context, s *server, p pinging) error {
	first := time.Now()
	if err := s.waitSeries(ctx, p); err != nil {
		return err
	}
	idle, err := s.share(ctx, p.interval/2-time.Since(first))
	if err != nil {
		return err
	}
	start, w := time.Now(), s.watch()
	share, err := s.share(ctx, p.interval)
	if err != nil {
		return err
	}
	c, err := w.end(0)
	if err != nil {
		return err
	}
	rows, err := s.count(ctx, "objectdata", start)
	if err != nil {
		return err
	}
	// Those whose last series was not answered.
	away, err := s.number(ctx, url.Values{"q": {"SELECT COUNT(*) AS n FROM objectstatus WHERE statusname='Unavailable'"}})
	if err != nil {
		return err
	}
	b.progress("%.1f %% of a core for %d series, %.1f %% while it waited", 100*share, rows, 100*idle)
	b.add(receiverPart, "pings", "series stored", "", float64(rows))
	b.add(receiverPart, "pings", "targets without an answer", "", float64(away))
	b.add(receiverPart, "pings", "server CPU, share of a core", "%", 100*share)
	b.add(receiverPart, "pings", "server CPU while all of them waited", "%", 100*idle)
	b.addCost(receiverPart, "pings", c)
	return nil
}

// share waits, and returns the share of a core that the server used.
func (s *server) share(ctx context.Context, d time.Duration) (float64, error) {
	before, err := s.cpu()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := pause(ctx, d); err != nil {
		return 0, err
	}
	after, err := s.cpu()
	return (after - before) / time.Since(start).Seconds(), err
}

// waitSeries waits until every target has a first value, and all of them are stored.
func (s *server) waitSeries(ctx context.Context, p pinging) error {
	err := until(ctx, p.interval/2, 100*time.Millisecond, "all targets have a value", func(ctx context.Context) (bool, error) {
		n, err := s.count(ctx, "objectdata", time.Now().Add(-p.interval))
		return n >= p.targets, err
	})
	if err != nil {
		return err
	}
	return s.settleRows(ctx)
}
