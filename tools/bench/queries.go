package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// dataset is a data folder that was filled through the server, and the moment until which it has data.
type dataset struct {
	scale
	now  time.Time
	data string
	key  string

	collect bool // its server receives and pings, which takes time from what is measured
}

const (
	queryPart = "queries"
	daysPart  = "queries, many days"
	fewerPart = "queries, fewer days"
)

// queries fills two datasets through the server, and asks all questions over HTTP.
func (b *bench) queries(ctx context.Context) error {
	sc := b.scale()
	many := &dataset{scale: sc, now: time.Now(), data: filepath.Join(b.tmp, "queries")}
	if err := b.fillMany(ctx, many); err != nil {
		return err
	}
	if _, err := b.askAll(ctx, many, queryPart, many.questions()); err != nil {
		return err
	}
	if !b.quick { // to see what more days cost
		if err := b.askDays(ctx, 100, fewerPart); err != nil {
			return err
		}
	}
	return b.askDays(ctx, sc.days, daysPart)
}

// askDays is the part about many files. The chart is asked twice: as soon as the rows are in, when it has to read them
// all, and with the others, once the server has summed them up.
func (b *bench) askDays(ctx context.Context, days int, part string) error {
	e := &dataset{scale: b.scale(), now: time.Now(), data: filepath.Join(b.tmp, fmt.Sprint(days, "-days"))}
	e.days = days
	b.progress("filling %d days", e.days)
	b.add(part, "data", "days", "", float64(e.days))
	var early *asked
	err := b.during(ctx, e, func(s *server) (err error) {
		if err := s.makeResources(ctx, dayObjects); err != nil {
			return err
		}
		if _, err := s.fill(ctx, 1, dayBodies(e.now, e.days)); err != nil {
			return err
		}
		early, err = s.put(ctx, e.longChart("chart of one object over all days, right after sending"), e.scale)
		return err
	})
	if err != nil {
		return err
	}
	b.progress("summing up %d days, listing their items", e.days)
	err = b.during(ctx, e, func(s *server) error { return errors.Join(s.waitSummaries(ctx), waitLists(ctx, e.data)) })
	if err != nil {
		return err
	}
	list, err := b.askAll(ctx, e, part, e.dayQuestions())
	if err != nil {
		return err
	}
	b.addAsked(part, early)
	if late := list[len(list)-1]; !agree(early.total, late.total) {
		return fmt.Errorf("%s: the sum is %v right after sending, and %v from summaries", late.Name, early.total, late.total)
	}
	return nil
}

// fillMany makes the dataset of many rows, and stops the server, which checkpoints everything into the files.
func (b *bench) fillMany(ctx context.Context, e *dataset) error {
	plan := stretches(e.now)
	want := rowsOf(plan, e.objects)
	b.progress("filling %d rows and %d log lines", want, e.lines)
	err := b.during(ctx, e, func(s *server) error {
		if err := s.makeResources(ctx, e.objects); err != nil {
			return err
		}
		n, err := s.fill(ctx, e.objects, stretchBodies(plan, e.objects))
		if err == nil && n != want {
			err = fmt.Errorf("%d rows were sent, %d should have been", n, want)
		}
		if err != nil {
			return err
		}
		b.progress("rows are in")
		if _, err := s.fill(ctx, 0, newStory(plan[1].from, e.lines).bodies); err != nil {
			return err
		}
		b.progress("lines are in")
		if err := waitFilters(ctx, e.data); err != nil || b.quick {
			return err
		}
		b.progress("waiting until the rows are in order")
		return s.waitOrdered(ctx, want)
	})
	if err == nil && !b.quick { // so that it is not done during the measurement
		b.progress("summing up")
		err = b.during(ctx, e, func(s *server) error { return s.waitSummaries(ctx) })
	}
	if err != nil {
		return err
	}
	d, err := usage(e.data)
	b.add(queryPart, "data", "rows", "", float64(want))
	b.add(queryPart, "data", "objects", "", float64(e.objects))
	b.add(queryPart, "data", "rows of the day", "", float64(plan[1].rounds*e.objects))
	b.add(queryPart, "data", "log lines", "", float64(e.lines))
	b.add(queryPart, "data", "log objects", "", logObjects)
	b.add(queryPart, "data", "all files", "MB", float64(d.all())/1e6)
	return err
}

// waitFilters waits until the token filters of the log lines do not grow any more: they are made beside everything else.
func waitFilters(ctx context.Context, data string) error {
	const still = 4 // looks without a change
	last, same := int64(-1), 0
	return until(ctx, 10*time.Minute, 250*time.Millisecond, "the token filters are complete", func(context.Context) (bool, error) {
		size, err := filterSize(data)
		if same++; size != last {
			last, same = size, 0
		}
		return same >= still, err
	})
}

// filterSize adds up the token filters of a data folder.
func filterSize(data string) (size int64, err error) {
	list, err := filepath.Glob(filepath.Join(data, "rows", "objectlog", "*.tokens"))
	for _, f := range list {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	return size, err
}

// waitLists waits until the items of all days but the newest are listed, which is also made beside everything else.
func waitLists(ctx context.Context, data string) error {
	return until(ctx, 10*time.Minute, 250*time.Millisecond, "the items of all days are listed", func(context.Context) (bool, error) {
		days, err := filepath.Glob(filepath.Join(data, "rows", "objectdata", "*.duckdb"))
		if err != nil {
			return false, err
		}
		lists, err := filepath.Glob(filepath.Join(data, "rows", "objectdata", "*.duckdb.items"))
		return len(lists) >= len(days)-1, err
	})
}

// during runs something with the server of a dataset, and stops it.
func (b *bench) during(ctx context.Context, e *dataset, do func(*server) error) (err error) {
	var flags []string
	if !e.collect {
		flags = []string{"--no-collect"}
	}
	s, err := b.start(ctx, e.data, e.key, flags...)
	if err != nil {
		return err
	}
	e.key = s.key
	defer func() { err = errors.Join(err, s.stop()) }()
	return do(s)
}

// askAll asks questions, one after the other.
func (b *bench) askAll(ctx context.Context, e *dataset, part string, list []question) (answers []*asked, err error) {
	err = b.during(ctx, e, func(s *server) error {
		for _, q := range list {
			a, err := s.put(ctx, q, e.scale)
			if err != nil {
				return err
			}
			b.progress("%s: p50 %.2f ms, p99 %.2f ms, %d runs", q.Name, a.P50, a.P99, a.Runs)
			b.addAsked(part, a)
			answers = append(answers, a)
		}
		return nil
	})
	return answers, err
}
