package history

import (
	"slices"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// Snapshot collects rows of belfry.StatusDay: the status of items at one time.
type Snapshot struct {
	times                                  []belfry.Time
	items, status, own, since, mode, quiet []int64
	info, management, ack, note            []string
}

// Len returns the number of rows.
func (p *Snapshot) Len() int { return len(p.times) }

// Add adds the row of an item.
func (p *Snapshot) Add(at belfry.Time, n *meta.Node) {
	s := &n.State.State
	own, mode, quiet := int64(belfry.AbsentInt), int64(belfry.AbsentInt), int64(belfry.AbsentInt) // of most items
	if s.Evaluated != s.Status {
		own = int64(s.Evaluated)
	}
	if s.Mode != belfry.Managed {
		mode = int64(s.Mode)
	}
	if s.OffHours {
		quiet = 1
	}
	var op belfry.OperatorState
	if s.Operator != nil {
		op = *s.Operator
	}
	p.times, p.items = append(p.times, at), append(p.items, int64(n.ID))
	p.status, p.own = append(p.status, int64(s.Status)), append(p.own, own)
	p.since, p.mode = append(p.since, int64(s.Since)), append(p.mode, mode)
	p.quiet = append(p.quiet, quiet)
	p.info, p.management = append(p.info, s.Info), append(p.management, status.ManagementText(s.Operator))
	p.ack, p.note = append(p.ack, status.AckText(op.Ack)), append(p.note, op.Note)
}

// Batch returns the rows.
func (p *Snapshot) Batch() *belfry.Batch {
	b := &belfry.Batch{Collection: belfry.StatusDay, Times: p.times, Columns: []belfry.Column{
		{Name: belfry.ItemColumn, Ints: p.items},
		{Name: "status", Ints: p.status},
		{Name: "since", Ints: p.since},
	}}
	for _, c := range []belfry.Column{{Name: "own", Ints: p.own}, {Name: "mode", Ints: p.mode}, {Name: "quiet", Ints: p.quiet}} {
		if slices.ContainsFunc(c.Ints, func(v int64) bool { return v != belfry.AbsentInt }) {
			b.Columns = append(b.Columns, c)
		}
	}
	b.Columns = appendTexts(b.Columns,
		belfry.Column{Name: "info", Texts: p.info},
		belfry.Column{Name: "management", Texts: p.management},
		belfry.Column{Name: "ack", Texts: p.ack},
		belfry.Column{Name: "note", Texts: p.note},
	)
	return b
}

// SnapshotEnd returns the last row of a snapshot: the number of its rows, and when it was done.
func SnapshotEnd(at belfry.Time, rows int, done belfry.Time) *belfry.Batch {
	return &belfry.Batch{Collection: belfry.StatusDay, Times: []belfry.Time{at}, Columns: []belfry.Column{
		{Name: belfry.ItemColumn, Ints: []int64{belfry.AbsentInt}},
		{Name: "rows", Ints: []int64{int64(rows)}},
		{Name: "done", Ints: []int64{int64(done)}},
	}}
}
