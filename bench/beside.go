package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

const besideClients = 8

// beside is a bulk load with and without clients that ask.
type beside struct {
	alone, again *measured // before and after
	with         *measured
	timing               // of the questions meanwhile
	rate         float64 // questions per second
	refused      int     // questions with another answer than 200
	example      string
}

// share is what the load keeps of its rate.
func (r *beside) share() float64 {
	return 100 * r.with.rate() / ((r.alone.rate() + r.again.rate()) / 2)
}

// askBeside sends, sends while clients ask, and sends again.
func (b *bench) askBeside(ctx context.Context, e *estate, list []*asked) (r *beside, err error) {
	r = &beside{}
	err = b.during(ctx, e, func(s *server) (err error) {
		j := bulkJob(e.objects, e.seconds)
		b.say("bulk load alone, %.0f s", j.Seconds)
		if r.alone, err = b.runStored(ctx, s, j); err != nil {
			return err
		}
		b.say("bulk load beside %d clients, %.0f s", besideClients, j.Seconds)
		if err := b.loadAsked(ctx, s, j, list, r); err != nil {
			return err
		}
		b.say("bulk load alone, %.0f s", j.Seconds)
		r.again, err = b.runStored(ctx, s, j)
		return err
	})
	if err == nil {
		b.say("%.0f %% of the rate alone, %.0f queries/s", r.share(), r.rate)
	}
	return r, err
}

// loadAsked runs a load while clients ask the questions of the mix in turn, each beginning with another.
func (b *bench) loadAsked(ctx context.Context, s *server, j job, list []*asked, r *beside) (err error) {
	var requests [][]byte
	for _, a := range list {
		if a.mix {
			requests = append(requests, a.request(s.key))
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := make(chan struct{})
	tallies := make([]tally, besideClients)
	var all sync.WaitGroup
	start := time.Now()
	for i := range tallies {
		all.Go(func() {
			if err := askOn(s.addr, requests, i, end, &tallies[i]); err != nil {
				cancel(fmt.Errorf("client %d: %w", i, err))
			}
		})
	}
	r.with, err = b.runStored(ctx, s, j)
	seconds := time.Since(start).Seconds()
	close(end)
	all.Wait()
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return err
	}
	r.add(tallies, seconds)
	return s.waitVisible(ctx, j.collection(), r.with.Start, r.with.Rows)
}

// askOn asks until the end.
func askOn(addr string, requests [][]byte, first int, end <-chan struct{}, t *tally) error {
	client, err := newAsker(addr)
	if err != nil {
		return err
	}
	defer client.close()
	for n := first; ; n++ {
		select {
		case <-end:
			return nil
		default:
		}
		at := time.Now()
		status, body, err := client.ask(requests[n%len(requests)])
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			t.refused++
			t.example = fmt.Sprintf("%d %.200s", status, body)
			continue
		}
		t.latencies = append(t.latencies, time.Since(at))
	}
}

// add makes figures of what the clients have seen.
func (r *beside) add(tallies []tally, seconds float64) {
	var all []time.Duration
	for _, t := range tallies {
		all = append(all, t.latencies...)
		r.refused += t.refused
		if t.example != "" {
			r.example = t.example
		}
	}
	slices.Sort(all)
	r.timing = timing{quantile(all, 0.5), quantile(all, 0.99), quantile(all, 1), len(all)}
	r.rate = float64(len(all)) / seconds
}
