package engine_test

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
	"belfry/engine"
	"belfry/engine/enginetest"
	"belfry/intake"
	"belfry/meta"
	"belfry/meta/sqlite"
)

// stage is the whole engine, sequencer, tree and journal, with a clock that only the test moves: it stops at every
// moment at which something is due, so that nothing ever happens late. There is no goroutine beside the test's: who asks
// for something drives the sequencer until it is done.
type stage struct {
	*engine.Sequencer
	*intake.Intake
	tree    *meta.Tree
	journal *enginetest.Memory
	turn    int        // see Config.Turn
	driven  bool       // by somebody else, so that who asks for something waits
	db      *sqlite.DB // where a part of the journal goes at each restart; nil: the next process has the journal alone
	who     engine.Sender
	now     belfry.Time
	events  []telling
	faults  []string // what must never be
}

// begun is the moment 0 of every story.
var begun = belfry.At(time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC))

const operator = "op"

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
func newStage(j *enginetest.Memory, now belfry.Time) (*stage, error) {
	g := &stage{journal: j, now: now}
	if err := g.start(); err != nil {
		return nil, err
	}
	if len(j.Records) == 0 {
		var err error
		g.run(func() { err = enginetest.Bootstrap(g.Sequencer) })
		if err != nil {
			return nil, err
		}
	}
	c, _ := g.tree.Access().CustomerNamed(belfry.DefaultCustomer)
	g.who = engine.Sender{Scope: belfry.Whole(c.ID), Key: "k", Name: operator}
	g.events = nil
	return g, nil
}

// start begins a process: all it knows is what the journal holds.
func (g *stage) start() error {
	cat, err := enginetest.LoadCatalog()
	if err != nil {
		return err
	}
	records, err := g.journal.Replay()
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
	g.Sequencer = engine.New(engine.Config{
		Tree: g.tree, Journal: g.journal, Log: slog.New(slog.DiscardHandler),
		Sinks:   []func(*belfry.Record){g.hear},
		Room:    func(context.Context, belfry.CustomerID, int) error { return nil },
		Ready:   func() error { return nil },
		Answers: func(context.Context, belfry.CustomerID, string) (*belfry.Answer, error) { return nil, nil },
		Count:   func(belfry.CustomerID) int { return 0 },
		Limits: func() engine.Limits {
			return engine.Limits{
				Row: 1 << 20, Columns: 100, Indicators: 100, Objects: 1000, Answers: 1000,
				Retention: func(string) time.Duration { return 400 * 24 * time.Hour },
			}
		},
		Now:  func() time.Time { return g.now.Std() },
		Turn: g.turn,
	})
	g.Intake = intake.New(intake.Config{Engine: g.Sequencer})
	g.Listen()
	return nil
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
	if was, is := before.TextMemory(), g.tree.TextMemory(); was != is {
		g.faults = append(g.faults, fmt.Sprintf("texts count for %d after the restart, and %d before", is, was))
	}
	var err error
	g.run(func() { err = g.Reassess() })
	g.ring(g.now)
	return err
}

// sameState compares all that is kept about an item, also after it has been to a database and back.
func sameState(a, b *belfry.ItemState) bool {
	x, y := a.Append(nil), b.Append(nil)
	again, err := belfry.DecodeState(y)
	return bytes.Equal(x, y) && err == nil && reflect.DeepEqual(again.State, b.State)
}

// run does something that needs the sequencer.
func (g *stage) run(f func()) {
	if g.driven {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		select {
		case <-g.Wake():
			for round := g.Take(); len(round) > 0; round = g.Take() {
				g.Round(round)
			}
		case <-done:
			return
		}
	}
}

// finish does what windows and moves have left.
func (g *stage) finish() {
	for _, c := range g.Behind() {
		g.run(func() {
			for list := g.Claim(c); len(list) > 0; list = g.Claim(c) {
				if err := g.ReassessAll(c, list); err != nil {
					g.faults = append(g.faults, err.Error())
				}
			}
		})
	}
}

// ring moves the clock, and stops wherever something is due.
func (g *stage) ring(to belfry.Time) {
	for n := 0; ; n++ {
		wait, ok := g.Due(g.now)
		next := g.now + belfry.Time(wait.Microseconds())
		if !ok || next > to {
			break
		}
		g.now = next
		g.Tick()
		if g.finish(); n > 10_000 {
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
	e := g.tree.Tenant(g.who.Customer)
	kind, resource, own := apart(name)
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

// apart takes the name of an item in stories apart.
func apart(name string) (kind belfry.Kind, resource, own string) {
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
