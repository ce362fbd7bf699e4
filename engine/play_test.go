package engine_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// What the model needs beside its rules, which are in model_test.go: names, the order of things, the words of stories.

const never = belfry.Time(math.MaxInt64)

// model is a second telling of the rules of status, written to be read: it keeps what was said about each thing, and
// after each word it works out anew what everything shows. The engine is right when nobody can tell the two apart.
type model struct {
	now, began belfry.Time // began: when the process did
	things     []*thing    // in the order of their creation, MAIN first
	classes    map[string]*ruleset
	discarded  int64
	events     []telling
}

type thing struct {
	name, class string
	in          *thing // nil for MAIN
	object      bool

	says        belfry.Status  // what its data say
	values      map[int]string // the newest of each indicator
	data, heard belfry.Time    // of the newest row; of that or the newest report of no response
	met         map[string]int // how many values in a row have met a threshold

	open   []modelWindow // windows, in the order in which they were opened: what operators say about it
	coming []modelWindow // others, in the order in which they were asked for
	ack    *belfry.Ack
	note   string

	mode        belfry.Mode // what follows from all that
	shows, told belfry.Status
	since       belfry.Time
	moved       bool // by the last word
	alarmed     bool // and an alarm told it
}

// modelWindow is a window. To unmanage at once is one without an end.
type modelWindow struct {
	name     string
	mode     belfry.Mode
	from, to belfry.Time
	atOnce   bool
}

// lasting tells that it looks as if somebody had unmanaged the thing when the window opened.
func (s modelWindow) lasting() bool { return s.to == 0 && s.name == "" }

// own is the mode that operators have set: that of the window opened last.
func (x *thing) own() belfry.Mode {
	if len(x.open) == 0 {
		return belfry.Managed
	}
	return x.open[len(x.open)-1].mode
}

// newest is the last window of a name, without what it is when it was to begin at once.
func (x *thing) newest(name string) (found modelWindow) {
	for _, s := range slices.Concat(x.open, x.coming) {
		if s.name == name {
			found = s
		}
	}
	return found
}

// lists tells whether a window of a name can be seen.
func (x *thing) lists(name string) bool {
	last := x.newest(name)
	return last != modelWindow{} && !(last.lasting() && slices.Contains(x.open, last))
}

// turns is when a window opens or closes next, and which one.
func (x *thing) turns() (at belfry.Time, closes bool, i int) {
	at = never
	for n, s := range x.open {
		if s.to != 0 && s.to < at {
			at, closes, i = s.to, true, n
		}
	}
	for n, s := range x.coming {
		if s.from < at {
			at, closes, i = s.from, false, n
		}
	}
	return at, closes, i
}

// windows lists the windows that can be seen, by name.
func (x *thing) windows() (list []string) {
	all := slices.Concat(x.open, x.coming)
	for i, s := range all {
		open := i < len(x.open)
		last := !slices.ContainsFunc(all[i+1:], func(o modelWindow) bool { return o.name == s.name })
		if last && !(open && s.lasting()) {
			list = append(list, fmt.Sprintf("%q %d %d-%d %t", s.name, s.mode, s.from, s.to, open))
		}
	}
	slices.Sort(list)
	return list
}

func newModel() *model {
	return &model{now: begun, began: begun, classes: map[string]*ruleset{}, things: []*thing{{name: belfry.Main, since: begun}}}
}

func (m *model) thing(name string) *thing {
	for _, x := range m.things {
		if x.name == name {
			return x
		}
	}
	return nil
}

// outerFirst lists things, each after the one that it is in.
func (m *model) outerFirst() []*thing {
	things := slices.Clone(m.things)
	slices.SortStableFunc(things, func(a, b *thing) int { return a.depth() - b.depth() })
	return things
}

func (m *model) objectsOf(class string) (list []*thing) {
	for _, x := range m.things {
		if x.object && x.class == class {
			list = append(list, x)
		}
	}
	return list
}

func (x *thing) depth() (d int) {
	for ; x.in != nil; x = x.in {
		d++
	}
	return d
}

// around is the mode of what x is in.
func (x *thing) around() belfry.Mode {
	if x.in == nil {
		return belfry.Managed
	}
	return x.in.mode
}

// lastMove is when the last word made x show something else; 0 when it did not.
func (x *thing) lastMove() belfry.Time {
	if !x.moved {
		return 0
	}
	return x.since
}

