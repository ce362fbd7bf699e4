package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"belfry"
)

// sieve is filter and script of a receiver, for messages of one kind. It is for one goroutine.
type sieve[M any] struct {
	filter *Filter
	script *Script
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

// pass tells whether a message is kept, and lets the script change it. A filter or script that fails never costs a
// message: it is kept as it came, and failed says why.
func (s *sieve[M]) pass(m *M) (keep bool, feeds []Feed, failed error) {
	if s.filter != nil {
		keep, err := s.filter.Keep(m)
		if err != nil {
			return true, nil, fmt.Errorf("filter: %w", err)
		}
		if !keep {
			return false, nil, nil
		}
	}
	if s.script == nil {
		return true, nil, nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return true, nil, fmt.Errorf("script: %w", err)
	}
	kept, feeds, err := s.script.Run(text)
	if err != nil {
		return true, nil, fmt.Errorf("script: %w", err)
	}
	if kept == nil {
		return false, feeds, nil
	}
	changed := *m
	if err := json.Unmarshal(kept, &changed); err != nil {
		return true, nil, fmt.Errorf("script: what message(m) gave back: %w", err)
	}
	*m = changed
	return true, feeds, nil
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
