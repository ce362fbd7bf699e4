// Package store defines row stores, and moves rows into them.
//
// Rows arrive as Batches of Records that are already safe in the journal. The Mover passes the records to a Store in order,
// many at a time; a Store (package store/duck) stores them for queries:
//
//	journal ──► Mover.Add ─┬─ waits until it is worth a commit ─► Store.Append
//	                       └─ Select waits for rows added before it ─► Store.Select
//
// Two invariants hold. Every record added to the Mover reaches the store once, in order, whatever fails in between: a store
// commits its position in the same transaction as the rows, and skips what it has. And a query sees every row that was added
// before it began.
package store

import (
	"context"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// Store stores rows and answers queries about them. Optional operations are in the interfaces of optional.go.
type Store interface {
	// Select answers plans about historical collections.
	Select(ctx context.Context, p *query.Plan) (query.Rows, error)

	// Explain describes how Select would answer a plan: which files, summaries and indexes it would read.
	Explain(ctx context.Context, p *query.Plan) ([]query.Line, error)

	// Append stores batches, which come in order of Pos; all batches of a Pos come in one call. A store commits each of its
	// units, such as files of a day, with the highest Pos in it and skips batches at or below that if they are repeated. So
	// after an error or a crash the caller calls again with the same batches, alone or among others: missing ones are added,
	// nothing is stored twice. Rows of a period that Drop has removed are skipped and counted.
	//
	// A call may touch so many units that others should be served before all are done. So it may stop when enough, if it is
	// not nil, returns true. It returns the batches with rows that are not yet stored; they are passed again in the next
	// call, before later ones.
	//
	// Batches of belfry.Dimension have the names of items: item and kind (integers), resource, view, object, class, ip, host
	// (texts). They are applied before all others, whatever their Pos; the last names of an item count.
	//
	// A store must not keep a batch, or a part of it, after Append returns. Append is not called concurrently.
	Append(ctx context.Context, enough func() bool, b ...*belfry.Batch) (left []*belfry.Batch, err error)

	// Drop deletes the rows of c older than t, by whole periods, and records t: rows older than that are skipped from then on.
	Drop(ctx context.Context, c *catalog.Collection, t belfry.Time) error

	// Keep makes an exception from Drop for the dropped period that contains t: its rows are stored again, and kept as long as
	// rows of now. It is needed if rows arrive while the clock is far behind. It reports false if there was one already.
	Keep(c *catalog.Collection, t, now belfry.Time) (added bool, err error)

	// Erase removes every row of the customers from the disk. The caller ensures that no more of their rows come. After an error
	// it is called again.
	Erase(ctx context.Context, customers []belfry.CustomerID) error

	// Reached returns the highest position of which the store has rows.
	Reached(ctx context.Context) (pos belfry.Position, err error)

	// Accepts returns the time before which rows of a collection are skipped, and Oldest the time before which there are none.
	// They differ if the store has lost the former.
	Accepts(collection string) belfry.Time
	Oldest(collection string) belfry.Time

	// Newest returns the end of the newest period, of any collection, that has rows; 0 if there are no rows.
	Newest() belfry.Time

	// Stats returns counters and gauges for /metrics.
	Stats() Stats

	// RemovedItems calls each for every removed item that still has rows, with its own name. They are no longer in the
	// tree, but queries show their names. Append of belfry.Dimension adds them.
	RemovedItems(ctx context.Context, each func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string)) error

	// ForgetItems deletes the names of removed items without rows.
	ForgetItems(ctx context.Context, ids []belfry.ID) error

	// NamesUpTo records that the names of all items removed up to a position are stored.
	NamesUpTo(ctx context.Context, pos belfry.Position) error

	Close() error
}

// AppendAll appends batches until all of their rows are stored.
func AppendAll(ctx context.Context, s Store, b ...*belfry.Batch) error {
	_, err := s.Append(ctx, nil, b...)
	return err
}

// Stats are figures of a Store. Counters count from the time it was opened.
type Stats struct {
	Skipped uint64 // rows not stored because their period had been dropped
	Expired uint64 // rows deleted by Drop
	Running int    // statements of queries that the engine is executing
}
