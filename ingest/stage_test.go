package ingest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
	"belfry/status"
)

// stage is the whole engine, sequencer, tree and journal, with a clock that only the test moves: it stops at every
// moment at which something is due, so that nothing ever happens late. There is no goroutine beside the test's: who asks
// for something drives the sequencer until it is done.
type stage struct {
	*Sequencer
	tree    *meta.Tree
	journal *memory
	db      *meta.DB // where a part of the journal goes at each restart; nil: the next process has the journal alone
	who     Sender
	now     belfry.Time
	events  []telling
	faults  []string // what must never be
}

// begun is the moment 0 of every story.
var begun = belfry.At(time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC))

const operator = "op"

// memory is a journal that forgets everything when the test ends.
type memory struct{ records [][]byte }

func (j *memory) Append(payloads ...[]byte) (first uint64, err error) {
	first = uint64(len(j.records) + 1)
	for _, p := range payloads {
		j.records = append(j.records, bytes.Clone(p))
	}
	return first, nil
}

// telling is an event, as far as stories and the model speak of it.
type telling struct {
	at               belfry.Time
	kind, item, user string
	status, previous belfry.Status // previous is 255 where the event has none
}

const nothing = belfry.Status(255)

func (e telling) String() string {
	text := e.kind + " " + e.item + " "
	if e.previous != nothing {
		text += e.previous.String() + ">"
	}
	text += e.status.String()
	if e.user != "" {
		text += " by " + e.user
	}
	return text
}

// newStage begins with a journal; an empty one gets the default customer.
func newStage(j *memory, now belfry.Time) (*stage, error) {
	g := &stage{journal: j, now: now}
	if err := g.start(); err != nil {
		return nil, err
	}
	if len(j.records) == 0 {
		var err error
		g.run(func() { err = g.Bootstrap("hash") })
		if err != nil {
			return nil, err
		}
	}
	c, _ := g.tree.CustomerNamed(DefaultCustomer)
	g.who = Sender{Customer: c.ID, Key: "k", Name: operator}
	g.events = nil
	return g, nil
}

// start begins a process: all it knows is what the journal holds.
func (g *stage) start() error {
	cat, err := loadCatalog()
	if err != nil {
		return err
	}
	records, err := g.journal.replay()
	if err != nil {
		return err
	}
	if g.db == nil {
		g.tree = meta.NewTree(cat)
	} else if records, err = g.load(cat, records); err != nil {
		return err
	}
	for _, r := range records {
		if err := g.tree.Apply(r); err != nil {
			return err
		}
	}
	g.Sequencer = New(Config{
		Tree: g.tree, Journal: g.journal, Log: slog.New(slog.DiscardHandler),
		Sinks:   []func(*belfry.Record){g.hear},
		Room:    func(context.Context, int) error { return nil },
		Ready:   func() error { return nil },
		Answers: func(context.Context, belfry.CustomerID, string) (*belfry.Answer, error) { return nil, nil },
		Count:   func(belfry.CustomerID) int { return 0 },
		Limits: func() Limits {
			return Limits{
				HeldBody: 1 << 20, Row: 1 << 20, Columns: 100, Indicators: 100, Objects: 1000, Answers: 1000,
				Retention: func(string) time.Duration { return 400 * 24 * time.Hour },
			}
		},
		Now: func() time.Time { return g.now.Std() },
	})
	g.listen()
	return nil
}

// replay reads the journal.
func (j *memory) replay() (list []*belfry.Record, err error) {
	for i, data := range j.records {
		r, err := belfry.DecodeRecord(data)
		if err != nil {
			return nil, err
		}
		r.SetPos(uint64(i + 1))
		list = append(list, r)
	}
	return list, nil
}

