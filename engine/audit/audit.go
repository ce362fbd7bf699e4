// Package audit describes changes of configuration: the fields that differ with their values before and after, the text of
// the event, and the rows of the audit trail, which says who changed what and from where.
//
// A command that changes few items writes a row for each. One that changes many writes lists, which name every item: a row has
// items of one kind that one sender created, changed or removed, up to listSize bytes.
package audit

import (
	"slices"

	"belfry"
)

// Change is a change of configuration, for its event and its row of the audit trail.
type Change struct {
	Kind, Name, Action string
	Resource, View     string  // of an item
	Fields             []Field // that differ
	Info               string  // in words
}

// Field is a field that a change sets. Both values are JSON; an empty one is absent.
type Field struct{ Name, Before, After string }

// Actions that several changes share.
const (
	ActionCreated   = "created"
	ActionChanged   = "changed"
	ActionRemoved   = "removed"
	ActionImported  = "imported"
	ActionConfirmed = "confirmed"
	ActionRestored  = "restored"
	ActionStopped   = "stopped"
)

// Kinds of what is changed, beside those of items and documents.
const (
	KindSession       = "session"
	KindConfiguration = "configuration"
	KindFault         = "fault"
	KindBackup        = "backup"
)

// Trail collects the rows of one command.
type Trail struct{ rows []row }

type row struct {
	by *belfry.Actor
	Change
	items string // JSON, instead of name and fields
}

var serviceActor = belfry.Actor{Via: belfry.ViaService}

// Add adds a row; by is nil for the service itself.
func (a *Trail) Add(by *belfry.Actor, c Change) {
	if by == nil {
		by = &serviceActor
	}
	a.rows = append(a.rows, row{by: by, Change: c})
}

// Batch returns the rows; nil if there are none.
func (a *Trail) Batch(at belfry.Time) *belfry.Batch {
	if len(a.rows) == 0 {
		return nil
	}
	columns := []struct {
		name string
		text func(*row) string
	}{
		{"user", func(r *row) string { return r.by.Name }},
		{"via", func(r *row) string { return r.by.Via }},
		{"address", func(r *row) string { return r.by.Address }},
		{"request", func(r *row) string { return r.by.Request }},
		{"action", func(r *row) string { return r.Action }},
		{"kind", func(r *row) string { return r.Kind }},
		{"name", func(r *row) string { return r.Name }},
		{"resource", func(r *row) string { return r.Resource }},
		{"view", func(r *row) string { return r.View }},
		{"before", func(r *row) string { return string(appendValues(nil, r.Fields, valueBefore)) }},
		{"after", func(r *row) string { return string(appendValues(nil, r.Fields, valueAfter)) }},
		{"items", func(r *row) string { return r.items }},
		{"info", func(r *row) string { return r.Info }},
	}
	b := &belfry.Batch{Collection: belfry.AuditTrail, Times: slices.Repeat([]belfry.Time{at}, len(a.rows))}
	for _, c := range columns {
		texts := make([]string, len(a.rows))
		for i := range a.rows {
			texts[i] = c.text(&a.rows[i])
		}
		if slices.ContainsFunc(texts, func(s string) bool { return s != "" }) {
			b.Columns = append(b.Columns, belfry.Column{Name: c.name, Texts: texts})
		}
	}
	return b
}
