package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// queried is what the part queries has found.
type queried struct {
	scale      scale
	rows, day  int // of objectdata: in all, and on the day that is asked for
	disk       disk
	many, days []*asked // of the estate of many rows, and of that of many days
	indexed    float64  // seconds after the last line until its token filters were complete
	beside     *beside
	filtered   *filtered
}

// estate is a data folder that was filled through the server, and the moment until which it has data.
type estate struct {
	scale
	now  time.Time
	data string
	key  string
}

// queries fills two estates, asks all questions over HTTP, and lets the engine answer the same questions, written by
// hand, on the same files. Then the clients ask while others send.
func (b *bench) queries(ctx context.Context) (err error) {
	r := &queried{scale: b.scale()}
	if r.days, err = b.askDays(ctx, r.scale); err != nil {
		return err
	}
	many := &estate{scale: r.scale, now: time.Now(), data: filepath.Join(b.tmp, "queries")}
	if err := b.fillMany(ctx, many, r); err != nil {
		return err
	}
	if r.many, err = b.compare(ctx, many, many.objects/2, many.questions); err != nil {
		return err
	}
	if r.beside, err = b.askBeside(ctx, many, r.many); err != nil {
		return err
	}
	if r.filtered, err = b.filters(ctx, many.seconds*2/5); err != nil {
		return fmt.Errorf("token filters: %w", err)
	}
	b.res.queried = r
	return nil
}

// askDays is the part about many files. The chart is asked twice: as soon as the rows are in, when it has to read them
// all, and with the others, once the server has summed them up.
func (b *bench) askDays(ctx context.Context, scale scale) (list []*asked, err error) {
	e := &estate{scale: scale, now: time.Now(), data: filepath.Join(b.tmp, "days")}
	b.say("filling %d days", e.days)
	var early *asked
	err = b.during(ctx, e, func(s *server) error {
		if err := s.makeResources(ctx, dayObjects); err != nil {
			return err
		}
		if _, err := s.fill(ctx, 1, dayBodies(e.now, e.days)); err != nil {
			return err
		}
		early, err = s.put(ctx, e.earlyChart(), e.scale)
		return err
	})
	if err == nil {
		b.say("summing up %d days, listing their items", e.days)
		err = b.during(ctx, e, func(s *server) error { return errors.Join(s.waitSummaries(ctx), waitLists(ctx, e.data)) })
	}
	if err != nil {
		return nil, fmt.Errorf("estate of %d days: %w", e.days, err)
	}
	if list, err = b.compare(ctx, e, steady, e.dayQuestions); err != nil {
		return nil, err
	}
	chart := list[len(list)-1]
	if !agree(early.total, chart.total) {
		return nil, fmt.Errorf("%s: the sum is %v right after sending, and %v from summaries", chart.name, early.total, chart.total)
	}
	early.before, early.after = chart.before, chart.after
	return append(list, early), nil
}

// fillMany makes the estate of many rows, and stops the server, which folds everything into the files.
func (b *bench) fillMany(ctx context.Context, e *estate, r *queried) (err error) {
	plan := stretches(e.now)
	r.rows, r.day = rowsOf(plan, e.objects), plan[1].rounds*e.objects
	b.say("filling %d rows and %d log lines", r.rows, e.lines)
	err = b.during(ctx, e, func(s *server) error {
		if err := s.makeResources(ctx, e.objects); err != nil {
			return err
		}
		n, err := s.fill(ctx, e.objects, stretchBodies(plan, e.objects))
		if err == nil && n != r.rows {
			err = fmt.Errorf("%d rows were sent, %d should have been", n, r.rows)
		}
		if err != nil {
			return err
		}
		b.say("rows are in")
		if _, err := s.fill(ctx, 0, newStory(plan[1].from, e.lines).bodies); err != nil {
			return err
		}
		b.say("lines are in")
		r.indexed, err = waitFilters(ctx, e.data)
		return err
	})
	if err == nil { // so that nobody does it while the questions are asked
		b.say("summing up")
		err = b.during(ctx, e, func(s *server) error { return s.waitSummaries(ctx) })
	}
	if err != nil {
		return err
	}
	r.disk, err = usage(e.data)
	return err
}

// during runs something with the server of an estate, and stops it.
func (b *bench) during(ctx context.Context, e *estate, do func(*server) error) (err error) {
	s, err := b.startServer(ctx, e.data, e.key)
	if err != nil {
		return err
	}
	e.key = s.key
	defer func() { err = errors.Join(err, s.stop()) }()
	return do(s)
}

// compare asks the questions of an estate, between two runs of the marks on its files.
func (b *bench) compare(ctx context.Context, e *estate, object int, questions func(item uint64) []question) ([]*asked, error) {
	var item uint64
	err := b.during(ctx, e, func(s *server) (err error) {
		item, err = s.item(ctx, object)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := questions(item)
	b.say("marks, before")
	before, err := b.marks(ctx, e.data, e.scale, list)
	if err != nil {
		return nil, fmt.Errorf("marks: %w", err)
	}
	answers, err := b.askAll(ctx, e, list)
	if err != nil {
		return nil, err
	}
	b.say("marks, after")
	after, err := b.marks(ctx, e.data, e.scale, slices.DeleteFunc(list, func(q question) bool { return q.slow }))
	if err != nil {
		return nil, fmt.Errorf("marks: %w", err)
	}
	for _, a := range answers {
		a.before, a.after = before[a.mark], after[a.mark]
		if a.before != nil && a.sum != "" && !agree(a.total, a.before.Sum) {
			return nil, fmt.Errorf("%s: the sum of %s is %v, by hand it is %v", a.name, a.sum, a.total, a.before.Sum)
		}
	}
	return answers, nil
}

func (b *bench) askAll(ctx context.Context, e *estate, list []question) (answers []*asked, err error) {
	err = b.during(ctx, e, func(s *server) error {
		for _, q := range list {
			a, err := s.put(ctx, q, e.scale)
			if err != nil {
				return err
			}
			b.say("%s: p50 %.2f ms, p99 %.2f ms, %d runs", q.name, a.P50, a.P99, a.Runs)
			answers = append(answers, a)
		}
		return nil
	})
	return answers, err
}
