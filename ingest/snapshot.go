package ingest

import (
	"context"
	"time"

	"belfry"
)

// SnapshotPart is how many items a snapshot writes at a time.
const SnapshotPart = 5000

// snapshotPause comes after each part, so that what others send does not wait for all of them.
const snapshotPause = 20 * time.Millisecond

// Snapshot writes the status of every item of the customer into belfry.StatusDay, so that the status at a later moment
// can be found without all events that ever were. All its rows have the moment of its beginning as their time. The row
// that comes last says how many there are: without it, after a crash or an error, the others count for nothing.
//
// It is taken in parts, each a round of its own, and things go on happening between them: a row tells what all events
// with a lower id have led to, and nothing of those with a higher one.
func (s *Sequencer) Snapshot(ctx context.Context, c belfry.CustomerID, part int) error {
	at, rows := belfry.At(s.cfg.Now()), 0
	for next := uint64(1); next != 0; {
		if err := s.cfg.Room(ctx, part); err != nil {
			return err
		}
		// Alone, as then the tree has everything that was decided before.
		err := s.do(&command{customer: c, rows: part, alone: true, decide: func(t *tx) error {
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
	return s.do(&command{customer: c, rows: 1, decide: func(t *tx) error {
		t.rec.Batches = append(t.rec.Batches, &belfry.Batch{
			Collection: belfry.StatusDay, Times: []belfry.Time{at}, Columns: []belfry.Column{
				{Name: belfry.ItemColumn, Ints: []int64{belfry.AbsentInt}},
				{Name: "rows", Ints: []int64{int64(rows)}},
				{Name: "done", Ints: []int64{int64(t.now)}},
			},
		})
		return nil
	}})
}

// snapshot writes the items from the given number on, as many as make a part. It tells how many rows that made, and
// the number at which the next part begins; 0 when there is none.
func (t *tx) snapshot(at belfry.Time, from uint64, most int) (rows int, next uint64) {
	var (
		times                []belfry.Time
		items, status, since []int64
		infos                []string
	)
	for next = from; len(times) < most; next++ {
		n := t.estate.Numbered(next)
		if n == nil {
			next = 0
			break
		}
		if n.Removed != 0 {
			continue
		}
		times, items = append(times, at), append(items, int64(n.ID))
		status, since = append(status, int64(n.State.Status)), append(since, int64(n.State.Since))
		infos = append(infos, n.State.Info)
	}
	if len(times) == 0 {
		return 0, next
	}
	b := &belfry.Batch{Collection: belfry.StatusDay, Times: times, Columns: []belfry.Column{
		{Name: belfry.ItemColumn, Ints: items},
		{Name: "status", Ints: status},
		{Name: "since", Ints: since},
	}}
	if anyText(infos) {
		b.Columns = append(b.Columns, belfry.Column{Name: "info", Texts: infos})
	}
	t.rec.Batches = append(t.rec.Batches, b)
	return len(times), next
}
