package live

import (
	"iter"
	"slices"

	"belfry"
	"belfry/meta"
)

// Limited users with the same sub-trees share a feed of these. What is outside is left out before messages are numbered, so
// that not even the numbers reveal it. MAIN belongs to no sub-tree; its status follows from those that are sent.

// feedOf finds the feed of a scope, nil when there is none, and how many listeners the customer has. The mutex is held.
func (h *Hub) feedOf(s belfry.Scope) (found *feed, streams int) {
	for _, f := range h.byCustomer[s.Customer] {
		streams += f.listeners
		if slices.Equal(f.scope.Views, s.Views) {
			found = f
		}
	}
	return found, streams
}

// visible returns the changes that concern a scope. It is called by the goroutine that applies records.
func (h *Hub) visible(s belfry.Scope, n changes) changes {
	if !s.Limited() {
		return n
	}
	within := h.tree.Tenant(s.Customer).Visibility(s)
	has := func(id belfry.ID) bool { return within.Has(h.tree.Node(id)) }
	out := changes{events: n.events, some: true}
	for i := range n.states {
		if has(n.states[i].Item) {
			out.states = append(out.states, n.states[i])
		}
	}
	if n.events == nil {
		return out
	}
	items := n.events.Column(belfry.ItemColumn)
	for i := range n.events.Len() {
		if has(itemAt(items, i)) {
			out.rows = append(out.rows, i)
		}
	}
	return out
}

// sent yields the rows of the events that are sent.
func (n *changes) sent() iter.Seq[int] {
	return func(yield func(int) bool) {
		if n.some {
			for _, i := range n.rows {
				if !yield(i) {
					return
				}
			}
			return
		}
		for i := range n.events.Len() {
			if !yield(i) {
				return
			}
		}
	}
}

// named are the items that a message of a limited feed names: the one it is about, and up to two that contain it. 0 is none, or MAIN.
type named [3]belfry.ID

// hidden reports which messages of a block a listener that resumes must not get: what they name was inside when they were
// written, and no longer is. Messages that are written during the stream are sent as they are. It is nil when nothing is hidden.
func (l *Listener) hidden(p *block) (hidden []bool) {
	if len(p.named) == 0 || l.at >= l.first {
		return nil
	}
	from := int(l.at - p.first)
	old := p.named[from:min(uint64(len(p.named)), l.first-p.first)]
	var ids []belfry.ID
	for _, n := range old {
		ids = append(ids, n[:]...)
	}
	tree := l.hub.tree
	within := tree.Visibility(l.feed.scope)
	tree.History().EachByID(ids, func(i int, n *meta.Node) {
		if ids[i] == 0 || within.Has(n) {
			return
		}
		if hidden == nil {
			hidden = make([]bool, len(p.marks))
		}
		hidden[from+i/len(named{})] = true
	})
	return hidden
}
