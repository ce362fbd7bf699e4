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
	settled float64 // … until both movers had caught up; up to there the cost counts. A brief run ends when visible
}

func (m *measured) rate() float64 { return float64(m.Rows) / m.visible }

// perMillion is the server's CPU for a million values.
func (m *measured) perMillion() float64 { return m.cpu / (float64(m.Rows) * values / 1e6) }

// perMillionRows is the server's CPU for a million rows.
func (m *measured) perMillionRows() float64 { return m.cpu / (float64(m.Rows) / 1e6) }

// run sends a job to a server and measures it, until there is nothing left to do for it. A profile is taken when it has
// a name.
func (b *bench) run(ctx context.Context, s *server, j job, profile string) (*measured, error) {
	m, w, err := b.runVisible(ctx, s, j, profile)
	if err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	m.settled = time.Since(m.Start).Seconds()
	m.cost, err = w.end(ctx, m.CPU)
	return m, err
}

// runBriefly ends its figures when the rows are visible. The states of the objects go to the database within ten seconds
// after that: to wait for it after each of many short loads would take minutes.
func (b *bench) runBriefly(ctx context.Context, s *server, j job, profile string) (*measured, error) {
	m, w, err := b.runVisible(ctx, s, j, profile)
	if err != nil {
		return nil, err
	}
	m.settled = m.visible
	m.cost, err = w.end(ctx, m.CPU)
	return m, err
}

// runStored ends its figures when the rows are in their files, of which the server tells. To ask for the rows would take
// its turn among the clients that ask, and be a figure of the queue.
func (b *bench) runStored(ctx context.Context, s *server, j job) (*measured, error) {
	m, w, err := b.runUntil(ctx, s, j, "", func(*outcome) error { return s.settleRows(ctx) })
	if err != nil {
		return nil, err
	}
	m.cost, err = w.end(ctx, m.CPU)
	return m, err
}

// runVisible is run up to the moment when every row can be queried.
func (b *bench) runVisible(ctx context.Context, s *server, j job, profile string) (*measured, *watch, error) {
	return b.runUntil(ctx, s, j, profile, func(o *outcome) error { return s.waitVisible(ctx, j.collection(), o.Start, o.Rows) })
}

// runUntil sends a job, and ends its figures when done says so.
func (b *bench) runUntil(ctx context.Context, s *server, j job, profile string, done func(*outcome) error) (*measured, *watch, error) {
	j.Addr, j.Key, j.Path = s.addr, s.key, "/api/send"
	var w *watch
	o, err := b.load(ctx, j, func() { w = b.watch(ctx, s, profile, 0.8*j.Seconds) })
	if err != nil {
		return nil, nil, errors.Join(err, s.tail())
	}
	if o.Rows == 0 {
		return nil, nil, fmt.Errorf("the server took nothing: %s", o.Example)
	}
	m := &measured{outcome: *o}
	if err := done(o); err != nil {
		return nil, nil, err
	}
	m.visible = time.Since(o.Start).Seconds()
	return m, w, nil
}

// waitVisible asks until all rows are counted. As an answer means visible, the first time should do.
func (s *server) waitVisible(ctx context.Context, collection string, since time.Time, want int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		n, err := s.count(ctx, collection, since)
		if err != nil {
			return err
		}
		if n == want {
			return nil
		}
		if n > want {
			return fmt.Errorf("%d rows were acknowledged, %d can be queried", want, n)
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%d rows were acknowledged, only %d can be queried: %w", want, n, err)
		}
	}
}

// bulkJob sends large bodies for known objects.
func bulkJob(objects int, seconds float64) job {
	return job{Objects: objects, Rows: 10_000, Clients: 4, Seconds: seconds}
}

