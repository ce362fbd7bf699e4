// Package names keeps the names of items where queries can join them: of existing items in memory, of removed ones in a
// file, because there may be many more of those.
package names

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/store"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowwriter"
)

// Names has the names of items by id. Only the writer uses it.
type Names struct {
	highest int64 // highest id in the table
	deleted int   // rows since the last checkpoint
	removed removedNames
}

// The names of existing items are in a separate database which, unlike the main one, is compressed at each checkpoint.
const (
	vacuumItems  = 50_000 // deleted rows that trigger a checkpoint
	itemDatabase = "items"
	liveTable    = itemDatabase + ".main.live"
	// Table is what queries join: the names of existing and of removed items.
	Table = itemDatabase + ".main.item"
)

func itemColumns() []duckdb.Column {
	return []duckdb.Column{
		{Name: "id", Kind: duckdb.ID},
		{Name: rowwriter.CustomerColumn, Kind: duckdb.Small},
		{Name: "kind", Kind: duckdb.Small},
		{Name: belfry.PlaceColumn, Kind: duckdb.ID},
		{Name: "resource", Kind: duckdb.Text},
		{Name: "view", Kind: duckdb.Text},
		{Name: "object", Kind: duckdb.Text},
		{Name: "class", Kind: duckdb.Text},
		{Name: "ip", Kind: duckdb.Text},
		{Name: "host", Kind: duckdb.Text},
	}
}

// Open creates the table of items in a new engine, and attaches the file of removed names in cfg.Dir. Names of existing
// items come with Apply.
func Open(ctx context.Context, c *duckdb.Conn, cfg store.Config) (*Names, error) {
	d := &Names{removed: removedNames{
		path: filepath.Join(cfg.Dir, File), of: folder.IdentityOf(cfg), fill: cfg.Removed, after: cfg.RemovedAfter, log: cfg.Log,
	}}
	if err := c.Exec(ctx, "ATTACH ':memory:' AS "+itemDatabase+" (COMPRESS)"); err != nil {
		return nil, fmt.Errorf("create item table: %w", err)
	}
	var defs []string
	for _, col := range itemColumns() {
		defs = append(defs, duckdb.QuoteName(col.Name)+" "+col.Kind.SQL())
	}
	if err := c.Exec(ctx, "CREATE TABLE "+liveTable+" ("+strings.Join(defs, ", ")+")"); err != nil {
		return nil, fmt.Errorf("create item table: %w", err)
	}
	if err := d.removed.open(ctx, c); err != nil {
		return nil, fmt.Errorf("open names of removed items: %w", err)
	}
	d.removed.changing()()
	return d, nil
}

// Apply stores the batches of items among the given ones. A known item is replaced.
func (d *Names) Apply(ctx context.Context, c *duckdb.Conn, batches []*belfry.Batch) error {
	pieces, known, highest, err := d.latest(batches)
	if err != nil || len(pieces) == 0 {
		return err
	}
	live, gone := splitRemoved(pieces)
	if len(gone) > 0 {
		defer d.removed.changing()()
		if err := d.removed.add(ctx, c, gone); err != nil {
			return err
		}
	}
	err = transact(ctx, c, func() error {
		err := deleteItems(ctx, c, liveTable, known)
		if err == nil {
			err = addItemsTo(c, itemDatabase, "live", itemColumns(), live, 0)
		}
		if err == nil && len(gone) > 0 {
			err = d.removed.show(ctx, c)
		}
		return err
	})
	if err != nil {
		return err
	}
	if d.highest = highest; len(gone) > 0 {
		d.removed.batch++
	}
	if d.deleted += len(known); d.deleted >= vacuumItems {
		d.deleted = 0
		_ = c.Exec(ctx, "CHECKPOINT "+itemDatabase) // frees the memory of deleted rows; later, if others use the database
	}
	return nil
}

// transact runs do in one transaction.
func transact(ctx context.Context, c *duckdb.Conn, do func() error) error {
	err := c.Exec(ctx, "BEGIN")
	if err != nil {
		return err
	}
	if err = do(); err == nil {
		err = c.Exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		_ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") // fails if the failed statement has already rolled back
	}
	return err
}

// latest returns the last version of each item, and the items that the table may have already.
func (d *Names) latest(batches []*belfry.Batch) (pieces []rowwriter.Piece, known []int64, highest int64, err error) {
	seen := map[int64]bool{}
	highest = d.highest
	for _, b := range slices.Backward(batches) {
		if b.Collection != belfry.Dimension || b.Len() == 0 {
			continue
		}
		ids := b.Column(belfry.ItemColumn)
		if ids == nil || ids.Ints == nil {
			return nil, nil, 0, fmt.Errorf("a batch of items at position %d has no ids", b.Pos)
		}
		rows := make([]int, 0, b.Len())
		for i, id := range slices.Backward(ids.Ints) {
			if seen[id] {
				continue
			}
			seen[id] = true
			if id <= d.highest {
				known = append(known, id)
			}
			highest = max(highest, id)
			rows = append(rows, i)
		}
		slices.Reverse(rows)
		pieces = append(pieces, rowwriter.Piece{Batch: b, Rows: rows})
	}
	slices.Reverse(pieces)
	return pieces, known, highest, nil
}

// deleteItems deletes items from a table.
func deleteItems(ctx context.Context, c *duckdb.Conn, table string, ids []int64) error {
	for part := range slices.Chunk(ids, 5000) {
		if err := c.Exec(ctx, "DELETE FROM "+table+" WHERE id IN ("+duckdb.IDList(part)+")"); err != nil {
			return err
		}
	}
	return nil
}

// addItemsTo appends items to a table; batch is used only in the table of removed items.
func addItemsTo(c *duckdb.Conn, database, table string, cols []duckdb.Column, pieces []rowwriter.Piece, batch int64) error {
	if len(pieces) == 0 {
		return nil
	}
	a, err := c.NewAppender(database, table, cols)
	if err != nil {
		return err
	}
	for _, p := range pieces {
		for at, n := 0, 0; at < len(p.Rows); at += n {
			n = min(a.Room(), len(p.Rows)-at)
			addItems(a, p.Batch, p.Rows[at:at+n], batch)
			if err := a.Advance(n); err != nil {
				a.Discard()
				return err
			}
		}
	}
	return a.Close()
}

func addItems(a *duckdb.Appender, b *belfry.Batch, rows []int, batch int64) {
	for i, col := range a.Columns {
		name := col.Name
		if name == "id" {
			name = belfry.ItemColumn
		}
		c := b.Column(name)
		switch {
		case name == batchColumn:
			a.Ints(i, slices.Repeat([]int64{batch}, len(rows)))
		case name == rowwriter.CustomerColumn:
			a.Fixed(i, len(rows), uint32(b.Customer))
		case c == nil:
			a.Missing(i, len(rows))
		case col.Kind == duckdb.Text:
			a.Texts(i, rowwriter.Gather(nil, c.Texts, rows))
		case col.Kind == duckdb.Small:
			a.Smalls(i, rowwriter.Gather(nil, c.Ints, rows))
		default:
			a.Ints(i, rowwriter.Gather(nil, c.Ints, rows))
		}
	}
}

// Checkpoint moves the log of the file of removed names into it.
func (d *Names) Checkpoint(ctx context.Context, c *duckdb.Conn) error {
	defer d.removed.changing()()
	return d.removed.checkpoint(ctx, c)
}
