package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"
)

const (
	mixedPart = "mixed"
	oneClient = "objectstatus, one object"
)

// thresholdClass is the class of the objects. Only what workload makes to change a status is above the threshold.
const thresholdClass = `{"indicators":[{"n":1},{"n":2,"thresholds":[{"when":"> 100","status":2}]},{"n":3},{"n":4},{"n":5}]}`

// mixedJob is a kind of client of the part mixed.
type mixedJob struct {
	of string
	job
}

// mixed measures what each kind of client gets while all of them are there, and the questions about states without the
// others. Everything is due at fixed times, so a client that has to wait does not ask less.
func (b *bench) mixed(ctx context.Context) error {
	return b.during(ctx, &dataset{data: filepath.Join(b.tmp, "mixed")}, func(s *server) error {
		changing := b.objects / 20
		if err := b.prepareMixed(ctx, s, changing); err != nil {
			return err
		}
		asking := b.askingJobs(time.Now(), changing)
		b.progress("questions about one object, idle server")
		alone := asking[0]
		alone.Seconds = b.fraction(12)
		if err := b.runMixed(ctx, s, ", idle server", []mixedJob{alone}); err != nil {
			return err
		}
		b.progress("all kinds of clients at the same time")
		return b.runMixed(ctx, s, "", append([]mixedJob{
			{"bulk, 1,000-row bodies", job{Objects: b.objects - changing, Rows: 1000, Rate: 250_000, Clients: openClients, Seconds: b.fraction(2)}},
			{changesLoad, job{First: b.objects - changing, Objects: changing, Rows: 20, Rate: 1000, Change: true, Clients: 16, Seconds: b.fraction(2)}},
		}, asking...))
	})
}

const changesLoad = "status changes, 20-row bodies"

// prepareMixed makes the objects with rows of an hour. Of the last ones, whose status will change, half are in error.
func (b *bench) prepareMixed(ctx context.Context, s *server, changing int) error {
	_, err := s.upload(ctx, http.MethodPut, "/api/classes/bench", "application/json", []byte(thresholdClass))
	if err == nil {
		err = s.makeResources(ctx, b.objects)
	}
	if err != nil {
		return err
	}
	b.progress("making %d objects with rows of an hour", b.objects)
	now := time.Now()
	if _, err := s.fill(ctx, b.objects, stretchBodies([]stretch{{now.Add(-time.Hour), now, 60}}, b.objects)); err != nil {
		return err
	}
	w := newWorkload(changing)
	w.first, w.change = b.objects-changing, true
	if err := s.send(ctx, w.body(nil, changing, false), changing); err != nil || b.quick {
		return err
	}
	b.progress("waiting until the rows are in order")
	return errors.Join(s.waitOrdered(ctx, 60*b.objects), s.settle(ctx, "belfry_backlog_rows", "belfry_backlog_records"))
}

// askingJobs are the kinds of clients that ask: one object each time another one, objects in error, a chart.
func (b *bench) askingJobs(now time.Time, changing int) []mixedJob {
	const different = 500
	var one, charts []question
	for i := range different {
		object := i * (b.objects / different)
		q := statusQuestion(object)
		q.Only = [2]string{"object", fmt.Sprintf("obj%07d", object)}
		one = append(one, q)
		charts = append(charts, chartQuestion("chart", object, "1m", within(now.Add(-time.Hour), now, 100), 0))
	}
	list := question{
		Rows: min(50, changing/2), Only: [2]string{"status", "2"}, Params: url.Values{"rows": {"50"}},
		SQL: "SELECT resource, object, status, i2 FROM objectstatus WHERE status<>'0'",
	}
	return []mixedJob{
		{oneClient, job{Questions: one, Rows: 1, Rate: 100, Clients: 4, Seconds: b.fraction(2)}},
		{"objectstatus, 50 objects in error", job{Questions: []question{list}, Rows: 1, Rate: 10, Clients: 2, Seconds: b.fraction(2)}},
		{"chart of one object over the last hour", job{Questions: charts, Rows: 1, Rate: 10, Clients: 2, Seconds: b.fraction(2)}},
	}
}

// runMixed runs jobs at the same time, notes what each found, and checks that every row is there.
func (b *bench) runMixed(ctx context.Context, s *server, suffix string, jobs []mixedJob) error {
	outcomes, errs := make([]*outcome, len(jobs)), make([]error, len(jobs))
	start := make(chan struct{})
	var ready, all sync.WaitGroup
	ready.Add(len(jobs))
	for i, j := range jobs {
		all.Go(func() {
			prepared := sync.OnceFunc(ready.Done)
			defer prepared() // the others must not wait for one that failed
			outcomes[i], errs[i] = b.sender(ctx, loadCommand, j.to(s), func() { prepared(); <-start })
		})
	}
	ready.Wait()
	w, begin := s.watch(), time.Now()
	close(start)
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, s.tail())
	}
	rows, changes, cpu := 0, 0, 0.0
	for i, o := range outcomes {
		m := &measured{outcome: *o, job: jobs[i].job}
		b.progress("%s%s: p50 %.2f ms, p99 %.2f ms, longest %.0f ms, %.0f/s, sender late %.2f ms", jobs[i].of, suffix, m.P50, m.P99, m.Max, m.rate(), m.Late)
		b.addSent(mixedPart, jobs[i].of+suffix, m)
		cpu += o.CPU
		if len(m.job.Questions) == 0 {
			rows += o.Rows
		}
		if m.job.Change {
			changes = o.Rows
		}
	}
	c, err := w.end(cpu)
	b.addCost(mixedPart, "server"+suffix, c)
	if err != nil || rows == 0 {
		return err
	}
	return errors.Join(s.waitVisible(ctx, "objectdata", begin, rows), b.addAlarms(ctx, s, begin, changes))
}

// addAlarms counts the alarms of objects since a moment. Each row that changes a status makes one, unless two rows of an object,
// sent seconds apart, were taken in the other order.
func (b *bench) addAlarms(ctx context.Context, s *server, since time.Time, changes int) error {
	n, err := s.count(ctx, "events WHERE source='object' AND type='alarm'", since)
	if err == nil && (n == 0 || n > changes) {
		err = fmt.Errorf("%d rows changed a status and there are %d alarms", changes, n)
	}
	b.add(mixedPart, changesLoad, "alarms", "", float64(n))
	b.add(mixedPart, changesLoad, "rows", "", float64(changes))
	b.progress("%d alarms of %d changes", n, changes)
	return err
}
