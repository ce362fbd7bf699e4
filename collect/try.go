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
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/collect/script"
	"belfry/meta"
)

// trial is the request body of Try.
type trial belfry.Trial

// Tried is the result of a trial, with the feeds as rows.
type Tried struct {
	belfry.Tried
	rows []*belfry.Row
}

// Try runs filter and script of a receiver on a sample, as they are provisioned or as the body says, whether or not the
// receiver runs. Scripts may be slow, so a customer has one trial at a time; others queue, unless scripts of the customer were
// slow lately.
func (s *Supervisor) Try(ctx context.Context, scope belfry.Scope, resource string, body []byte) (*Tried, error) {
	task, err := s.findReceiver(scope, resource)
	if err != nil {
		return nil, err
	}
	done, err := s.env.scripts.BeginTrial(ctx, scope.Customer)
	if err != nil {
		return nil, err
	}
	defer done()
	t, err := readTrial(body) // within the lock, since it may be long
	if err != nil {
		return nil, err
	}
	out, err := s.kinds[task.Kind].try(ctx, s.env, task, t)
	if err != nil {
		return nil, err
	}
	runs := s.tree.Access().ScopeOf(scope.Customer, task.Author)
	if t.Script != nil {
		runs = scope // as if the user had provisioned it
	}
	if err := s.dryRun(ctx, out, runs, scope); err != nil {
		return nil, err
	}
	return out, nil
}

// dryRun sends the rows of a trial in a dry run, with the scope of the real run, and removes those that the user may not see. A
// row that is refused is part of the result; the error is for other failures.
func (s *Supervisor) dryRun(ctx context.Context, out *Tried, runs, sees belfry.Scope) error {
	if len(out.rows) == 0 {
		return nil
	}
	err := s.env.Intake.Feed(ctx, runs, out.rows, true)
	if _, refused := errors.AsType[belfry.Refused](err); err != nil && !refused && belfry.CodeOf(err) != belfry.BodyTooLarge {
		return err
	}
	switch {
	case err == nil:
	case sees.Limited() && !slices.Equal(sees.Views, runs.Views): // the reason may name an item that the user may not see
		out.fail(errors.New("script: a row that it feeds is refused"))
	default:
		out.fail(fmt.Errorf("script: %w", err))
	}
	s.hideOutside(out, sees)
	return nil
}

// hideOutside removes the rows of resources that are not visible in a scope; its customer may have been removed.
func (s *Supervisor) hideOutside(out *Tried, sees belfry.Scope) {
	s.tree.Read(sees.Customer, func(e *meta.Tenant) {
		visible := e.Visibility(sees)
		out.Feeds = slices.DeleteFunc(out.Feeds, func(row belfry.TriedRow) bool { return e == nil || !visible.Has(e.Resource(row.Resource)) })
	})
}

// fail sets the result for a failed filter or script: the message is kept unchanged, and nothing is sent.
func (t *Tried) fail(why error) {
	t.Result, t.By, t.Stored, t.Feeds, t.Error = "kept", "", t.Received, []belfry.TriedRow{}, why.Error()
}

// findReceiver returns the task of a receiver within a scope.
func (s *Supervisor) findReceiver(scope belfry.Scope, name string) (t Task, err error) {
	var n *meta.Node
	s.tree.Read(scope.Customer, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		if within := e.Visibility(scope); within.Has(e.Resource(name)) {
			n = e.Resource(name)
		}
	})
	if n == nil {
		return t, belfry.Errorf(belfry.UnknownItem, "there is no resource %.100q; GET /api/provisioning/%s list the receivers", name, strings.Join(s.receiverKinds(), " and …/"))
	}
	t, _, known := s.task(n.ID)
	if !known || s.kinds[t.Kind].try == nil {
		return t, belfry.Errorf(belfry.BadParameter, "the resource %.100q is no receiver; one of %s has a filter and a script to try", name, strings.Join(s.receiverKinds(), " or "))
	}
	return t, nil
}

// receiverKinds lists the kinds that have a filter and a script.
func (s *Supervisor) receiverKinds() (names []string) {
	for name, k := range s.kinds {
		if k.try != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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

// answers returns the filter and the script to try.
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

// try runs filter and script of a receiver on the message of a trial.
func try[M any](ctx context.Context, e *Env, task Task, t trial, f messageFormat[M]) (*Tried, error) {
	m, err := parseSample(e, task, t, f)
	if err != nil {
		return nil, err
	}
	p, column, err := newPipeline(ctx, e, f, task.Customer, t.answers(task.Answers), nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, belfry.Errorf(belfry.BadParameter, "%s: %s", column, err)
	}
	defer p.close()
	return p.try(ctx, m, task.Name), nil
}

// parseSample returns the message of a trial: a text is parsed as the receiver would, fields are taken as they are.
func parseSample[M any](e *Env, task Task, t trial, f messageFormat[M]) (m M, err error) {
	if t.Sample[0] == '"' {
		var text string
		if err := json.Unmarshal(t.Sample, &text); err != nil {
			return m, belfry.Errorf(belfry.BadJSON, "sample is no text that can be read")
		}
		if m, err = f.parse(e, task.Answers, text); err != nil {
			return m, err
		}
	} else {
		f.blank(&m)
		d := json.NewDecoder(bytes.NewReader(t.Sample))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil {
			return m, belfry.Errorf(belfry.BadParameter, "sample: %s; give a text, or an object with the fields %s",
				describeJSONError(err), strings.Join(fieldsOf[M](), ", "))
		}
		if err := checkMessage(f, &m); err != nil {
			return m, belfry.Errorf(belfry.BadParameter, "sample: %s", err)
		}
	}
	if ip := f.sender(&m); t.From != "" || *ip == "" {
		*ip = cmp.Or(t.From, "127.0.0.1")
	}
	return m, nil
}

// fieldsOf returns the names of the fields of a message.
func fieldsOf[M any]() (names []string) {
	var m M
	text, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	fields := map[string]json.RawMessage{}
	json.Unmarshal(text, &fields)
	fields["devicetime"] = nil // omitted when empty
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// try runs filter and script on one message.
func (p *pipeline[M]) try(ctx context.Context, m M, resource string) *Tried {
	out := &Tried{Tried: belfry.Tried{Received: m, Result: "kept", Feeds: []belfry.TriedRow{}}}
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
		out.rows, v.failed = script.Rows(v.feeds, resource)
	}
	if v.failed != nil {
		out.fail(v.failed)
	}
	for _, row := range out.rows {
		out.Feeds = append(out.Feeds, triedRow(row))
	}
	return out
}

func triedRow(row *belfry.Row) belfry.TriedRow {
	r := belfry.TriedRow{Type: row.Type, Resource: row.Resource, Object: row.Object, Class: row.Class, View: row.View, Log: row.Log}
	for _, c := range row.Indicators {
		if r.Values == nil {
			r.Values = map[string]string{}
		}
		r.Values[fmt.Sprintf("i%d", c.N)] = c.Text
	}
	return r
}

// ignored returns the fields that a script returned and no message has: they are probably misspelt.
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
