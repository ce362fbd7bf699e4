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

// Store keeps rows.
type Store interface {
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

	// Drop forgets the rows of c older than t, by whole periods. What has been dropped does not come back.
	Drop(ctx context.Context, c *catalog.Collection, t belfry.Time) error

	Close() error
}

// Divided is a Store that commits by units, such as files of a day, of which there may be so many in one call that others should
// have their turn before all of them are done.
type Divided interface {
	// AppendSome is Append, but it may end when enough says so. It returns the batches of which rows are left; they come again in
	// the next call, before later ones.
	AppendSome(ctx context.Context, enough func() bool, b ...*belfry.Batch) (left []*belfry.Batch, err error)
}
