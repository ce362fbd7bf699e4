package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"
)

const (
	pingTargets  = 10_000
	pingInterval = 60 * time.Second
)

// pinged is what many pings cost.
type pinged struct {
	cost
	targets    int
	interval   time.Duration
	rows       int     // series that were stored meanwhile
	away       int     // targets that did not answer
	idle       float64 // cores that the server used in the pause, while all of them waited
	provisions float64 // seconds of the one call that made them
}

// cores is the share of one core that the pings took.
func (p *pinged) cores() float64 { return p.cpu / p.interval.Seconds() }

// body is the one that makes the targets.
func (p *pinged) body() []byte {
	b := []byte("name,ip_address_fqdn,view,interval\n")
	for i := range p.targets {
		b = fmt.Appendf(b, "host%06d,127.%d.%d.%d,site%02d,%.0fs\n", i, i>>16&255, i>>8&255, i&255, i%pingViews, p.interval.Seconds())
	}
	return b
}

// pings lets a server of its own ping.
func (b *bench) pings(ctx context.Context, r *received) (err error) {
	s, err := b.start(ctx, filepath.Join(b.tmp, "pings"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if _, err := s.provision(ctx, http.MethodPost, "view", pingViewNames()); err != nil {
		return err
	}
	p := &pinged{targets: pingTargets, interval: pingInterval}
	if b.quick { // as many in a second
		p.targets, p.interval = pingTargets/10, pingInterval/10
	}
	b.say("%d pings every %s", p.targets, p.interval)
	start, n := time.Now(), p.targets
	report, err := s.provision(ctx, http.MethodPost, pingPackage, p.body())
	if err != nil {
		return err
	}
	p.provisions = time.Since(start).Seconds()
	if err := (verdict{Accepted: n, Created: created{Resources: n, Objects: n}}).check(report); err != nil {
		return err
	}
	if err := b.pingMinute(ctx, s, p); err != nil {
		return err
	}
	b.say("%.1f %% of a core for %d series, %.1f %% while it waited", 100*p.cores(), p.rows, 100*p.idle)
	r.pings = p
	return nil
}

// pingMinute looks at the server for an interval. The first series of a new resource goes out within a second, the second one
// at the earliest half an interval later, and at the latest one and a half. So between these two moments every target has
// one, and before them all wait.
func (b *bench) pingMinute(ctx context.Context, s *server, p *pinged) (err error) {
	first := time.Now()
	if err := s.waitSeries(ctx, p); err != nil {
		return err
	}
	if p.idle, err = s.share(ctx, p.interval/2-time.Since(first)); err != nil {
		return err
	}
	start := time.Now()
	w := b.watch(ctx, s, "pings", 0.9*p.interval.Seconds())
	if _, err := s.share(ctx, p.interval); err != nil {
		return err
	}
	if p.cost, err = w.end(ctx, 0); err != nil {
		return err
	}
	if p.rows, err = s.count(ctx, "objectdata", start); err != nil {
		return err
	}
	p.away, err = s.away(ctx)
	return err
}

// share waits, and tells which share of a core the server used meanwhile.
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

// waitSeries waits until every target has a first value.
func (s *server) waitSeries(ctx context.Context, p *pinged) error {
	ctx, cancel := context.WithTimeout(ctx, p.interval/2)
	defer cancel()
	for {
		n, err := s.count(ctx, "objectdata", time.Now().Add(-p.interval))
		if err != nil {
			return err
		}
		if n >= p.targets {
			return s.settleRows(ctx)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d targets have a value: %w", n, p.targets, err)
		}
	}
}

// away counts the targets whose last series was not answered.
func (s *server) away(ctx context.Context) (int, error) {
	body, err := s.get(ctx, s.addr, "/api/sql?q=SELECT+COUNT(*)+AS+n+FROM+objectstatus+WHERE+statusname%3D%27Unavailable%27")
	if err != nil {
		return 0, err
	}
	var a struct{ Rows []struct{ N int } }
	if err := json.Unmarshal(body, &a); err != nil || len(a.Rows) != 1 {
		return 0, fmt.Errorf("count of targets that are away: %.200s", bytes.TrimSpace(body))
	}
	return a.Rows[0].N, nil
}
