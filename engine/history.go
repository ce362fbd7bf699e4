package engine

import (
	"belfry"
	"belfry/meta"
	"belfry/status"
)

// history gathers, for one command, what items show from then on and no alarm tells: what management covers, what is
// acknowledged, what is noted. It becomes rows of belfry.StatusChange. With them the status of a past moment is what was
// shown, and not what would follow from events today: the tree of that moment, around an item, is not known any more.
type history struct {
	times                                          []belfry.Time
	items, facets, status, since, mode, quiet, own []int64
	told                                           []int64 // so many events of the command came before
	info, management, ack, note                    []string

	last     belfry.Ack // written last: what a view's acknowledgment covers has the same
	lastText string
}

// remember keeps what changed in the standing of an item and no alarm says. It comes after the alarm, if there is one.
func (t *Tx) remember(n *meta.Node, prev, next *belfry.State, alarm bool, at belfry.Time) {
	if f := status.Untold(prev, next, alarm, at); f != 0 {
		t.history.add(n.ID, next, f, at, len(t.events.times))
	}
}

func (h *history) add(item belfry.ID, s *belfry.State, f status.Facet, at belfry.Time, told int) {
	only := func(facet status.Facet, v int64) int64 {
		if f&facet == 0 {
			return belfry.AbsentInt
		}
		return v
	}
	var info, management, ack, note string
	if f&status.InfoFacet != 0 {
		info = s.Info
	}
	if s.Operator != nil {
		if f&status.ManagedFacet != 0 {
			management = status.ManagementText(s.Operator)
		}
		if f&status.AckFacet != 0 {
			ack = h.ackText(s.Operator.Ack)
		}
		if f&status.NoteFacet != 0 {
			note = s.Operator.Note
		}
	}
	h.times, h.items, h.facets = append(h.times, at), append(h.items, int64(item)), append(h.facets, int64(f))
	h.status = append(h.status, only(status.ShownFacet, int64(s.Status)))
	h.since = append(h.since, only(status.ShownFacet, int64(s.Since)))
	h.mode = append(h.mode, only(status.ManagedFacet, int64(s.Mode)))
	h.quiet = append(h.quiet, only(status.ManagedFacet, bit(s.OffHours)))
	h.own = append(h.own, only(status.ManagedFacet|status.OwnFacet, int64(s.Evaluated)))
	h.told = append(h.told, int64(told))
	h.info, h.management = append(h.info, info), append(h.management, management)
	h.ack, h.note = append(h.ack, ack), append(h.note, note)
}

func bit(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func (h *history) ackText(a *belfry.Ack) string {
	if a != nil && (*a != h.last || h.lastText == "") {
		h.last, h.lastText = *a, status.AckText(a)
	}
	if a == nil {
		return ""
	}
	return h.lastText
}

// batch gives the rows; nil when there are none. The events of the same command have their ids from the given one on, so
// that each row can say after which event it comes.
func (h *history) batch(firstEvent belfry.RowID) *belfry.Batch {
	if len(h.times) == 0 {
		return nil
	}
	after := h.told
	for i := range after {
		after[i] += int64(firstEvent) - 1
	}
	b := &belfry.Batch{Collection: belfry.StatusChange, Times: h.times, Columns: []belfry.Column{
		{Name: belfry.ItemColumn, Ints: h.items},
		{Name: "facets", Ints: h.facets},
		{Name: "after", Ints: after},
		{Name: "status", Ints: h.status},
		{Name: "since", Ints: h.since},
		{Name: "mode", Ints: h.mode},
		{Name: "quiet", Ints: h.quiet},
		{Name: "own", Ints: h.own},
	}}
	b.Columns = append(b.Columns, textColumns(
		belfry.Column{Name: "info", Texts: h.info},
		belfry.Column{Name: "management", Texts: h.management},
		belfry.Column{Name: "ack", Texts: h.ack},
		belfry.Column{Name: "note", Texts: h.note},
	)...)
	return b
}

// textColumns leaves out those that hold nothing.
func textColumns(columns ...belfry.Column) (some []belfry.Column) {
	for _, c := range columns {
		if anyText(c.Texts) {
			some = append(some, c)
		}
	}
	return some
}