func (x *thing) inside(y *thing) bool {
	for ; x != nil; x = x.in {
		if x == y {
			return true
		}
	}
	return false
}

// outermost finds the outermost of some things in which x is.
func (x *thing) outermost(some map[*thing]belfry.Time) (top *thing) {
	for ; x != nil; x = x.in {
		if _, ok := some[x]; ok {
			top = x
		}
	}
	return top
}

func (m *model) tell(kind string, x *thing, at belfry.Time, was belfry.Status, by string) {
	m.events = append(m.events, telling{at: at, kind: kind, item: x.name, status: x.shows, previous: was, user: by})
}

var noRuleset = &ruleset{}

func (m *model) rules(x *thing) *ruleset {
	if r := m.classes[x.class]; r != nil && x.object {
		return r
	}
	return noRuleset
}

// meets tells whether a value, if there is one, meets a condition.
func meets(value string, c []string) bool {
	if value == "" {
		return false
	}
	v, err := strconv.ParseFloat(value, 64)
	limit, _ := strconv.ParseFloat(c[1], 64)
	switch c[0] {
	case ">=":
		return v >= limit
	case ">":
		return v > limit
	case "<":
		return v < limit
	case "<=":
		return v <= limit
	case "<>":
		return value != c[1] && (err != nil || v != limit)
	}
	return value == c[1]
}

// due is when something happens to a thing by itself.
func (m *model) due(x *thing) belfry.Time {
	due := m.stale(x)
	turns, _, _ := x.turns()
	due = min(due, turns)
	if x.ack != nil && x.ack.Until != 0 {
		due = min(due, x.ack.Until)
	}
	if x.ack != nil && x.ack.Left != 0 {
		due = min(due, x.ack.Left+x.ack.Sticky)
	}
	return due
}

// ring lets time pass.
func (m *model) ring(to belfry.Time) {
	for {
		due := never
		for _, x := range m.things {
			due = min(due, m.due(x))
		}
		if due > to {
			m.now = to
			return
		}
		m.now = max(m.now, due)
		m.happen()
	}
}

// do lets a step of a story happen.
func (m *model) do(s *step) {
	m.ring(begun + s.at)
	x := m.thing(s.item)
	if x == nil && s.verb != "class" && s.verb != "restart" && s.verb != "clock" {
		x = m.create(s.item, s.in)
	}
	switch s.verb {
	case "class":
		if old := m.classes[s.item]; old == nil || old.text != s.rules.text { // else nothing is said
			m.redefine(s.item, s.rules)
		}
	case "place":
		if s.in != "" {
			x.in = m.thing(s.in)
			m.settle(m.now, nil, false)
		}
	case "data", "silent":
		at, values := m.now, map[int]string{}
		if s.dated {
			at = begun + s.from
		}
		for _, v := range s.values {
			values[v.N] = v.Text
		}
		m.row(x, at, values, s.verb == "silent")
	case "restart", "clock":
		m.now += s.down
		m.began = m.now
		for _, x := range m.things {
			if x.ack != nil {
				x.ack.Left = min(x.ack.Left, m.now) // what is left of its time begins anew when the clock goes back
			}
		}
		m.rewind()
		m.ring(m.now)
	case "manage":
		kind, _, _ := apart(s.item)
		if s.mode == belfry.UnmanagedDrop && kind == belfry.KindResource || s.mode == belfry.CollectorStopped && kind != belfry.KindResource {
			return // refused
		}
		name := strings.Trim(s.window, "-")
		if s.mode == belfry.Managed && s.window != "" && s.from == 0 && s.to == 0 && !x.lists(name) {
			return // there is nothing to cancel
		}
		m.manage(x, modelWindow{name: name, mode: s.mode, from: instant(s.from), to: instant(s.to)}, s.window == "-")
	case "ack":
		if !x.shows.IsError() {
			return // refused
		}
		m.acknowledge(x, belfry.Ack{Text: s.text, By: operator, Until: instant(s.to), Sticky: s.down, UntilWorse: s.worse})
	case "unack":
		m.unacknowledge(x)
	case "note":
		x.note = s.text
		m.tell("note", x, m.now, nothing, operator)
	}
}