// loads runs the parts that send for the ordinary number of objects.
func (b *bench) loads(ctx context.Context) (err error) {
	data := filepath.Join(b.tmp, "loads")
	s, err := b.startServer(ctx, data, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if b.res.register, err = b.register(ctx, s, registering{b.objects, 10_000, 4}); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	if b.wants("bulk") {
		if s, err = b.bulk(ctx, s); err != nil {
			return fmt.Errorf("bulk: %w", err)
		}
	}
	if b.wants("small") {
		if err := b.small(ctx, s); err != nil {
			return fmt.Errorf("small bodies: %w", err)
		}
	}
	if b.wants("single") {
		if err := b.single(ctx, s); err != nil {
			return fmt.Errorf("single rows: %w", err)
		}
	}
	if b.wants("formats") {
		if err := b.formats(ctx, s); err != nil {
			return fmt.Errorf("formats: %w", err)
		}
	}
	return nil
}

// bulk is the load that most targets are about. It gives back a server that was started anew: only a stopped one has
// folded everything into its files.
func (b *bench) bulk(ctx context.Context, s *server) (_ *server, err error) {
	b.say("bulk load, %.0f s", b.seconds)
	m, err := b.run(ctx, s, bulkJob(b.objects, b.seconds), "bulk")
	if err != nil {
		return s, err
	}
	b.res.bulk = m
	b.say("%.0f rows/s, %.2f s CPU per million values, peak %.0f MiB", m.rate(), m.perMillion(), m.peak)
	if b.res.diskRunning, err = usage(s.data); err != nil {
		return s, err
	}
	if err := s.stop(); err != nil {
		return s, err
	}
	if b.res.diskStopped, err = usage(s.data); err != nil {
		return s, err
	}
	b.res.stored = (m.Rows + b.objects) * values
	next, err := b.startServer(ctx, s.data, s.key)
	if err != nil {
		return s, err
	}
	b.res.restart = next.ready
	return next, nil
}

func (b *bench) small(ctx context.Context, s *server) (err error) {
	j := job{Objects: b.objects, Rows: 1000, Clients: 4, Seconds: b.part(3)}
	b.say("bodies of 1,000 rows, full rate, %.0f s", j.Seconds)
	if b.res.smallFull, err = b.run(ctx, s, j, "small-full"); err != nil {
		return err
	}
	// More connections than can be busy at that rate, so that it is the clock and not an earlier answer that decides
	// when a body is sent.
	j.Clients, j.Rate = 16, b.res.smallFull.rate()/float64(j.Rows)/2
	b.say("bodies of 1,000 rows, half rate, %.0f s", j.Seconds)
	b.res.smallHalf, err = b.run(ctx, s, j, "small-half")
	return err
}

func (b *bench) single(ctx context.Context, s *server) error {
	for _, clients := range clientCounts {
		j := job{Objects: b.objects, Rows: 1, Clients: clients, Seconds: b.part(12)}
		b.say("single rows, %d clients, %.0f s", clients, j.Seconds)
		m, err := b.run(ctx, s, j, "")
		if err != nil {
			return err
		}
		b.res.single = append(b.res.single, m)
	}
	return nil
}

// million registers many objects, starts again, and sends for them.
func (b *bench) million(ctx context.Context) (err error) {
	s, err := b.startServer(ctx, filepath.Join(b.tmp, "many"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	r := &manyObjects{}
	if r.register, err = b.register(ctx, s, registering{b.many, 10_000, 4}); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	b.say("starting with %d objects", b.many)
	next, err := b.startServer(ctx, s.data, s.key)
	if err != nil {
		return err
	}
	s = next
	r.ready = s.ready
	if r.now, r.peak, err = s.memory(); err != nil {
		return err
	}
	b.say("ready after %.1f s with %.0f MiB", r.ready.Seconds(), r.now)
	if r.bulk, err = b.run(ctx, s, bulkJob(b.many, b.part(4)), "many"); err != nil {
		return err
	}
	if r.status, err = s.put(ctx, statusQuestion(b.many/2), b.scale()); err != nil {
		return err
	}
	b.res.many = r
	return nil
}
