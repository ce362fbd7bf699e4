package collect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// trial is what a user wants to see: what filter and script of a receiver make of a message.
type trial struct {
	Sample json.RawMessage `json:"sample"` // a line as a device sends it, or the fields of a message
	From   string          `json:"from"`   // who sends it
	Filter *string         `json:"filter"` // instead of those of the resource
	Script *string         `json:"script"`
}

// Tried is what became of the message of a trial. Nothing of it is stored.
type Tried struct {
	Received any        `json:"received"`          // the message as filter and script see it
	Result   string     `json:"result"`            // kept or filtered
	By       string     `json:"by,omitempty"`      // what did not want it: filter or script
	Stored   any        `json:"stored,omitempty"`  // the message as it would be kept
	Ignored  []string   `json:"ignored,omitempty"` // fields that the script has made and no message has
	Feeds    []TriedRow `json:"feeds"`             // what would be sent about objects
	Error    string     `json:"error,omitempty"`   // why filter or script failed: then the message is kept as it came
	Time     float64    `json:"milliseconds"`      // that filter and script took

	rows []*belfry.Row // the feeds, as they would be sent
}

// TriedRow is what a script would send about an object.
type TriedRow struct {
	Type     string            `json:"type"`
	Resource string            `json:"resource"`
	Object   string            `json:"object"`
	Class    string            `json:"class,omitempty"`
	View     string            `json:"view,omitempty"`
	Values   map[string]string `json:"values,omitempty"`
	Log      string            `json:"log,omitempty"`
}

// Try runs filter and script of a receiver on a sample, both as they are provisioned or as the body says. It works whether
// or not the receiver does. A script may take its time, so trials of one customer take turns; a customer whose scripts have held
// up others lately may not queue for them.
func (s *Supervisor) Try(ctx context.Context, scope belfry.Scope, resource string, body []byte) (*Tried, error) {
	task, err := s.findReceiver(scope, resource)
	if err != nil {
		return nil, err
	}
	done, err := s.trials.begin(ctx, scope.Customer, &s.env.scripts)
	if err != nil {
		return nil, err
	}
	defer done()
	t, err := readTrial(body) // in turn, since it may be long
	if err != nil {
		return nil, err
	}
	out, err := s.kinds[task.Kind].try(ctx, s.env, task, t)
	if err != nil {
		return nil, err
	}
	runs := s.tree.ScopeOf(scope.Customer, task.Author)
	if t.Script != nil {
		runs = scope // as if the user had provisioned it
	}
	if err := s.dryRun(ctx, out, runs, scope); err != nil {
		return nil, err
	}
	return out, nil
}

// dryRun sends what the script feeds in a dry run, with the limits that the real run has, and leaves out what the user may not
// see. The error is about the service; that a row is refused is part of the trial.
func (s *Supervisor) dryRun(ctx context.Context, out *Tried, runs, sees belfry.Scope) error {
	if len(out.rows) == 0 {
		return nil
	}
	err := s.env.Sink.Feed(ctx, runs, out.rows, true)
	if _, refused := errors.AsType[belfry.Refused](err); err != nil && !refused && belfry.CodeOf(err) != belfry.BodyTooLarge {
		return err
	}
	switch {
	case err == nil:
	case sees.Limited() && !slices.Equal(sees.Views, runs.Views): // it may be about something that they do not see
		out.fail(errors.New("script: a row that it feeds is refused"))
	default:
		out.fail(fmt.Errorf("script: %w", err))
	}
	s.tree.Read(sees.Customer, func(e *meta.Estate) {
		visible := e.Within(sees)
		out.Feeds = slices.DeleteFunc(out.Feeds, func(row TriedRow) bool { return e == nil || !visible.Has(e.Resource(row.Resource)) })
	})
	return nil
}

// fail says that filter or script failed: the message is kept as it came, and nothing is fed.
func (t *Tried) fail(why error) {
	t.Result, t.By, t.Stored, t.Feeds, t.Error = "kept", "", t.Received, []TriedRow{}, why.Error()
}

// findReceiver finds the resource of a trial, within what somebody may see.
func (s *Supervisor) findReceiver(scope belfry.Scope, name string) (t Task, err error) {
	var n *meta.Node
	s.tree.Read(scope.Customer, func(e *meta.Estate) {
		if e == nil {
			return
		}
		if within := e.Within(scope); within.Has(e.Resource(name)) {
			n = e.Resource(name)
		}
	})
	if n == nil {
		return t, belfry.Errorf(belfry.UnknownItem, "there is no resource %.100q; GET /api/provisioning/log-syslog-receiver and …/log-trap-receiver list the receivers", name)
	}
	t, _, known := s.assigned(n.ID)
	if !known || s.kinds[t.Kind].try == nil {
		return t, belfry.Errorf(belfry.BadParameter, "the resource %.100q is no receiver; one of log-syslog-receiver or log-trap-receiver has a filter and a script to try", name)
	}
	return t, nil
}

func readTrial(body []byte) (t trial, err error) {
	const example = `{"sample": "<13>Nov 15 10:00:00 sw1 a test", "filter": "severity <= 5"}`
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return t, belfry.Errorf(belfry.BadParameter, "unknown field %.64s; known are sample, from, filter and script", name)
		}
		return t, belfry.Errorf(belfry.BadJSON, "the body must be one JSON object, as in %s", example)
	}
	if d.More() {
		return t, belfry.Errorf(belfry.BadJSON, "the body must be one JSON object and nothing behind it, as in %s", example)
	}
	if len(t.Sample) == 0 || string(t.Sample) == "null" {
		return t, belfry.Errorf(belfry.BadParameter, "the field sample is missing: a message to try, as in %s", example)
	}
	if _, err := netip.ParseAddr(t.From); t.From != "" && err != nil {
		return t, belfry.Errorf(belfry.BadParameter, "from is %.64q; give the address of a sender, such as 192.0.2.1", t.From)
	}
	return t, nil
}

