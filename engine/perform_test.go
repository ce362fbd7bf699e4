package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
	"belfry/status"
)

// do lets a step of a story happen. It fails when the step could not be taken at all.
func (g *stage) do(s *step) (err error) {
	g.ring(begun + s.at)
	switch s.verb {
	case "class":
		defer g.atOnce()() // in turns, views show in between what is left to be judged
		g.run(func() { _, _, err = g.Definitions().PutClass(g.who, s.rules.def) })
	case "place":
		if n, in := g.item(s.item), g.item(s.in); n != nil && in != nil && max(n.State.Mode, in.State.Mode) == belfry.UnmanagedIfDown {
			defer g.atOnce()() // in turns, what is Unavailable would show Unknown in between
		}
		err = g.place(s.item, s.in)
	case "data", "silent":
		if g.item(s.item) == nil {
			if err = g.place(s.item, ""); err != nil {
				return err
			}
		}
		err = g.send(s)
	case "restart":
		err = g.restart(s.down)
	case "manage", "ack", "unack", "note":
		err = g.act(s)
	case "clock":
		g.now += s.down
		g.SetClock(time.Duration(s.down)*time.Microsecond, g.now.Std())
		g.ring(g.now)
	case "wait":
	default:
		err = fmt.Errorf("nobody knows how to %q", s.verb)
	}
	g.finish()
	return err
}

// atOnce lets something happen in one turn.
func (g *stage) atOnce() (after func()) {
	g.SetTurn(engine.TurnItems)
	return func() { g.SetTurn(cmp.Or(g.turn, engine.TurnItems)) }
}

// place creates an item or moves it. What an object is called says what class it has.
func (g *stage) place(name, in string) error {
	kind, resource, own := apart(name)
	_, _, view := apart(in)
	pkg, body := "custom", "name,view\n"+own+","+view+"\n"
	switch {
	case kind != belfry.KindResource && resource != "" && g.item(resource) == nil:
		if err := g.place(resource, ""); err != nil {
			return err
		}
	case kind == belfry.KindView && resource == "" && view == "":
		view = belfry.Main
	}
	if view == "" {
		view = resource
	}
	switch {
	case kind == belfry.KindObject:
		pkg, body = "object", "name,resname,view,class\n"+own+","+resource+","+view+","+classOfObject(own)+"\n"
	case kind == belfry.KindView:
		pkg, body = "view", "name,resname,view\n"+own+","+resource+","+view+"\n"
	}
	var code int
	var answer []byte
	var err error
	g.run(func() {
		code, answer, err = g.Provision(context.Background(), g.who, pkg, strings.NewReader(body), intake.Options{})
	})
	if err == nil && code != 200 {
		err = fmt.Errorf("%s is not placed: %s", name, answer)
	}
	return err
}

// classOfObject is the class of an object: its name without a number at the end.
func classOfObject(name string) string { return strings.TrimRight(name, "0123456789") }

// send sends a row: one that has a time of its own in a body, any other by the legacy path.
func (g *stage) send(s *step) (err error) {
	_, resource, own := apart(s.item)
	var answer []byte
	before := g.Counters().Discarded.Load()
	row := &belfry.Row{Type: "data", Resource: resource, Object: own, NoResponse: s.verb == "silent", Indicators: s.values}
	g.run(func() {
		if !s.dated {
			_, answer, err = g.SendOne(context.Background(), g.who.Scope, row)
			return
		}
		head, line := "type,resname,object,timestamp", "data,"+resource+","+own+","+(begun+s.from).String()
		for _, v := range s.values {
			head, line = head+","+belfry.IndicatorColumn(v.N), line+","+v.Text
		}
		_, answer, err = g.Send(context.Background(), g.who, strings.NewReader(head+"\n"+line+"\n"), intake.Options{})
	})
	switch discarded := g.Counters().Discarded.Load() > before; {
	case err != nil:
	case bytes.Contains(answer, []byte(`"rejected":1`)):
		err = fmt.Errorf("the row is refused: %s", answer)
	case g.driven: // other requests count, too
	case discarded != bytes.Contains(answer, []byte(`"discarded":1`)):
		g.faults = append(g.faults, fmt.Sprintf("%s: the row was discarded: %v, but the answer is %s", s, discarded, answer))
	}
	return err
}

// act does what an operator wants. Who wants what cannot be is refused, and that is no fault of the story.
func (g *stage) act(s *step) (err error) {
	kind, resource, own := apart(s.item)
	a := engine.Action{Kind: kind, List: engine.Names(own), Resource: resource}
	switch s.verb {
	case "manage":
		a.Manage = &status.Order{Name: strings.Trim(s.window, "-"), Unnamed: s.window == "-", Mode: s.mode, From: instant(s.from), To: instant(s.to), By: operator}
	case "ack":
		a.Ack = &belfry.Ack{Text: s.text, By: operator, Until: instant(s.to), Sticky: s.down, UntilWorse: s.worse}
	case "unack":
		a.Unack = true
	case "note":
		a.Note = &s.text
	}
	var out *engine.Acted
	g.run(func() { out, err = g.Act(context.Background(), g.who, a) })
	if err == nil && out.Error != nil && out.Error.Code == belfry.UnknownItem {
		err = errors.New(out.Error.Message)
	}
	return err
}

func instant(at belfry.Time) belfry.Time {
	if at == 0 {
		return 0
	}
	return begun + at
}

// face is what anybody can see of an item.
type face struct {
	status      belfry.Status
	since       belfry.Time
	mode, own   belfry.Mode // what counts, and what was set on the item itself
	note        string
	acked       bool
	ack         belfry.Ack
	windows     string // that can be seen
	inside      string // where it stands
	unmanagedAt belfry.Time
}

func faceOf(n *meta.Node) face {
	s := &n.State
	f := face{status: s.Status, since: s.Since, mode: s.Mode, acked: s.Acknowledged()}
	if n.Parent != nil {
		f.inside = nameOf(n.Parent)
	}
	if c := s.Operator; c != nil {
		f.own, f.note, f.unmanagedAt = c.Mode, c.Note, c.From
		if c.Ack != nil {
			f.ack = *c.Ack
		}
		var windows []string
		for _, w := range status.Planned(c) {
			windows = append(windows, fmt.Sprintf("%q %d %d-%d %t", w.Name, w.Mode, w.From, w.To, w.Open))
		}
		slices.Sort(windows)
		f.windows = strings.Join(windows, ", ")
	}
	return f
}
