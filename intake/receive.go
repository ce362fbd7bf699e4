package intake

import (
	"context"

	"belfry"
	"belfry/engine"
)

// receiveSpares is how many rows messages leave room for: devices cannot be made to wait as HTTP clients can, and
// a receiver that is flooded must not keep out the request that changes it.
const receiveSpares = 50_000

// Receive stores rows that a collector has made about its resource and returns how many were kept. The others were
// discarded because of how the resource is managed. The batch belongs to the sequencer from then on.
func (in *Intake) Receive(ctx context.Context, c belfry.CustomerID, resource belfry.ID, b *belfry.Batch, wait bool) (kept int, err error) {
	rows := b.Len()
	if rows == 0 {
		return 0, nil
	}
	if err = in.engine.WaitForRoom(ctx, c, rows+receiveSpares); err == nil {
		err = in.chargeRate(ctx, c, rows, wait)
	}
	if err != nil {
		in.countLost(c, rows, lostReasonOf(err))
		return 0, err
	}
	err = in.engine.Do(&engine.Command{Customer: c, Rows: rows, Decide: func(t *engine.Tx) error {
		n := in.tree.Node(resource)
		if n == nil || n.Removed != 0 || t.RemovedInRound(n) {
			return belfry.Errorf(belfry.UnknownResource, "the resource of the collector was removed")
		}
		if !t.Mode(n).StoresData() {
			return nil
		}
		if err := t.Arrive(b.Times); err != nil {
			return err
		}
		b.Columns = append(b.Columns, itemColumn(resource, rows))
		t.AddBatch(b)
		kept = rows
		return nil
	}})
	if err != nil {
		in.countLost(c, rows, lostReasonOfCommand(err))
		return 0, err
	}
	in.counters.Received.Add(int64(rows))
	in.counters.Stored.Add(int64(kept))
	in.counters.Discarded.Add(int64(rows - kept))
	return kept, nil
}

// itemColumn says that all rows are about one item.
func itemColumn(id belfry.ID, rows int) belfry.Column {
	c := belfry.Column{Name: belfry.ItemColumn, Ints: make([]int64, rows)}
	for i := range c.Ints {
		c.Ints[i] = int64(id)
	}
	return c
}