// load builds the tree from a database that is as far behind as one may be: half of the records that it had not seen
// have arrived, with states as they were at the end. It gives the records that have to be applied again.
func (g *stage) load(cat *catalog.Catalog, records []*belfry.Record) (rest []*belfry.Record, err error) {
	ctx := context.Background()
	pos, err := g.db.Position(ctx)
	if err != nil {
		return nil, err
	}
	arrived := int(pos) + (len(records)-int(pos)+1)/2
	if arrived > int(pos) {
		var ids []belfry.ID
		for _, n := range g.tree.Everything(g.who.Customer) {
			ids = append(ids, n.ID)
		}
		if err := g.db.Apply(ctx, records[pos:arrived], g.tree.States(ids)); err != nil {
			return nil, err
		}
	}
	g.tree, err = meta.LoadTree(ctx, g.db, cat)
	return records[arrived:], err
}

// restart ends the process and begins another one after a while. What the new one knows must be all that the old one knew.
func (g *stage) restart(down belfry.Time) error {
	before, discarded := g.tree, g.Counters().Discarded.Load()
	g.now += down
	if err := g.start(); err != nil {
		return err
	}
	g.Counters().Discarded.Add(discarded) // stories count over all of their time
	for _, n := range before.Everything(g.who.Customer) {
		now := g.tree.Node(n.ID)
		if now == nil || !sameState(&n.State, &now.State) {
			g.faults = append(g.faults, fmt.Sprintf("%s is not after the restart what it was: %+v, was %+v", nameOf(n), now, n))
		}
	}
	g.ring(g.now)
	return nil
}

// sameState compares all that is kept about an item, also after it has been to a database and back.
func sameState(a, b *belfry.State) bool {
	x, y := a.Append(nil), b.Append(nil)
	again, err := belfry.DecodeState(y)
	return bytes.Equal(x, y) && err == nil && reflect.DeepEqual(again.Standing, b.Standing)
}

// run does something that needs the sequencer.
func (g *stage) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		select {
		case <-g.wake:
			for round := g.take(); len(round) > 0; round = g.take() {
				g.round(round)
			}
		case <-done:
			return
		}
	}
}

// ring moves the clock, and stops wherever something is due.
func (g *stage) ring(to belfry.Time) {
	for n := 0; ; n++ {
		wait, ok := g.clock.wait(g.now)
		next := g.now + belfry.Time(wait.Microseconds())
		if !ok || next > to {
			break
		}
		g.now = next
		if g.tick(); n > 10_000 {
			g.faults = append(g.faults, "the clock does not come to rest")
			break
		}
	}
	g.now = to
}

// hear takes the events out of a record.
func (g *stage) hear(r *belfry.Record) {
	for _, b := range r.Batches {
		if b.Collection != belfry.Events {
			continue
		}
		items, users := b.Column(belfry.ItemColumn).Ints, b.Column("user")
		for i, at := range b.Times {
			if items[i] == belfry.AbsentInt {
				continue // of the configuration
			}
			e := telling{at: at, kind: b.Column("type").Texts[i], item: nameOf(g.tree.Node(belfry.ID(items[i]))), previous: nothing}
			e.status = belfry.Status(b.Column("status").Ints[i])
			if p := b.Column("previous").Ints[i]; p != belfry.AbsentInt {
				e.previous = belfry.Status(p)
			}
			if users != nil {
				e.user = users.Texts[i]
			}
			g.events = append(g.events, e)
		}
	}
}

// nameOf is the name of an item in stories: web01, web01/object, web01:view, and @view outside resources.
func nameOf(n *meta.Node) string {
	switch {
	case n.Kind == belfry.KindObject:
		return n.Resource.Name + "/" + n.Name
	case n.Kind == belfry.KindView && n.Resource != nil:
		return n.Resource.Name + ":" + n.Name
	case n.Kind == belfry.KindView && n.Name != belfry.Main:
		return "@" + n.Name
	}
	return n.Name
}

// item finds an item by its name in stories.
func (g *stage) item(name string) (n *meta.Node) {
	e := g.tree.Estate(g.who.Customer)
	kind, resource, own := parts(name)
	switch {
	case resource == own:
		n = e.Resource(resource)
	case resource == "":
		n = e.Place(own)
	case e.Resource(resource) == nil:
	case kind == belfry.KindObject:
		n = e.Resource(resource).Object(own)
	default:
		n = e.Resource(resource).View(own)
	}
	return n
}

