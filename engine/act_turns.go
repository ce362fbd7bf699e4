package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"belfry"
	"belfry/meta"
)

// Nobody else's rows are decided while the sequencer has an action, so an action on many items is done in turns. Names are
// taken apart and looked up before, in the goroutine of the request, and what stands in the items is counted there. With an
// Idempotency-Key all is one turn, so it is limited.
const (
	actKeyed = 5000   // names
	actWhole = 10_000 // items that stand in those to be acknowledged
)

// acting is an action while it is being done.
type acting struct {
	Action
	seq   *Sequencer
	who   Sender
	names []target           // as they were given, each once
	bad   []*belfry.Error    // by name; nil: the item exists, or did a moment ago
	sizes map[*meta.Node]int // how much stands in those that are no objects
	next  int                // the first name that has not been dealt with
	at    progress           // with this one
	rest  []string           // for Sequencer.reassessAll, after the turn
	ready bool               // the times of the action have been settled
	out   *Acted
}

// target is an item that an action is about: all that is known of it, and what was said beside its name.
type target struct {
	Named
	said Named
}

// newActing finds out which items an action means.
func (s *Sequencer) newActing(who Sender, a Action) *acting {
	p := &acting{Action: a, seq: s, who: who, out: &Acted{DryRun: a.DryRun, Items: []ActedItem{}, Errors: []ActedError{}}}
	seen := map[Named]bool{}
	for _, said := range p.split() {
		n := Named{strings.TrimSpace(said.Name), cmp.Or(said.Resource, a.Resource), cmp.Or(said.Kind, a.Kind)} // as no name has blanks at its ends, they belong to the bars
		if !seen[n] {                                                                                          // one that is named a thousand times must not cost a thousand times as much
			seen[n] = true
			p.names = append(p.names, target{n, said})
		}
	}
	p.bad = make([]*belfry.Error, len(p.names))
	p.sizes = map[*meta.Node]int{}
	p.lookUp(p.names, func(i int, n *meta.Node, bad *belfry.Error) {
		if p.bad[i] = bad; bad == nil && n.Kind != belfry.KindObject {
			p.sizes[n] = 0
		}
	})
	if p.Manage != nil || p.acks() {
		for n := range p.sizes {
			p.sizes[n] = len(s.cfg.Tree.Below(n))
		}
	}
	return p
}

// lookUp finds items by name, as the tree has them. The tree is locked for some names at a time.
func (p *acting) lookUp(names []target, found func(i int, n *meta.Node, bad *belfry.Error)) {
	const some = 64
	for from := 0; from < len(names); from += some {
		p.seq.cfg.Tree.Read(p.who.Customer, func(e *meta.Tenant) {
			if e == nil {
				return // the sequencer will say so
			}
			t := &Tx{Tenant: e, s: &scratch{}}
			t.limit(p.who.Views)
			for i := from; i < min(from+some, len(names)); i++ {
				n, bad := t.named(names[i].Named)
				found(i, n, bad)
			}
		})
	}
}

// split gives the names of the items.
func (p *acting) split() []Named {
	if p.List != nil {
		return p.List
	}
	var barred []*meta.Node
	p.seq.cfg.Tree.Read(p.who.Customer, func(e *meta.Tenant) {
		if e != nil {
			barred = slices.Collect(maps.Values(e.Barred()))
		}
	})
	if len(barred) == 0 && !strings.Contains(p.Items, `\`) {
		return Names(strings.Split(p.Items, "|")...)
	}
	return Names(cut(p.Items, p.barred(barred))...)
}

// run takes the turns of the action. If reply is set, the action is one turn, and reply adds the answer to its record.
func (p *acting) run(ctx context.Context, reply func(*Tx)) error {
	for {
		if more, err := p.turn(ctx, reply); err != nil || !more {
			return err
		}
	}
}

func (p *acting) turn(ctx context.Context, reply func(*Tx)) (more bool, err error) {
	if reply == nil {
		p.passUnknown()
		if p.next == len(p.names) && (p.ready || p.Manage == nil && p.Ack == nil) {
			return false, nil
		}
	}
	if err := p.seq.cfg.Room(ctx, p.who.Customer, p.events(min(p.seq.turn, len(p.names)-p.next))); err != nil {
		return false, err
	}
	err = p.seq.Do(&Command{Customer: p.who.Customer, Views: p.who.Views, Rows: 1, Alone: true, Decide: func(t *Tx) error {
		if err := p.settle(t.Now); err != nil {
			return err
		}
		p.apply(t, reply != nil)
		if p.DryRun {
			return ErrTakenBack
		}
		if reply != nil {
			reply(t)
		}
		return nil
	}})
	if errors.Is(err, ErrTakenBack) {
		err, p.rest = nil, nil
	}
	if err != nil {
		return false, err
	}
	return p.next < len(p.names), p.goOn()
}

// goOn does between two turns what need not be done in one of them.
func (p *acting) goOn() error {
	rest := p.rest
	p.rest = nil
	if err := p.seq.reassessAll(p.who.Customer, rest); err != nil {
		p.seq.finishLater(p.who.Customer, rest)
		return err
	}
	if p.at.list {
		p.at.list = false
		p.at.inside, p.at.grow = p.listInside(p.at.node)
	}
	return nil
}

// listInside lists the objects inside an item that are in error, and adds up by how much texts grow when they are acknowledged. To take
// that back it lists all that is acknowledged.
func (p *acting) listInside(n *meta.Node) (list []*meta.Node, grow int64) {
	for o := range p.seq.cfg.Tree.Each(p.seq.cfg.Tree.Below(n)) {
		switch {
		case p.Unack:
			if o.State.Operator != nil && o.State.Operator.Ack != nil {
				list = append(list, o)
			}
		case o.Kind == belfry.KindObject && o.State.Status.IsError():
			list = append(list, o)
			grow += ackGrows(&o.State.State, p.Ack.Text)
		}
	}
	return list, grow
}

// settle finds out what the times of the action mean, at its first turn.
func (p *acting) settle(now belfry.Time) error {
	if p.ready {
		return nil
	}
	if err := p.Action.settle(p.who, now); err != nil {
		return err
	}
	if p.ready = true; p.DryRun {
		p.out.Occurrences = p.occurrences(now)
	}
	return nil
}

// passUnknown deals with names that stand for nothing.
func (p *acting) passUnknown() {
	for ; p.next < len(p.names) && p.bad[p.next] != nil; p.next++ {
		p.fail(p.names[p.next].Name, p.bad[p.next])
	}
}
