package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"belfry"
	"belfry/engine/itemlist"
	"belfry/meta"
)

// While the sequencer runs an action, no rows are decided, so an action on many items is split into turns. Names are parsed and
// looked up, and the items inside counted, beforehand in the goroutine of the request. With an Idempotency-Key the action is
// one turn, so its size is limited.
const (
	actKeyed = 5000   // names
	actWhole = 10_000 // items inside those to be acknowledged
)

// acting is an action in progress.
type acting struct {
	Action
	seq   *Sequencer
	who   Sender
	names []target           // in the order given, without repetitions
	bad   []*belfry.Error    // by name; nil: the item existed when it was looked up
	sizes map[*meta.Node]int // number of items inside views and resources
	next  int                // index of the first name not done
	at    progress           // on that item
	rest  []string           // for Sequencer.reassessAll, after the turn
	ready bool               // the times of the action have been resolved
	out   *Acted
}

// target is an item of an action: with the defaults of the action, and as the request gave it.
type target struct {
	Named
	said Named
}

// newActing looks up the items of an action.
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

// lookUp finds items by name in the tree, which it locks for a few names at a time.
func (p *acting) lookUp(names []target, found func(i int, n *meta.Node, bad *belfry.Error)) {
	const some = 64
	for from := 0; from < len(names); from += some {
		p.seq.cfg.Tree.Read(p.who.Customer, func(e *meta.Tenant) {
			if e == nil {
				return // the sequencer reports that
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

// split returns the names of the items.
func (p *acting) split() []Named {
	if p.List != nil {
		return p.List
	}
	var barred []*meta.Node
	p.seq.cfg.Tree.Read(p.who.Customer, func(e *meta.Tenant) {
		if e != nil {
			barred = slices.Collect(maps.Values(e.NamedWithBar()))
		}
	})
	if len(barred) == 0 && !strings.Contains(p.Items, `\`) {
		return Names(strings.Split(p.Items, "|")...)
	}
	return Names(itemlist.Split(p.Items, p.barred(barred))...)
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
	err = p.seq.Do(&Command{Customer: p.who.Customer, By: p.who.Actor(), Views: p.who.Views, Rows: 1, Alone: true, Decide: func(t *Tx) error {
		if err := p.resolveTimes(t.Now); err != nil {
			return err
		}
		p.apply(t, reply != nil)
		if p.DryRun {
			return ErrRolledBack
		}
		if reply != nil {
			reply(t)
		}
		return nil
	}})
	if errors.Is(err, ErrRolledBack) {
		err, p.rest = nil, nil
	}
	if err != nil {
		return false, err
	}
	return p.next < len(p.names), p.goOn()
}

// goOn does what need not be part of a turn.
func (p *acting) goOn() error {
	rest := p.rest
	p.rest = nil
	if err := p.seq.reassessAll(p.who.Customer, rest); err != nil {
		p.seq.deferRest(p.who.Customer, rest)
		return err
	}
	if p.at.list {
		p.at.list = false
		p.at.inside, p.at.grow = p.listInside(p.at.node)
	}
	return nil
}

// listInside lists the objects in error inside an item, and adds up the bytes that acknowledging them adds to texts. To remove
// acknowledgments it lists everything acknowledged.
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

// resolveTimes resolves the times of the action at its first turn.
func (p *acting) resolveTimes(now belfry.Time) error {
	if p.ready {
		return nil
	}
	if err := p.Action.resolveTimes(p.who, now); err != nil {
		return err
	}
	if p.ready = true; p.DryRun {
		p.out.Occurrences = p.occurrences(now)
	}
	return nil
}

// passUnknown skips names that do not exist and reports them.
func (p *acting) passUnknown() {
	for ; p.next < len(p.names) && p.bad[p.next] != nil; p.next++ {
		p.fail(p.names[p.next].Name, p.bad[p.next])
	}
}
