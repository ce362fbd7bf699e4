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
)

// pipeline is filter and script of a receiver. It is for one goroutine.
type pipeline[M any] struct {
	env      *Env
	customer belfry.CustomerID

	filter  *Filter
	script  *scriptRunner
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
		r.until, r.why = now.Add(backoffFor), fmt.Errorf("it failed %d times in a row and rests for %v: %w", r.count, backoffFor, why)
	}
}

// newPipeline makes the pipeline for the answers of a resource. The column is the one that is wrong. Kills counts the workers that had
// to be killed because of the script, for all pipelines of a receiver; nil for a trial.
func newPipeline[M any](ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string, kills *atomic.Int32) (p *pipeline[M], column string, err error) {
	p = &pipeline[M]{env: e, customer: c}
	if text := answers["filter"]; strings.TrimSpace(text) != "" {
		p.filter, err = compileFilter(ctx, e, c, text, new(M))
		column = "filter"
	}
	if text := answers["script"]; err == nil && strings.TrimSpace(text) != "" {
		p.script, err = openScript(ctx, e, c, text, kills)
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
func compileFilter(ctx context.Context, e *Env, c belfry.CustomerID, text string, sample any) (*Filter, error) {
	turn, err := e.filters.Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	return NewFilter(text, sample)
}

// checkPipeline validates filter and script when they are provisioned.
func checkPipeline[M any](ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string) (column string, err error) {
	p, column, err := newPipeline[M](ctx, e, c, answers, new(atomic.Int32))
	if err == nil {
		p.close()
	}
	return column, err
}

func (p *pipeline[M]) close() {
	if p.script != nil {
		p.script.close()
	}
}

// verdict is the result of filter and script for one message.
type verdict[M any] struct {
	rejectedBy string // filter or script; empty: it is kept
	feeds      []Feed
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
		open = p.runScript(ctx, messages, all, open[:min(len(open), runMessages)], open)
	}
	return all
}

// applyFilter runs the filter, in turns with the other filters of the customer.
func (p *pipeline[M]) applyFilter(ctx context.Context, messages []M, all []verdict[M]) {
	turn, over := p.env.filters.Begin(ctx, p.customer)
	if over == nil {
		defer turn.End()
	}
	steps := 0 // used in this turn
	for i := range messages {
		if steps >= turnSteps && over == nil {
			steps, over = 0, turn.Pause()
		}
		keep, err := false, over
		if over == nil {
			keep, err = p.filter.Keep(any(&messages[i]).(message))
			steps += p.filter.stepsUsed()
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
func (p *pipeline[M]) off() bool { return p.script != nil && p.script.kills.Load() >= scriptKills }

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
	results := p.script.run(ctx, texts)
	for n := range results {
		r, i := &results[n], some[n]
		v, err := &all[i], r.err
		if err == nil {
			err = applyResult(v, r.text, &messages[i])
		}
		if err == nil {
			p.backoff = backoff{}
			continue
		}
		v.failed = fmt.Errorf("script: %w", err)
		if v.rejectedBy, v.feeds = "", nil; errors.Is(err, errScriptOff) || ctx.Err() != nil {
			for _, i := range open[n:] {
				all[i].failed = v.failed
			}
			return nil
		}
		p.backoff.failed(err, time.Now(), r.took)
	}
	return open[len(results):]
}

// applyResult reads what the script returned for a message.
func applyResult[M any](v *verdict[M], text []byte, m *M) (err error) {
	if v.returned, v.feeds, err = readResult(text); err != nil {
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
	changed := *m
	any(&changed).(message).unshare()
	if err := json.Unmarshal(v.returned, &changed); err != nil {
		return fmt.Errorf("what message(m) gave back: %w", describeJSONError(err))
	}
	if err := any(&changed).(message).check(); err != nil {
		return fmt.Errorf("what message(m) gave back: %w", err)
	}
	*m = changed
	return nil
}
