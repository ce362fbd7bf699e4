// Package history builds the rows from which the past of items is read: events, the changes that no alarm reports, and daily
// snapshots.
package history

import (
	"slices"

	"belfry"
	"belfry/meta"
)

// Events collects the event rows of one command.
type Events struct {
	times                     []belfry.Time
	items, status, previous   []int64
	source, kind, info, users []string
	above                     int // see Above
}

// Alarm adds a change of status, recovery included.
func (e *Events) Alarm(n *meta.Node, at belfry.Time, to, from belfry.Status, why string) {
	e.add(event{
		at: at, item: n.ID, source: n.Kind.String(), kind: "alarm",
		status: int64(to), previous: int64(from), info: why,
	})
}

// About adds an event about an item that is not a change of status.
func (e *Events) About(n *meta.Node, at belfry.Time, kind string, s belfry.State, info, user string) {
	e.add(event{
		at: at, item: n.ID, source: n.Kind.String(), kind: kind, status: int64(s.Status), previous: belfry.AbsentInt,
		info: info, user: user,
	})
}

// Manage adds an event about a change of management and returns its index. The status is set later, with SetStatus.
func (e *Events) Manage(n *meta.Node, at belfry.Time, s belfry.Status, info, user string) int {
	e.add(event{
		at: at, item: n.ID, source: n.Kind.String(), kind: "manage", status: int64(s), previous: int64(s), info: info, user: user,
	})
	return len(e.times) - 1
}

// SetStatus sets the status of an event.
func (e *Events) SetStatus(i int, s belfry.Status) { e.status[i] = int64(s) }

// Len returns the number of events.
func (e *Events) Len() int { return len(e.times) }

// Above returns the number of events about views and resources.
func (e *Events) Above() int { return e.above }

// event is one row of the collection events.
type event struct {
	at               belfry.Time
	item             belfry.ID
	source, kind     string
	status, previous int64
	info, user       string
}

func (e *Events) add(v event) {
	item := int64(v.item)
	if item == 0 {
		item = belfry.AbsentInt
	}
	if v.source != belfry.KindObject.String() {
		e.above++
	}
	if e.times == nil {
		e.Grow(4) // of an object, its resource, a view and MAIN
	}
	e.times, e.items = append(e.times, v.at), append(e.items, item)
	e.status, e.previous = append(e.status, v.status), append(e.previous, v.previous)
	e.source, e.kind = append(e.source, v.source), append(e.kind, v.kind)
	e.info, e.users = append(e.info, v.info), append(e.users, v.user)
}

// Prepend inserts events before the others.
func (e *Events) Prepend(o *Events) {
	e.times, e.items = append(o.times, e.times...), append(o.items, e.items...)
	e.status, e.previous = append(o.status, e.status...), append(o.previous, e.previous...)
	e.source, e.kind = append(o.source, e.source...), append(o.kind, e.kind...)
	e.info, e.users = append(o.info, e.info...), append(o.users, e.users...)
}

// Grow allocates memory for n more.
func (e *Events) Grow(n int) {
	e.times, e.items = slices.Grow(e.times, n), slices.Grow(e.items, n)
	e.status, e.previous = slices.Grow(e.status, n), slices.Grow(e.previous, n)
	e.source, e.kind = slices.Grow(e.source, n), slices.Grow(e.kind, n)
	e.info, e.users = slices.Grow(e.info, n), slices.Grow(e.users, n)
}

// Note adds an event without an item: a configuration change, a login, an internal matter.
func (e *Events) Note(at belfry.Time, source, kind, info, user string) {
	e.add(event{
		at: at, source: source, kind: kind, info: info, user: user,
		status: belfry.AbsentInt, previous: belfry.AbsentInt,
	})
}

// Batch returns the rows; nil: none.
func (e *Events) Batch() *belfry.Batch {
	if len(e.times) == 0 {
		return nil
	}
	b := &belfry.Batch{Collection: belfry.Events, Times: e.times, Columns: append(make([]belfry.Column, 0, 7),
		belfry.Column{Name: belfry.ItemColumn, Ints: e.items},
		belfry.Column{Name: "source", Texts: e.source},
		belfry.Column{Name: "type", Texts: e.kind},
		belfry.Column{Name: "status", Ints: e.status},
		belfry.Column{Name: "previous", Ints: e.previous},
	)}
	b.Columns = appendTexts(b.Columns, belfry.Column{Name: "info", Texts: e.info}, belfry.Column{Name: "user", Texts: e.users})
	return b
}