// parts takes the name of an item in stories apart.
func parts(name string) (kind belfry.Kind, resource, own string) {
	if r, o, ok := strings.Cut(name, "/"); ok {
		return belfry.KindObject, r, o
	}
	if r, v, ok := strings.Cut(name, ":"); ok {
		return belfry.KindView, r, v
	}
	if v, ok := strings.CutPrefix(name, "@"); ok || name == belfry.Main {
		return belfry.KindView, "", v
	}
	return belfry.KindResource, name, name
}

// do lets a step of a story happen. It fails when the step could not be taken at all.
func (g *stage) do(s *step) (err error) {
	g.ring(begun + s.at)
	switch s.verb {
	case "class":
		g.run(func() { _, _, err = g.PutClass(g.who, s.rules.def) })
	case "place":
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
	case "manage", "ack", "note":
		err = g.act(s)
	case "wait":
	default:
		err = fmt.Errorf("nobody knows how to %q", s.verb)
	}
	return err
}

// place creates an item or moves it. What an object is called says what class it has.
func (g *stage) place(name, in string) error {
	kind, resource, own := parts(name)
	_, _, view := parts(in)
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
		code, answer, err = g.Provision(context.Background(), g.who, pkg, strings.NewReader(body), Options{})
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
	_, resource, own := parts(s.item)
	var answer []byte
	before := g.Counters().Discarded.Load()
	row := &belfry.Row{Type: "data", Resource: resource, Object: own, NoResponse: s.verb == "silent", Indicators: s.values}
	g.run(func() {
		if !s.dated {
			_, answer, err = g.SendOne(context.Background(), g.who.Customer, row)
			return
		}
		head, line := "type,resname,object,timestamp", "data,"+resource+","+own+","+(begun+s.from).String()
		for _, v := range s.values {
			head, line = head+","+belfry.IndicatorColumn(v.N), line+","+v.Text
		}
		_, answer, err = g.Send(context.Background(), g.who, strings.NewReader(head+"\n"+line+"\n"), Options{})
	})
	switch discarded := g.Counters().Discarded.Load() > before; {
	case err != nil:
	case bytes.Contains(answer, []byte(`"rejected":1`)):
		err = fmt.Errorf("the row is refused: %s", answer)
	case discarded != bytes.Contains(answer, []byte(`"discarded":1`)):
		g.faults = append(g.faults, fmt.Sprintf("%s: the row was discarded: %v, but the answer is %s", s, discarded, answer))
	}
	return err
}

// act does what an operator wants. Who wants what cannot be is refused, and that is no fault of the story.
func (g *stage) act(s *step) (err error) {
	kind, resource, own := parts(s.item)
	a := Action{Kind: kind, List: []string{own}, Resource: resource}
	switch s.verb {
	case "manage":
		a.Manage = &status.Order{Mode: s.mode, From: instant(s.from), To: instant(s.to), By: operator}
	case "ack":
		a.Ack = &belfry.Ack{Text: s.text, By: operator, Until: instant(s.to), Sticky: s.down, UntilWorse: s.worse}
	case "note":
		a.Note = &s.text
	}
	var code int
	var answer []byte
	g.run(func() { code, answer, err = g.Act(context.Background(), g.who, a, Repeat{}) })
	if err == nil && code == 404 {
		err = fmt.Errorf("%s", answer)
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
	windowed    bool
	window      belfry.Window
	inside      string // where it stands
	unmanagedAt belfry.Time
}

func faceOf(n *meta.Node) face {
	s := &n.State
	f := face{status: s.Status, since: s.Since, mode: s.Mode, acked: s.Acknowledged()}
	if n.Parent != nil {
		f.inside = nameOf(n.Parent)
	}
	if c := s.Care; c != nil {
		f.own, f.note, f.unmanagedAt = c.Mode, c.Note, c.From
		if c.Ack != nil {
			f.ack = *c.Ack
		}
		if c.Window != nil {
			f.windowed, f.window = true, *c.Window
		}
	}
	return f
}
