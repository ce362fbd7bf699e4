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
	job     job
	visible float64 // seconds from the first request until a query counted every acknowledged row
	settled float64 // … until both movers had caught up; up to there the cost counts
}

// rate is how many rows a second were acknowledged: with a rate of the job until the last answer, which follows a last row
// that was due a little before the end; otherwise until they could be queried. For single rows that query would count for
// more than the requests.
func (m *measured) rate() float64 {
	switch {
	case m.job.Rate > 0:
		return float64(m.Rows) / max(m.seconds(), m.job.Seconds)
	case m.job.Rows == 1:
		return float64(m.Rows) / m.seconds()
	}
	return float64(m.Rows) / m.visible
}

// per is what seconds of CPU make for a million of something.
func per(seconds float64, count int) float64 { return seconds / (float64(max(count, 1)) / 1e6) }

// addLoad notes the figures of a load of data.
func (r *results) addLoad(part, of string, m *measured) {
	r.addSent(part, of, m)
	r.add(part, of, "server CPU per million values", "s", per(m.cpu, m.Rows*values))
	r.add(part, of, "sender CPU per million values", "s", per(m.CPU, m.Rows*values))
	r.addCost(part, of, m.cost)
}

// addSent notes what the sender of a job found.
func (r *results) addSent(part, of string, m *measured) {
	r.add(part, of, "rate", "rows/s", m.rate())
	r.addTimes(part, of, m.P50, m.P99, m.Max)
	r.add(part, of, "refused", "bodies", float64(m.Refused))
	r.explain(m.Example)
	if m.job.Rate > 0 {
		r.add(part, of, "rate that was due", "rows/s", m.job.Rate)
		r.add(part, of, "sender late", "ms", m.Late)
		r.add(part, of, "due without a free client", "bodies", float64(m.Waited))
	}
}

// to returns the job with the address of a server.
func (j job) to(s *server) job {
	j.Addr, j.Key, j.Path = s.addr, s.key, "/api/send"
	return j
}

// runJob sends a job to a server and measures it, until there is nothing left to do for it. What else is to begin with the
// first request can be given.
func (b *bench) runJob(ctx context.Context, s *server, j job, begin ...func()) (*measured, error) {
	var w *watch
	o, err := b.sender(ctx, loadCommand, j.to(s), func() {
		for _, f := range begin {
			f()
		}
		w = s.watch()
	})
	if err != nil {
		return nil, errors.Join(err, s.tail())
	}
	if o.Rows == 0 {
		return nil, fmt.Errorf("the server took nothing: %s", o.Example)
	}
	m := &measured{outcome: *o, job: j}
	if err := s.waitVisible(ctx, j.collection(), o.Start, o.Rows); err != nil {
		return nil, err
	}
	m.visible = time.Since(o.Start).Seconds()
	backlogs := []string{"belfry_backlog_rows", "belfry_backlog_records"}
	if b.quick { // the metadata are written every ten seconds or so
		backlogs = backlogs[:1]
	}
	if err := s.settle(ctx, backlogs...); err != nil {
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

const (
	bulkLoad   = "10,000-row bodies, 4 clients"
	digitsLoad = bulkLoad + ", random digits"
)

// bulk registers the objects and sends large bodies for them: values as agents send them and, for a shorter time to an
// empty server, random digits.
func (b *bench) bulk(ctx context.Context) error {
	e := &dataset{data: filepath.Join(b.tmp, "bulk")}
	if err := b.bulkInto(ctx, e, bulkLoad, "", bulkJob(b.objects, b.seconds)); err != nil {
		return err
	}
	err := b.during(ctx, e, func(s *server) error {
		b.add("bulk", "start after it", "until ready", "s", s.ready.Seconds())
		return nil
	})
	if err != nil {
		return err
	}
	j := bulkJob(b.objects, b.fraction(6))
	j.Digits = true
	return b.bulkInto(ctx, &dataset{data: filepath.Join(b.tmp, "digits")}, digitsLoad, "random digits, ", j)
}

// bulkInto measures a bulk load of an empty server and what it takes on disk: as soon as both stores have caught up, when the
// rows are in order, and after a stop. label is put before the names of the latter.
func (b *bench) bulkInto(ctx context.Context, e *dataset, of, label string, j job) error {
	var stored int
	err := b.during(ctx, e, func(s *server) error {
		m, err := b.register(ctx, s, b.objects)
		if err != nil {
			return err
		}
		if !j.Digits {
			b.addLoad("bulk", "registering, "+bulkLoad+", from empty", m)
			b.add("bulk", "registering, "+bulkLoad+", from empty", "server CPU per object", "µs", per(m.cpu, m.Rows))
		}
		b.progress("%s, %.0f s", of, j.Seconds)
		if m, err = b.runJob(ctx, s, j); err != nil {
			return err
		}
		b.progress("%.0f rows/s, p99 %.1f ms, %.2f s CPU per million values, peak %.0f MiB", m.rate(), m.P99, per(m.cpu, m.Rows*values), m.peak)
		b.addLoad("bulk", of, m)
		b.add("bulk", of, "last row visible after the last answer", "s", m.visible-m.seconds())
		b.add("bulk", of, "both stores caught up after it", "s", m.settled-m.seconds())
		stored = (m.Rows + b.objects) * values
		b.add("bulk", label+"disk", "values", "", float64(stored))
		if err := b.addDisk("bulk", label+"running, caught up", "bytes/value", e.data, stored); err != nil || b.quick || stored < orderedRows*values {
			return err
		}
		return b.addOrder(ctx, s, label+"running, rows in order", stored)
	})
	if err != nil {
		return err
	}
	// Only a stopped server has folded everything into its files.
	return b.addDisk("bulk", label+"stopped", "bytes/value", e.data, stored)
}

// addOrder waits until the rows of a load are in order and notes what that took.
func (b *bench) addOrder(ctx context.Context, s *server, of string, stored int) error {
	b.progress("waiting until the rows are in order")
	w := s.watch()
	if err := s.waitOrdered(ctx, stored/values); err != nil {
		return err
	}
	c, err := w.end(0)
	b.add("bulk", of, "waited for it", "s", time.Since(w.start).Seconds())
	b.add("bulk", of, "server CPU per million values", "s", per(c.cpu, stored))
	b.addCost("bulk", of, c)
	return errors.Join(err, b.addDisk("bulk", of, "bytes/value", s.data, stored))
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
