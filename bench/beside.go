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

// beside are bulk loads with and without clients that ask.
type beside struct {
	turns
	timing          // of the questions meanwhile
	answers float64 // to them, per second
	tallies []tally
	seconds float64
	refused int // questions with another answer than 200
	example string
}

// askBeside sends, alone and while clients ask.
func (b *bench) askBeside(ctx context.Context, e *estate, list []*asked) (r *beside, err error) {
	r = &beside{}
	err = b.during(ctx, e, func(s *server) (err error) {
		j := bulkJob(e.objects, e.seconds*3/turnCount)
		r.turns, err = takeTurns(func(with bool) (*measured, error) {
			b.say("bulk load, clients beside it %v, %.0f s", with, j.Seconds)
			if with {
				return b.loadAsked(ctx, s, j, list, r)
			}
			return b.runStored(ctx, s, j)
		})
		return err
	})
	if err == nil {
		r.sum()
		b.say("%.0f %% of the rate alone, %.0f queries/s", r.share(), r.answers)
	}
	return r, err
}

// loadAsked runs a load while clients ask the questions of the mix in turn, each beginning with another.
func (b *bench) loadAsked(ctx context.Context, s *server, j job, list []*asked, r *beside) (m *measured, err error) {
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
	m, err = b.runStored(ctx, s, j)
	r.seconds += time.Since(start).Seconds()
	close(end)
	all.Wait()
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	r.tallies = append(r.tallies, tallies...)
	return m, s.waitVisible(ctx, j.collection(), m.Start, m.Rows)
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

// sum makes figures of what the clients have seen.
func (r *beside) sum() {
	var all []time.Duration
	for _, t := range r.tallies {
		all = append(all, t.latencies...)
		r.refused += t.refused
		if t.example != "" {
			r.example = t.example
		}
	}
	slices.Sort(all)
	r.timing = timing{quantile(all, 0.5), quantile(all, 0.99), quantile(all, 1), len(all)}
	r.answers = float64(len(all)) / r.seconds
}
