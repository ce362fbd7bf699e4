// Package store says what it means to keep rows, and carries them there.
//
// Rows arrive as Batches of Records that are already safe in the journal. The Mover takes the records in order and
// hands them to a Store, many at a time; a Store (package store/duck) keeps them so that queries find them:
//
//	journal ──► Mover.Add ─┬─ waits until it is worth a commit ─► Store.Append
//	                       └─ Select waits for what was added before it ─► Store.Select
//
// Two invariants hold. What the Mover was given reaches the store once, in order, whatever fails in between: a store
// remembers in the same transaction as the rows how far it has come, and skips what it has. And a query sees every row
// that was added before it was asked.
package store

import (
	"context"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Appender takes rows and answers queries about them. It is all that the Mover needs of a Store.
type Appender interface {
	// Select answers plans about historical collections.
	query.Source

	// Append stores batches, which come in order of Pos; all batches of a Pos come in one call. Whatever unit a store
	// commits by, it commits with the highest Pos in it and skips what it is given again at or below that. So after an
	// error or a crash the caller calls again with the same batches, alone or among others: what is missing is added,
	// nothing is stored twice. Rows of a period that Drop has removed are skipped and counted.
	//
	// Batches of belfry.Dimension hold the names of items: item and kind (integers), resource, view, object, class,
	// ip, host (texts). They are applied before all others, whatever their Pos; the last word on an item counts.
	//
	// A store must not keep a batch, or a part of it, after Append returns. Append is not called by two at a time.
	Append(ctx context.Context, b ...*belfry.Batch) error
}

// Store keeps rows. What only some stores do is in the interfaces of optional.go.
type Store interface {
	Appender

	// Drop deletes the rows of c older than t, by whole periods, and remembers t: rows older than that are skipped from then on.
	Drop(ctx context.Context, c *catalog.Collection, t belfry.Time) error

	// Keep makes an exception from Drop for the period that holds t, which was dropped: rows of it are stored again, and kept as long as
	// rows of now. It is needed when rows arrive while the clock is far behind. It reports false if that was so already.
	Keep(c *catalog.Collection, t, now belfry.Time) (added bool, err error)

	// Erase removes every row of the customers from the disk. The caller makes sure that no more of their rows come. After an error it is
	// called again.
	Erase(ctx context.Context, customers []belfry.CustomerID) error

	// Reached is the highest position of which the store has rows.
	Reached(ctx context.Context) (pos belfry.Position, err error)

	// Accepts is the time before which rows of a collection are skipped, and Oldest the time before which there are none. They differ when
	// the store has lost the former.
	Accepts(collection string) belfry.Time
	Oldest(collection string) belfry.Time

	// Newest is the end of the newest period, of any collection, that has rows; 0 if there are no rows.
	Newest() belfry.Time

	// Stats returns counters and gauges for /metrics.
	Stats() Stats

	RemovedNames

	Close() error
}

// Stats are figures of a Store. Counters count from the time it was opened.
type Stats struct {
	Skipped uint64 // rows not stored because their period had been dropped
	Expired uint64 // rows deleted by Drop
	Running int    // statements of queries that the engine is executing
}

// RemovedNames are the names of items that were removed while there are still rows about them. The tree has forgotten them; queries show
// them. Append of belfry.Dimension adds them.
type RemovedNames interface {
	// RemovedItems calls each for every removed item, with its own name.
	RemovedItems(ctx context.Context, each func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string)) error

	// ForgetItems deletes the names of items about which there are no rows left.
	ForgetItems(ctx context.Context, ids []belfry.ID) error

	// NamesUpTo notes that the names of all items removed up to a position are there.
	NamesUpTo(ctx context.Context, pos belfry.Position) error
}
