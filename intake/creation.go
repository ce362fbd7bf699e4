package intake

import (
	"context"
	"time"

	"belfry"
	"belfry/engine"
)

// One customer that creates items as fast as it can keeps the machine busy, also between its turns at the sequencer: each new item is
// written to the journal, the metadata and the row store, and is garbage to collect in all of them. So while other customers are at
// work each may create createRate items per second. A customer that is alone creates as fast as it can.
const createRate = 5000

// reserveItems counts the items that a turn may create against the customer's rate while other customers are active. It waits while the customer is above it.
func (in *Intake) reserveItems(ctx context.Context, c belfry.CustomerID, items int) (reserved int, err error) {
	for items > 0 && in.engine.OthersActive(c) {
		wait := in.creation.reserve(c, items, createRate, time.Now())
		if wait <= 0 {
			return items, nil
		}
		wait = min(wait, engine.ActiveFor) // others may be gone then
		in.Waited(c, wait)
		select {
		case <-time.After(wait):
		case <-in.closing:
			return 0, engine.ErrStopping
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return 0, nil
}

// ReserveItems counts items against the customer's rate while other customers are active, and waits while the customer is above it.
func (in *Intake) ReserveItems(ctx context.Context, c belfry.CustomerID, items int) error {
	_, err := in.reserveItems(ctx, c, items)
	return err
}

// refundItems releases what was reserved for a turn and not created in it.
func (in *Intake) refundItems(c belfry.CustomerID, reserved, items int) {
	if reserved > 0 {
		in.creation.refund(c, reserved-items)
	}
}
