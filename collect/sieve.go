package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry"
)

// sieve is filter and script of a receiver, for messages of one kind. It is for one goroutine.
type sieve[M any] struct {
	filter *Filter
	script *Script
	fails  rest // of the script
}

// rest is what a script gets that fails again and again: each time takes its time, and meanwhile messages would be lost for
// want of room. While it rests, they are kept as they come.
type rest struct {
	count int           // failures, one after the other
	spent time.Duration // that they took together
	until time.Time
	why   error
}

const (
	restAfter      = 20 // failures
	restAfterSpent = time.Second
	restFor        = 10 * time.Second
)

// failed books a failure; after too many the rest begins. Then one more is enough.
func (r *rest) failed(why error, now time.Time, took time.Duration) {
	r.count++
	r.spent += took
	if r.count >= restAfter || r.spent >= restAfterSpent {
		r.until, r.why = now.Add(restFor), fmt.Errorf("it failed %d times in a row and rests for %v: %w", r.count, restFor, why)
	}
}

// newSieve makes the sieve that the answers of a resource ask for. The column is where a fault is.
func newSieve[M any](answers map[string]string) (s *sieve[M], column string, err error) {
	s = &sieve[M]{}
	if text := answers["filter"]; strings.TrimSpace(text) != "" {
		if s.filter, err = NewFilter(text, new(M)); err != nil {
			return nil, "filter", fmt.Errorf("the filter is wrong: %w", err)
		}
	}
	if text := answers["script"]; strings.TrimSpace(text) != "" {
		if s.script, err = NewScript(text); err != nil {
			return nil, "script", fmt.Errorf("the script is wrong: %w", err)
		}
	}
	return s, "", nil
}

// checkSieve judges filter and script when they are provisioned.
func checkSieve[M any](answers map[string]string) (column string, err error) {
	s, column, err := newSieve[M](answers)
	if err == nil {
		s.close()
	}
	return column, err
}

func (s *sieve[M]) close() {
	if s.script != nil {
		s.script.Close()
	}
}

// verdict is what filter and script say of a message.
type verdict struct {
	by     string // which of them did not want it; empty: it is kept
	feeds  []Feed
	given  []byte // what the script gave back
	failed error  // why one of them has no say: then the message is kept as it came
}

// judge asks filter and script about a message, and lets the script change it. One that fails never costs a message.
func (s *sieve[M]) judge(m *M) verdict {
	if s.filter != nil {
		keep, err := s.filter.Keep(m)
		if err != nil {
			return verdict{failed: fmt.Errorf("filter: %w", err)}
		}
		if !keep {
			return verdict{by: "filter"}
		}
	}
	if s.script == nil {
		return verdict{}
	}
	now := time.Now()
	if now.Before(s.fails.until) {
		return verdict{failed: fmt.Errorf("script: %w", s.fails.why)}
	}
	v, err := s.ask(m)
	if err != nil {
		s.fails.failed(err, time.Now(), time.Since(now))
		return verdict{given: v.given, failed: fmt.Errorf("script: %w", err)}
	}
	s.fails = rest{}
	return v
}

// ask shows a message to the script.
func (s *sieve[M]) ask(m *M) (v verdict, err error) {
	text, err := json.Marshal(m)
	if err != nil {
		return v, err
	}
	if v.given, v.feeds, err = s.script.Run(text); err != nil {
		return v, err
	}
	if v.given == nil {
		v.by = "script"
		return v, nil
	}
	changed := *m
	if err := json.Unmarshal(v.given, &changed); err != nil {
		return v, fmt.Errorf("what message(m) gave back: %w", unfit(err))
	}
	if err := any(&changed).(made).check(); err != nil {
		return v, fmt.Errorf("what message(m) gave back: %w", err)
	}
	*m = changed
	return v, nil
}

// row is what a script sent, as a row for the receiver's resource unless it says otherwise.
func (f *Feed) row(resource string) (*belfry.Row, error) {
	r := &belfry.Row{Type: "data", Resource: resource, Object: f.Object, Class: f.Class, View: f.View}
	if f.Resource != "" {
		r.Resource = f.Resource
	}
	if f.Log {
		r.Type, r.Log = "log", f.Text
		return r, nil
	}
	for name, v := range f.Values {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "i"))
		if err != nil || n < 1 || !strings.HasPrefix(name, "i") {
			return nil, fmt.Errorf("data(%q, …): there is no indicator %q; they are i1, i2, …", f.Object, name)
		}
		text := ""
		switch v := v.(type) {
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		case string:
			text = v
		default:
			return nil, fmt.Errorf("data(%q, …): %s is neither a number nor a text", f.Object, name)
		}
		r.Indicators = append(r.Indicators, belfry.Cell{N: n, Text: text})
	}
	return r, nil
}

// feed sends what a script wants to tell about objects.
func (e *Env) feed(ctx context.Context, t Task, feeds []Feed) error {
	for i := range feeds {
		row, err := feeds[i].row(t.Name)
		if err == nil {
			err = send(ctx, e.Sink, t.Customer, row)
		}
		if err != nil {
			return fmt.Errorf("script: %w", err)
		}
	}
	return nil
}
