package engine

import (
	"context"
	"slices"
	"time"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// SnapshotPart is how many items a snapshot writes at a time.
const SnapshotPart = 5000

// snapshotPause is the pause after each part, in which other commands run.
const snapshotPause = 20 * time.Millisecond

// Snapshot writes the status of every item of the customer into belfry.StatusDay, so that a later status can be found without
// reading all events before. All its rows have the time at which it began. The last row has their number: without it, after a
// crash or an error, the others are ignored.
//
// It is taken in parts, each a round of its own, and other commands run in between: a row reflects exactly the events with a
// lower id.
func (s *Sequencer) Snapshot(ctx context.Context, c belfry.CustomerID, part int) error {
	at, rows := s.Now(), 0
	for next := uint64(1); next != 0; {
		if err := s.cfg.Room(ctx, c, part); err != nil {
			return err
		}
		// Alone, so that the tree has everything decided before.
		err := s.Do(&Command{Customer: c, Rows: part, Alone: true, Decide: func(t *Tx) error {
			var n int
			n, next = t.snapshot(at, next, part)
			rows += n
			return nil
		}})
		if err != nil {
			return err
		}
		if next == 0 {
			break
		}
		select {
		case <-time.After(snapshotPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Do(&Command{Customer: c, Rows: 1, Decide: func(t *Tx) error {
		t.rec.Batches = append(t.rec.Batches, &belfry.Batch{
			Collection: belfry.StatusDay, Times: []belfry.Time{at}, Columns: []belfry.Column{
				{Name: belfry.ItemColumn, Ints: []int64{belfry.AbsentInt}},
				{Name: "rows", Ints: []int64{int64(rows)}},
				{Name: "done", Ints: []int64{int64(t.Now)}},
			},
		})
		return nil
	}})
}

// snapshot writes one part, from the given item id on. It returns the number of rows and the id at which the next part begins;
// 0: none.
func (t *Tx) snapshot(at belfry.Time, from uint64, most int) (rows int, next uint64) {
	var p snapshotPart
	for number, n := range t.Tenant.NumberedFrom(from) {
		if len(p.times) == most {
			next = number
			break
		}
		if n.Removed == 0 {
			p.add(at, n)
		}
	}
	if len(p.times) > 0 {
		t.rec.Batches = append(t.rec.Batches, p.batch())
	}
	return len(p.times), next
}

// snapshotPart collects rows of a snapshot.
type snapshotPart struct {
	times                                  []belfry.Time
	items, status, own, since, mode, quiet []int64
	info, management, ack, note            []string
}

func (p *snapshotPart) add(at belfry.Time, n *meta.Node) {
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

func (p *snapshotPart) batch() *belfry.Batch {
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
	b.Columns = append(b.Columns, textColumns(
		belfry.Column{Name: "info", Texts: p.info},
		belfry.Column{Name: "management", Texts: p.management},
		belfry.Column{Name: "ack", Texts: p.ack},
		belfry.Column{Name: "note", Texts: p.note},
	)...)
	return b
}
