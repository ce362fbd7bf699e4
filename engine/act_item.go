package engine

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"belfry"
	"belfry/engine/audit"
	"belfry/meta"
	"belfry/status"
)

// acks reports whether the action changes acknowledgments.
func (a *Action) acks() bool { return a.Ack != nil || a.Unack }

// progress is the state of an action on one item, which takes several turns if it has many items inside. Then all of them get
// their mode before any is acknowledged, and the item itself is acknowledged last.
type progress struct {
	node    *meta.Node
	managed bool
	acked   bool

	acking  bool         // the item was in error at its first turn
	list    bool         // inside must be filled before the next turn
	inside  []*meta.Node // still to be acknowledged or unacknowledged
	content int          // number done
	grow    int64        // bytes that the acknowledgments add to texts
	checked bool         // grow is within the limit
	time    belfry.Time  // of their acknowledgments
}

// apply applies the action to the next items, as many as fit into this turn.
func (p *acting) apply(t *Tx, whole bool) {
	if whole && p.acks() { // other actions change most items inside in later turns
		t.itemsLeft = actWhole
	}
	for names := 0; p.next < len(p.names) && (whole || names < p.seq.turn && len(t.rec.States) < p.seq.turn); names++ {
		var n *meta.Node
		bad := p.bad[p.next]
		if bad == nil {
			n, bad = t.named(p.names[p.next].Named)
		}
		switch {
		case bad != nil:
			p.fail(p.names[p.next].Name, bad)
		case !whole && names > 0 && p.sizes[n] > t.itemsLeft:
			return
		default:
			if p.at.node != n {
				p.at = progress{node: n}
			}
			if !p.actOn(t, n, whole) {
				return
			}
		}
		p.next++
		p.at = progress{}
	}
}

// actOn applies the action to one item. Unless finished, it is called again in another turn.
func (p *acting) actOn(t *Tx, n *meta.Node, whole bool) (finished bool) {
	done := ActedItem{Name: n.Name, Kind: n.Kind.String()}
	if n.Resource != nil && n.Resource != n {
		done.Resource = n.Resource.Name
	}
	if p.Manage != nil && !p.at.managed {
		p.at.managed = true
		if more := p.manage(t, n, done); more && !whole {
			return false
		}
	}
	if p.acks() && !p.at.acked {
		if p.at.acked = p.acknowledge(t, n, done, whole); !p.at.acked {
			return false
		}
	}
	if p.Note != nil {
		before := t.operatorState(n)
		if bad := t.reserveOperatorTexts(n, func(op *belfry.OperatorState) { op.Note = *p.Note }); bad != nil {
			p.fail(n.Name, bad)
			return true
		}
		done.Result = t.note(n, *p.Note, p.who.Name)
		p.did(t, n, done, before)
	}
	return true
}

// did adds an item to the answer and the action to the audit trail.
func (p *acting) did(t *Tx, n *meta.Node, done ActedItem, before *belfry.OperatorState) {
	p.out.Items = append(p.out.Items, done)
	if p.DryRun {
		return
	}
	c := audit.Change{Kind: done.Kind, Name: n.Name, Action: done.Result, Fields: audit.OperatorFields(before, t.operatorState(n))}
	c.Resource, c.View = t.whereIs(n)
	c.Info = done.Kind + " " + n.Name + " " + strings.ReplaceAll(done.Result, "_", " ")
	if done.Content > 0 {
		c.Info += fmt.Sprintf(", with %d inside", done.Content)
	}
	t.Audit(c)
}

// operatorState returns the operator state of an item, as of this round; nil: none.
func (t *Tx) operatorState(n *meta.Node) *belfry.OperatorState {
	return t.s.drafts[t.s.draft(n)].state.Operator
}

// manage applies the order to an item. more: the items inside follow in Sequencer.reassessAll.
func (p *acting) manage(t *Tx, n *meta.Node, done ActedItem) (more bool) {
	bad := allowed(n, p.Manage.Mode)
	if bad == nil {
		bad = checkWindow(n, t.s.drafts[t.s.draft(n)].state.Operator, p.Manage)
	}
	if bad == nil {
		bad = t.reserveOperatorTexts(n, func(op *belfry.OperatorState) { *op = status.Arrange(*op, *p.Manage, t.Now) })
	}
	if bad != nil {
		p.fail(n.Name, bad)
		return false
	}
	done.Content = p.sizes[n]
	before := t.operatorState(n)
	done, rest := t.manage(n, *p.Manage, done)
	p.did(t, n, done, before)
	if rest != "" {
		p.rest = append(p.rest, rest)
	}
	return rest != ""
}

