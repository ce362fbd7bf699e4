package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/collect/filter"
	"belfry/collect/script"
)

// pipeline is filter and script of a receiver. It is for one goroutine.
type pipeline[M any] struct {
	env      *Env
	format   messageFormat[M]
	customer belfry.CustomerID

	filter  *filter.Filter
	script  *script.Runner
	backoff backoff // of the script
	broken  error   // if set, all messages are kept unchanged
}

// backoff suspends a script that fails again and again: failures take time, and meanwhile the inbox would overflow. While it is
// suspended, messages are kept unchanged.
type backoff struct {
	count int           // consecutive failures
	spent time.Duration // by these failures
	until time.Time
	why   error
}

const (
	backoffAfter      = 20 // failures
	backoffAfterSpent = time.Second
	backoffFor        = 10 * time.Second
)

// failed counts a failure and suspends the script after too many. After the pause, one more is enough.
func (r *backoff) failed(why error, now time.Time, took time.Duration) {
	r.count++
	r.spent += took
	if r.count >= backoffAfter || r.spent >= backoffAfterSpent {
		r.until, r.why = now.Add(backoffFor), fmt.Errorf("it failed %d times in a row and is suspended for %v: %w", r.count, backoffFor, why)
	}
}

// newPipeline makes the pipeline for the answers of a resource. The column is the one that is wrong. Kills counts the workers that had
// to be killed because of the script, for all pipelines of a receiver; nil for a trial.
func newPipeline[M any](ctx context.Context, e *Env, f messageFormat[M], c belfry.CustomerID, answers map[string]string, kills *atomic.Int32) (p *pipeline[M], column string, err error) {
	p = &pipeline[M]{env: e, format: f, customer: c}
	if text := answers["filter"]; strings.TrimSpace(text) != "" {
		p.filter, err = compileFilter(ctx, e, c, text, new(M))
		column = "filter"
	}
	if text := answers["script"]; err == nil && strings.TrimSpace(text) != "" {
		if p.script, err = script.New(&e.scripts, c, text, kills); err == nil {
			err = p.script.Open(ctx)
		}
		column = "script"
	}
	switch {
	case err == nil:
		return p, "", nil
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	}
	return nil, column, fmt.Errorf("the %s is wrong: %w", column, err)
}

// compileFilter compiles a filter in a turn of the customer. The turn ends before the script waits for a process.
func compileFilter(ctx context.Context, e *Env, c belfry.CustomerID, text string, sample any) (*filter.Filter, error) {
	turn := e.filters.Begin(ctx, c)
	defer turn.End()
	if err := turn.Pause(); err != nil {
		return nil, err
	}
	return filter.New(text, sample)
}

// checkPipeline validates filter and script when they are provisioned.
func checkPipeline[M any](ctx context.Context, e *Env, f messageFormat[M], c belfry.CustomerID, answers map[string]string) (column string, err error) {
	p, column, err := newPipeline(ctx, e, f, c, answers, new(atomic.Int32))
	if err == nil {
		p.close()
	}
	return column, err
}

func (p *pipeline[M]) close() {
	if p.script != nil {
		p.script.Close()
	}
}

// verdict is the result of filter and script for one message.
type verdict[M any] struct {
	rejectedBy string // filter or script; empty: it is kept
	feeds      []script.Feed
	original   *M     // before the script changed it; set if there are feeds, which may be refused
	returned   []byte // the message as the script returned it
	failed     error  // if set, the message is kept unchanged
}

