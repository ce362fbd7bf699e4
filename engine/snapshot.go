package engine

import (
	"context"
	"time"

	"belfry"
	"belfry/engine/history"
)

// SnapshotPart is how many items a snapshot writes at a time.
const SnapshotPart = 5000

// snapshotPause is the pause after each part, in which other commands run.
const snapshotPause = 20 * time.Millisecond

// Snapshot writes the status of every item of the customer into belfry.StatusDay, so that a later status can be found without
// reading all events before. All its rows have the time at which it began. The last row has their number: without it, after a
// crash or an error, the others are ignored.
//
// It is taken in parts, each its own round, and other commands run in between: a row reflects exactly the events with a
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
		t.AddBatch(history.SnapshotEnd(at, rows, t.Now))
		return nil
	}})
}

// snapshot writes one part, from the given item id on. It returns the number of rows and the id at which the next part begins;
// 0: none.
func (t *Tx) snapshot(at belfry.Time, from uint64, most int) (rows int, next uint64) {
	var p history.Snapshot
	for number, n := range t.Tenant.NumberedFrom(from) {
		if p.Len() == most {
			next = number
			break
		}
		if n.Removed == 0 {
			p.Add(at, n)
		}
	}
	if p.Len() > 0 {
		t.AddBatch(p.Batch())
	}
	return p.Len(), next
}