// checkWindow rejects cancelling a window that does not exist, and more windows than an item may have.
func checkWindow(n *meta.Node, c *belfry.OperatorState, o *status.Order) *belfry.Error {
	switch {
	case o.Misses(c):
		var names []string
		for _, w := range status.Planned(c) {
			if w.Name != "" && len(names) < 10 {
				names = append(names, strconv.Quote(w.Name))
			}
		}
		missing := "window without a name; to manage it leave window out"
		if o.Name != "" {
			missing = fmt.Sprintf("window %q", belfry.Clip(o.Name))
		}
		return belfry.Errorf(belfry.BadParameter, "%q has no %s; it has %s. GET /api/windows lists all windows", belfry.Clip(n.Name), missing,
			cmp.Or(strings.Join(names, ", "), "none with a name"))
	case o.TooMany(c):
		return belfry.Errorf(belfry.LimitReached, "%q has windows of %d names already, as many as are allowed; cancel some, or use a name that it has", belfry.Clip(n.Name), belfry.MaxWindows)
	}
	return nil
}

// acknowledge acknowledges an item in error and the objects in error inside it, or removes acknowledgments.
func (p *acting) acknowledge(t *Tx, n *meta.Node, done ActedItem, whole bool) (finished bool) {
	var bad *belfry.Error
	content, size, before := 0, p.sizes[n], t.operatorState(n)
	switch {
	case whole && size > t.itemsLeft:
		bad = belfry.Errorf(belfry.LimitReached, "an action with an Idempotency-Key is one record and acknowledges up to %d items inside others, or removes their acknowledgments; "+
			"%q contains %d; send it without a key, or name fewer at a time", actWhole, belfry.Clip(n.Name), size)
	case whole || size <= p.seq.turn:
		t.itemsLeft -= size
		if p.Unack {
			content = t.unacknowledge(n, p.who.Name)
		} else {
			content, bad = t.acknowledge(n, *p.Ack)
		}
	default:
		if content, finished, bad = p.acknowledgeMany(t, n); !finished {
			return false
		}
	}
	if bad != nil {
		p.fail(n.Name, bad)
		return true
	}
	if done.Result, done.Content = "unacknowledged", content; !p.Unack {
		done.Result, done.To = "acknowledged", shownTime(p.Ack.Until)
	}
	p.did(t, n, done, before)
	return true
}

// acknowledgeMany does that in turns. If the item recovers in between, or the limit on texts is reached, the objects inside that
// came first stay acknowledged, and the item itself is not.
func (p *acting) acknowledgeMany(t *Tx, n *meta.Node) (content int, finished bool, bad *belfry.Error) {
	if bad := t.inError(n); bad != nil && !p.Unack {
		return 0, true, bad
	}
	at := &p.at
	if !at.acking {
		at.acking, at.list, at.time = true, true, t.Now
		return 0, false, nil
	}
	if p.Unack {
		return p.unacknowledgeMany(t, n)
	}
	if !at.checked { // in advance, so that normally nothing is done if the limit is too low
		at.checked = true
		if bad := t.roomForTexts(at.grow); bad != nil {
			return 0, true, bad
		}
	}
	a := *p.Ack
	a.Time = at.time
	part := at.inside[:min(p.seq.turn, len(at.inside))]
	grow := t.ackGrowthOf(n, a.Text)
	for _, o := range part {
		grow += t.ackGrowthOf(o, a.Text)
	}
	if bad := t.reserveTexts(grow); bad != nil {
		return 0, true, bad
	}
	for _, o := range part {
		if o.Removed == 0 && t.stands(o, n) && t.acknowledgeOne(o, a) {
			at.content++
		}
	}
	if at.inside = at.inside[len(part):]; len(at.inside) > 0 {
		return 0, false, nil
	}
	t.acknowledgeTop(n, a, at.content)
	return at.content, true, nil
}

// unacknowledgeMany removes the listed acknowledgments in turns.
func (p *acting) unacknowledgeMany(t *Tx, n *meta.Node) (content int, finished bool, bad *belfry.Error) {
	at := &p.at
	part := at.inside[:min(p.seq.turn, len(at.inside))]
	for _, o := range part {
		if o.Removed == 0 && t.stands(o, n) && t.unacknowledgeOne(o) {
			at.content++
		}
	}
	if at.inside = at.inside[len(part):]; len(at.inside) > 0 {
		return 0, false, nil
	}
	t.unacknowledgeTop(n, at.content, p.who.Name)
	return at.content, true, nil
}

// stands reports whether an item is inside another, at any depth.
func (t *Tx) stands(n, in *meta.Node) bool {
	for n != nil && n != in {
		n = t.Parent(n)
	}
	return n != nil
}