// apply runs filter and script on messages; the script may change them. A failure never drops a message. A nil result means
// that all are kept unchanged.
func (p *pipeline[M]) apply(ctx context.Context, messages []M) []verdict[M] {
	if p.filter == nil && p.script == nil && p.broken == nil {
		return nil
	}
	all := make([]verdict[M], len(messages))
	if p.filter != nil {
		p.applyFilter(ctx, messages, all)
	}
	var open []int // indices of messages for the script
	for i := range all {
		switch {
		case p.broken != nil:
			all[i].failed = p.broken
		case p.script != nil && all[i].failed == nil && all[i].rejectedBy == "":
			open = append(open, i)
		}
	}
	for len(open) > 0 {
		if time.Now().Before(p.backoff.until) {
			for _, i := range open {
				all[i].failed = fmt.Errorf("script: %w", p.backoff.why)
			}
			break
		}
		open = p.runScript(ctx, messages, all, open[:min(len(open), script.BatchSize)], open)
	}
	return all
}

// applyFilter runs the filter, in turns with the other filters of the customer.
func (p *pipeline[M]) applyFilter(ctx context.Context, messages []M, all []verdict[M]) {
	turn := p.env.filters.Begin(ctx, p.customer)
	defer turn.End()
	over := turn.Pause()
	steps := 0 // used in this turn
	for i := range messages {
		if steps >= filter.TurnSteps && over == nil {
			steps, over = 0, turn.Pause()
		}
		keep, err := false, over
		if over == nil {
			err = p.env.guard(func() (err error) {
				keep, err = p.filter.Keep(&messages[i], p.format.size(&messages[i]))
				return err
			})
			steps += p.filter.StepsUsed()
		}
		switch {
		case err != nil:
			all[i].failed = fmt.Errorf("filter: %w", err)
		case !keep:
			all[i].rejectedBy = "filter"
		}
	}
}

// off reports whether the script is switched off.
func (p *pipeline[M]) off() bool { return p.script != nil && p.script.Off() }

// runScript runs the script on some of the open messages, and returns those that are still open.
func (p *pipeline[M]) runScript(ctx context.Context, messages []M, all []verdict[M], some, open []int) []int {
	texts := make([][]byte, 0, len(some))
	for _, i := range some {
		text, err := json.Marshal(&messages[i])
		if err != nil { // cannot happen
			text = []byte("{}")
		}
		texts = append(texts, text)
	}
	results := p.script.Run(ctx, texts)
	for n := range results {
		r, i := &results[n], some[n]
		v, err := &all[i], r.Err
		if err == nil {
			err = p.env.guard(func() error { return p.applyResult(v, r.Text, &messages[i]) })
		}
		if err == nil {
			p.backoff = backoff{}
			continue
		}
		v.failed = fmt.Errorf("script: %w", err)
		if v.rejectedBy, v.feeds = "", nil; errors.Is(err, script.ErrOff) || ctx.Err() != nil {
			for _, i := range open[n:] {
				all[i].failed = v.failed
			}
			return nil
		}
		p.backoff.failed(err, time.Now(), r.Took)
	}
	return open[len(results):]
}

// applyResult reads what the script returned for a message.
func (p *pipeline[M]) applyResult(v *verdict[M], text []byte, m *M) (err error) {
	if v.returned, v.feeds, err = script.ParseResult(text); err != nil {
		return err
	}
	if len(v.feeds) > 0 {
		came := *m
		v.original = &came
	}
	if v.returned == nil {
		v.rejectedBy = "script"
		return nil
	}
	changed := copyMessage(m)
	if err := json.Unmarshal(v.returned, changed); err != nil {
		return fmt.Errorf("result of message(m): %w", describeJSONError(err))
	}
	if err := checkMessage(p.format, changed); err != nil {
		return fmt.Errorf("result of message(m): %w", err)
	}
	*m = *changed
	return nil
}

// feed stores what a script sends about objects: all rows or none.
func (e *Env) feed(ctx context.Context, t Task, feeds []script.Feed) error {
	rows, err := script.Rows(feeds, t.Name)
	if err != nil {
		return err
	}
	err = e.guard(func() error {
		return e.Intake.Feed(ctx, e.tree.Access().ScopeOf(t.Customer, t.Author), rows, false)
	})
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	return nil
}