// answers are those of the resource with what the trial has instead.
func (t *trial) answers(of map[string]string) map[string]string {
	a := map[string]string{"filter": of["filter"], "script": of["script"]}
	if t.Filter != nil {
		a["filter"] = *t.Filter
	}
	if t.Script != nil {
		a["script"] = *t.Script
	}
	return a
}

// tryOn makes the trial of a kind of message. Read makes one of a text.
func tryOn[M any](read func(e *Env, task Task, text string) (M, error)) func(context.Context, *Env, Task, trial) (*Tried, error) {
	return func(ctx context.Context, e *Env, task Task, t trial) (*Tried, error) {
		m, err := parseSample(e, task, t, read)
		if err != nil {
			return nil, err
		}
		p, column, err := trialPipeline[M](ctx, e, task.Customer, t.answers(task.Answers))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, belfry.Errorf(belfry.BadParameter, "%s: %s", column, err)
		}
		defer p.close()
		return p.try(ctx, m, task.Name), nil
	}
}

// message is a message that came from no sender.
type message interface {
	blank()
	sender() *string
	size() int
	check() error
}

// parseSample is the message of a trial: a text is read as the receiver would, fields are taken as they are.
func parseSample[M any](e *Env, task Task, t trial, read func(*Env, Task, string) (M, error)) (m M, err error) {
	if t.Sample[0] == '"' {
		var text string
		if err := json.Unmarshal(t.Sample, &text); err != nil {
			return m, belfry.Errorf(belfry.BadJSON, "sample is no text that can be read")
		}
		if m, err = read(e, task, text); err != nil {
			return m, err
		}
	} else {
		any(&m).(message).blank()
		d := json.NewDecoder(bytes.NewReader(t.Sample))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil {
			return m, belfry.Errorf(belfry.BadParameter, "sample: %s; give a text, or an object with the fields %s",
				describeJSONError(err), strings.Join(fieldsOf[M](), ", "))
		}
		if err := any(&m).(message).check(); err != nil {
			return m, belfry.Errorf(belfry.BadParameter, "sample: %s", err)
		}
	}
	if ip := any(&m).(message).sender(); t.From != "" || *ip == "" {
		*ip = cmp.Or(t.From, "127.0.0.1")
	}
	return m, nil
}

// fieldsOf are the names of the fields of a message.
func fieldsOf[M any]() (names []string) {
	var m M
	text, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	fields := map[string]json.RawMessage{}
	json.Unmarshal(text, &fields)
	fields["devicetime"] = nil // which is left out when it is empty
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// try shows what filter and script make of a message.
func (p *pipeline[M]) try(ctx context.Context, m M, resource string) *Tried {
	out := &Tried{Received: m, Result: "kept", Feeds: []TriedRow{}}
	begun := time.Now()
	messages := []M{m}
	var v verdict[M]
	if verdicts := p.apply(ctx, messages); verdicts != nil {
		v, m = verdicts[0], messages[0]
	}
	out.Time = float64(time.Since(begun).Microseconds()) / 1000
	if v.rejectedBy != "" {
		out.Result, out.By = "filtered", v.rejectedBy
	} else {
		out.Stored = m
	}
	out.Ignored = ignored[M](v.returned)
	if v.failed == nil {
		out.rows, v.failed = rowsOf(v.feeds, resource)
	}
	if v.failed != nil {
		out.fail(v.failed)
	}
	for _, row := range out.rows {
		out.Feeds = append(out.Feeds, triedRow(row))
	}
	return out
}

// triedRow shows a row.
func triedRow(row *belfry.Row) TriedRow {
	r := TriedRow{Type: row.Type, Resource: row.Resource, Object: row.Object, Class: row.Class, View: row.View, Log: row.Log}
	for _, c := range row.Indicators {
		if r.Values == nil {
			r.Values = map[string]string{}
		}
		r.Values[fmt.Sprintf("i%d", c.N)] = c.Text
	}
	return r
}

// ignored lists the fields that a script gave back and no message has: they are probably misspelt.
func ignored[M any](given []byte) (names []string) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(given, &fields) != nil {
		return nil
	}
	known := fieldsOf[M]()
	for name := range fields {
		if !slices.Contains(known, name) {
			if near := catalog.Nearest(name, known); near != "" {
				name += " (" + near + "?)"
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// trialLocks lets each customer have one trial at a time.
type trialLocks struct {
	mu   sync.Mutex
	busy map[belfry.CustomerID]chan struct{} // closed when the trial is over
}

// begin waits until the customer has no other trial, or refuses if the customer has offences.
func (t *trialLocks) begin(ctx context.Context, c belfry.CustomerID, workers *scriptWorkers) (done func(), err error) {
	for {
		t.mu.Lock()
		before := t.busy[c]
		if before == nil {
			if t.busy == nil {
				t.busy = map[belfry.CustomerID]chan struct{}{}
			}
			mine := make(chan struct{})
			t.busy[c] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.busy, c)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		if wait, offends := workers.penalty(c); offends {
			err := belfry.Errorf(belfry.RateLimited, "a script is being tried, and scripts of this customer took too long or had to be ended lately; try one at a time until a minute has passed without")
			err.Retry = int((wait + time.Second - 1) / time.Second)
			return nil, err
		}
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
