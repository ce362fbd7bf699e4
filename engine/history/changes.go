package history

import (
	"slices"

	"belfry"
	"belfry/status"
)

// Changes collects the state changes of one command that no alarm reports: modes, acknowledgments, notes. They become rows of
// belfry.StatusChange, from which the state at a past time is read. It could not be derived from events, because the tree of
// that time is not stored.
type Changes struct {
	times                                          []belfry.Time
	items, facets, status, since, mode, quiet, own []int64
	after                                          []int64 // number of events of the command that come before
	info, management, ack, note                    []string

	last     belfry.Ack // the last one written: items inside an acknowledged view share it
	lastText string
}

// Len returns the number of rows.
func (h *Changes) Len() int { return len(h.times) }

// Add adds a change of the facets f; after is the number of events of the command that come before.
func (h *Changes) Add(item belfry.ID, s *belfry.State, f status.Facet, at belfry.Time, after int) {
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
	h.after = append(h.after, int64(after))
	h.info, h.management = append(h.info, info), append(h.management, management)
	h.ack, h.note = append(h.ack, ack), append(h.note, note)
}

func bit(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func (h *Changes) ackText(a *belfry.Ack) string {
	if a != nil && (*a != h.last || h.lastText == "") {
		h.last, h.lastText = *a, status.AckText(a)
	}
	if a == nil {
		return ""
	}
	return h.lastText
}

// Batch returns the rows; nil: none. firstEvent is the id of the first event of the command; each row has the id of the event it
// follows.
func (h *Changes) Batch(firstEvent belfry.RowID) *belfry.Batch {
	if len(h.times) == 0 {
		return nil
	}
	after := h.after
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
	b.Columns = appendTexts(b.Columns,
		belfry.Column{Name: "info", Texts: h.info},
		belfry.Column{Name: "management", Texts: h.management},
		belfry.Column{Name: "ack", Texts: h.ack},
		belfry.Column{Name: "note", Texts: h.note},
	)
	return b
}

// appendTexts appends the columns that have values.
func appendTexts(some []belfry.Column, columns ...belfry.Column) []belfry.Column {
	for _, c := range columns {
		if slices.ContainsFunc(c.Texts, func(s string) bool { return s != "" }) {
			some = append(some, c)
		}
	}
	return some
}