// create makes a thing, and the resource it belongs to when there is none.
func (m *model) create(name, in string) *thing {
	if name == "" {
		return nil
	}
	kind, resource, own := apart(name)
	switch {
	case in != "":
	case kind == belfry.KindResource || resource == "":
		in = belfry.Main
	default:
		in = resource
	}
	if kind != belfry.KindResource && resource != "" && m.thing(resource) == nil {
		m.create(resource, "")
	}
	x := &thing{name: name, in: m.thing(in), since: m.now, object: kind == belfry.KindObject, class: classOfObject(own)}
	x.values, x.met, x.mode = map[int]string{}, map[string]int{}, x.in.mode
	m.things = append(m.things, x)
	return x
}

func (x *thing) face() face {
	f := face{
		status: x.shows, since: x.since, mode: x.mode, own: x.own(), note: x.note,
		acked: x.ack != nil && x.ack.Left == 0, windows: strings.Join(x.windows(), ", "),
	}
	if x.own() != belfry.Managed {
		f.unmanagedAt = x.open[len(x.open)-1].from
	}
	if x.in != nil {
		f.inside = x.in.name
	}
	if x.ack != nil {
		f.ack = *x.ack
	}
	return f
}

// together lets a step happen on the stage and in the model, and says in what they differ afterwards.
func together(g *stage, m *model, s *step) (difference string, err error) {
	g.events, m.events = nil, nil
	if err := g.do(s); err != nil {
		return "", err
	}
	m.do(s)
	return compare(g, m, s), nil
}

// compare says in what stage and model differ after a step.
func compare(g *stage, m *model, s *step) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, fault := range g.faults {
		add("%s", fault)
	}
	for _, x := range m.things {
		n := g.item(x.name)
		if n != nil && g.turn > 0 && s.late() && n.State.Since == m.now {
			x.since = m.now // see blur
		}
		if n == nil {
			add("%s: there is none", x.name)
		} else if got, want := faceOf(n), x.face(); got != want {
			add("%s\n  engine %+v\n  model  %+v", x.name, got, want)
		}
	}
	if g.turn > 0 {
		blur(g.events, s.late())
		blur(m.events, s.late())
		g.events = slices.DeleteFunc(g.events, func(e telling) bool {
			return e.kind == "acknowledge" && !slices.Contains(m.events, e)
		})
	}
	slices.SortFunc(g.events, telling.compare)
	slices.SortFunc(m.events, telling.compare)
	if !slices.Equal(g.events, m.events) {
		add("events\n  engine %v\n  model  %v", g.events, m.events)
	}
	if got := g.Counters().Discarded.Load(); got != m.discarded {
		add("discarded: engine %d, model %d", got, m.discarded)
	}
	return strings.Join(lines, "\n")
}

// interrupted is together, but the process is killed when so many records of the step have been written. The next one has to finish what
// was begun. Only what was acknowledged in part is asked for again.
func interrupted(g *stage, m *model, s *step, records int) (difference string, err error) {
	g.events, m.events = nil, nil
	g.ring(begun + s.at)
	g.journal.Room = records + 1
	err = g.do(s)
	killed := g.journal.Full
	g.journal.Room, g.journal.Full = 0, false
	m.do(s)
	if !killed {
		return compare(g, m, s), err
	}
	g.faults = nil
	if err := g.restart(0); err != nil {
		return "", err
	}
	m.do(&step{verb: "restart", at: s.at})
	if s.verb == "ack" || s.verb == "unack" {
		if err := g.do(s); err != nil {
			return "", err
		}
	}
	return compare(g, m, s), nil
}

// late tells whether windows may open and close at a step some time after they should have.
func (s *step) late() bool { return s.verb == "restart" || s.verb == "clock" }

// blur takes out of events what differs when a change is made in turns. The event of the change comes with the first turn, so that the
// item may still show what it did before. In later turns it is later, also if a window was late. When something
// is to be unmanaged while it is Unavailable, it may recover before its own turn comes: then an acknowledgment ends for that
// reason, which does not name the operator, and is told of views inside, too; see together.
func blur(list []telling, late bool) {
	for i := range list {
		e := &list[i]
		switch e.kind {
		case "manage":
			e.status = nothing
		case "acknowledge":
			e.user = ""
		}
		if late {
			e.at = 0
		}
	}
}

func (e telling) compare(o telling) int {
	return cmp.Or(
		cmp.Compare(e.at, o.at), strings.Compare(e.item, o.item), strings.Compare(e.kind, o.kind), strings.Compare(e.user, o.user),
		cmp.Compare(e.status, o.status), cmp.Compare(e.previous, o.previous),
	)
}
