package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// measured is a load with what it cost the server.
type measured struct {
	outcome
	cost
	visible float64 // seconds from the first request until a query counted every acknowledged row
	settled float64 // … until both movers had caught up; up to there the cost counts
}

func (m *measured) rate() float64 { return float64(m.Rows) / m.visible }

// per is what seconds of CPU make for a million of something.
func per(seconds float64, count int) float64 { return seconds / (float64(max(count, 1)) / 1e6) }

// perMillion is the server's CPU for a million values.
func (m *measured) perMillion() float64 { return per(m.cpu, m.Rows*values) }

// addLoad notes the figures of a load of data.
func (r *results) addLoad(part, of string, m *measured) {
	rate := m.rate()
	if m.Rows == m.Bodies { // single rows: the last query would count for more than the requests
		rate = float64(m.Rows) / m.seconds()
	}
	r.add(part, of, "rate", "rows/s", rate)
	r.addTimes(part, of, m.P50, m.P99, m.Max)
	r.add(part, of, "server CPU per million values", "s", m.perMillion())
	r.add(part, of, "sender CPU per million values", "s", per(m.CPU, m.Rows*values))
	r.add(part, of, "refused", "bodies", float64(m.Refused))
	r.explain(m.Example)
	r.addCost(part, of, m.cost)
}

// runJob sends a job to a server and measures it, until there is nothing left to do for it.
func (b *bench) runJob(ctx context.Context, s *server, j job) (*measured, error) {
	j.Addr, j.Key, j.Path = s.addr, s.key, "/api/send"
	var w *watch
	o, err := b.sender(ctx, loadCommand, j, func() { w = s.watch() })
	if err != nil {
		return nil, errors.Join(err, s.tail())
	}
	if o.Rows == 0 {
		return nil, fmt.Errorf("the server took nothing: %s", o.Example)
	}
	m := &measured{outcome: *o}
	if err := s.waitVisible(ctx, j.collection(), o.Start, o.Rows); err != nil {
		return nil, err
	}
	m.visible = time.Since(o.Start).Seconds()
	if err := s.settle(ctx, "belfry_backlog_rows", "belfry_backlog_records"); err != nil {
		return nil, err
	}
	m.settled = time.Since(o.Start).Seconds()
	m.cost, err = w.end(m.CPU)
	return m, err
}

// bulkJob sends large bodies for known objects.
func bulkJob(objects int, seconds float64) job {
	return job{Objects: objects, Rows: 10_000, Clients: 4, Seconds: seconds}
}

const bulkLoad = "10,000-row bodies, 4 clients"

// bulk registers the objects and sends large bodies for them.
func (b *bench) bulk(ctx context.Context) error {
	e := &dataset{data: filepath.Join(b.tmp, "bulk")}
	var stored int
	err := b.during(ctx, e, func(s *server) error {
		m, err := b.register(ctx, s, b.objects)
		if err != nil {
			return err
		}
		b.addLoad("bulk", "registering, "+bulkLoad+", from empty", m)
		b.progress("bulk load, %.0f s", b.seconds)
		if m, err = b.runJob(ctx, s, bulkJob(b.objects, b.seconds)); err != nil {
			return err
		}
		b.progress("%.0f rows/s, %.2f s CPU per million values, peak %.0f MiB", m.rate(), m.perMillion(), m.peak)
		b.addLoad("bulk", bulkLoad, m)
		b.add("bulk", bulkLoad, "last row visible after the last answer", "s", m.visible-m.seconds())
		b.add("bulk", bulkLoad, "both stores caught up after it", "s", m.settled-m.seconds())
		stored = (m.Rows + b.objects) * values
		b.add("bulk", "disk", "values", "", float64(stored))
		return b.addDisk("bulk", "running, caught up", "bytes/value", e.data, stored)
	})
	if err != nil {
		return err
	}
	// Only a stopped server has folded everything into its files.
	if err := b.addDisk("bulk", "stopped", "bytes/value", e.data, stored); err != nil {
		return err
	}
	return b.during(ctx, e, func(s *server) error {
		b.add("bulk", "start after it", "until ready", "s", s.ready.Seconds())
		return nil
	})
}

// addDisk notes what a data folder takes for each of so many things in it.
func (b *bench) addDisk(part, of, unit, data string, count int) error {
	d, err := usage(data)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		size int64
	}{{"rows", d.rows}, {"journal", d.journal}, {"metadata", d.meta}, {"other", d.other}, {"all", d.all()}} {
		b.add(part, of, f.name, unit, float64(f.size)/float64(count))
	}
	return nil
}

// single sends one row in each request.
func (b *bench) single(ctx context.Context) error {
	return b.during(ctx, &dataset{data: filepath.Join(b.tmp, "single")}, func(s *server) error {
		if _, err := b.register(ctx, s, b.objects); err != nil {
			return err
		}
		for _, clients := range clientCounts {
			j := job{Objects: b.objects, Rows: 1, Clients: clients, Seconds: b.fraction(12)}
			b.progress("single rows, %d clients, %.0f s", clients, j.Seconds)
			m, err := b.runJob(ctx, s, j)
			if err != nil {
				return err
			}
			b.addLoad("single", fmt.Sprintf("single rows, %d clients", clients), m)
		}
		return nil
	})
}
