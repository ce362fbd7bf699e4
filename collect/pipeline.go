package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"belfry"
)

// pipeline is filter and script of a receiver, for messages of one kind. It is for one goroutine.
type pipeline[M any] struct {
	env      *Env
	customer belfry.CustomerID

	filter *Filter
	script *scriptRunner
	backoff  backoff  // of the script
	broken error // why there is neither: then messages are kept as they come
}

// backoff is what a script gets that fails again and again: each time takes its time, and meanwhile messages would be lost for
// want of room. While it rests, they are kept as they come.
type backoff struct {
	count int           // failures, one after the other
	spent time.Duration // that they took together
	until time.Time
	why   error
}

const (
	backoffAfter      = 20 // failures
	backoffAfterSpent = time.Second
	backoffFor        = 10 * time.Second
)

// failed books a failure; after too many the rest begins. Then one more is enough.
func (r *backoff) failed(why error, now time.Time, took time.Duration) {
	r.count++
	r.spent += took
	if r.count >= backoffAfter || r.spent >= backoffAfterSpent {
		r.until, r.why = now.Add(backoffFor), fmt.Errorf("it failed %d times in a row and rests for %v: %w", r.count, backoffFor, why)
	}
}

// newPipeline makes the pipeline that the answers of a resource ask for. The column is where a fault is. Kills counts the
// workers that the script has cost; all pipelines of a receiver share it.
func newPipeline[M any](ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string, kills *atomic.Int32) (p *pipeline[M], column string, err error) {
	return makePipeline[M](ctx, e, c, answers, &scriptRunner{workers: &e.scripts, customer: c, limit: e.scripts.limit, kills: kills})
}

// trialPipeline makes the pipeline for somebody who tries filter and script.
func trialPipeline[M any](ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string) (p *pipeline[M], column string, err error) {
	return makePipeline[M](ctx, e, c, answers, &scriptRunner{workers: &e.scripts, customer: c, limit: e.scripts.limit, kills: new(atomic.Int32), trial: true})
}

// makePipeline makes a pipeline. The lane is used if there is a script.
func makePipeline[M any](ctx context.Context, e *Env, c belfry.CustomerID, answers map[string]string, lane *scriptRunner) (p *pipeline[M], column string, err error) {
	p = &pipeline[M]{env: e, customer: c}
	if text := answers["filter"]; strings.TrimSpace(text) != "" {
		if p.filter, err = compileFilter(ctx, e, c, text, new(M)); err != nil {
			if ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			return nil, "filter", fmt.Errorf("the filter is wrong: %w", err)
		}
	}
	if text := answers["script"]; strings.TrimSpace(text) != "" {
		if err := checkScript(text); err != nil {
			return nil, "script", fmt.Errorf("the script is wrong: %w", err)
		}
		p.script, lane.text = lane, text
		if p.script.limit == (scriptLimit{}) {
			p.script.limit = scriptLimit{scriptStart, scriptTime}
		}
		if err := p.script.open(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			return nil, "script", fmt.Errorf("the script is wrong: %w", err)
		}
	}
	return p, "", nil
}

// compileFilter makes a filter in a turn of the customer, which ends before its script waits for a process.
func compileFilter(ctx context.Context, e *Env, c belfry.CustomerID, text string, sample any) (*Filter, error) {
	turn, err := e.filters.Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	return NewFilter(text, sample)
}

// checkPipeline judges filter and script when they are provisioned.
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

// verdict is what filter and script say of a message.
type verdict[M any] struct {
	rejectedBy     string // which of them did not want it; empty: it is kept
	feeds  []Feed
	original   *M     // the message before the script changed it, if there are feeds, which may be refused
	returned  []byte // what the script gave back
	failed error  // why one of them has no say: then the message is kept as it came
}

// apply asks filter and script about messages, and lets the script change them. One that fails never costs a message. Nil says
// that all are kept.
func (p *pipeline[M]) apply(ctx context.Context, messages []M) []verdict[M] {
	if p.filter == nil && p.script == nil && p.broken == nil {
		return nil
	}
	all := make([]verdict[M], len(messages))
	if p.filter != nil {
		p.applyFilter(ctx, messages, all)
	}
	var open []int // for the script
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

// applyFilter asks the filter about messages, in turns with the other filters of the customer.
func (p *pipeline[M]) applyFilter(ctx context.Context, messages []M, all []verdict[M]) {
	turn, over := p.env.filters.Begin(ctx, p.customer)
	if over == nil {
		defer turn.End()
	}
	steps := 0 // in this turn
	for i := range messages {
		if steps >= turnSteps && over == nil {
			steps, over = 0, turn.Pause()
		}
		keep, err := false, over
		if over == nil {
			keep, err = p.filter.Keep(any(&messages[i]).(message))
			steps += p.filter.taken()
		}
		switch {
		case err != nil:
			all[i].failed = fmt.Errorf("filter: %w", err)
		case !keep:
			all[i].rejectedBy = "filter"
		}
	}
}

// off tells that the script is not run any more.
func (p *pipeline[M]) off() bool { return p.script != nil && p.script.kills.Load() >= scriptKills }

// runScript shows some messages to the script, and gives back those of all that are still open.
func (p *pipeline[M]) runScript(ctx context.Context, messages []M, all []verdict[M], some, open []int) []int {
	texts := make([][]byte, 0, len(some))
	for _, i := range some {
		text, err := json.Marshal(&messages[i])
		if err != nil { // no message has what cannot be written
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

// applyResult reads what the script made of a message.
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
	if t, ok := any(&changed).(*Trap); ok {
		t.P = slices.Clone(t.P) // or the values of the message itself would change
	}
	if err := json.Unmarshal(v.returned, &changed); err != nil {
		return fmt.Errorf("what message(m) gave back: %w", describeJSONError(err))
	}
	if err := any(&changed).(message).check(); err != nil {
		return fmt.Errorf("what message(m) gave back: %w", err)
	}
	*m = changed
	return nil
}
