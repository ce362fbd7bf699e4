package duck

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// dimension is the table of items, in memory: id → names. Only the writer uses it.
type dimension struct {
	highest int64 // id; no item above it is in the table
}

// The table is in a database of its own, which unlike the main one is compressed at each checkpoint.
const (
	itemDatabase = "items"
	itemTable    = itemDatabase + ".main.item"
)

func itemColumns() []column {
	return []column{
		{"id", kindID},
		{customerColumn, kindSmall},
		{"kind", kindSmall},
		{belfry.PlaceColumn, kindID},
		{"resource", kindText},
		{"view", kindText},
		{"object", kindText},
		{"class", kindText},
		{"ip", kindText},
		{"host", kindText},
	}
}

func (d *dimension) create(ctx context.Context, c *conn) error {
	d.highest = 0
	if err := c.exec(ctx, "ATTACH ':memory:' AS "+itemDatabase+" (COMPRESS)"); err != nil {
		return fmt.Errorf("create item table: %w", err)
	}
	var defs []string
	for _, col := range itemColumns() {
		defs = append(defs, quoteName(col.name)+" "+kindSQL[col.kind])
	}
	if err := c.exec(ctx, "CREATE TABLE "+itemTable+" ("+strings.Join(defs, ", ")+")"); err != nil {
		return fmt.Errorf("create item table: %w", err)
	}
	return nil
}

// apply takes in the batches of items among the given ones. An item that is known is replaced.
func (d *dimension) apply(ctx context.Context, c *conn, batches []*belfry.Batch) error {
	pieces, known, highest, err := d.latest(batches)
	if err != nil || len(pieces) == 0 {
		return err
	}
	if err := c.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	err = d.remove(ctx, c, known)
	if err == nil {
		err = d.add(c, pieces)
	}
	if err == nil {
		err = c.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		_ = c.exec(context.WithoutCancel(ctx), "ROLLBACK") // which says so when the failed statement has already done it
		return err
	}
	d.highest = highest
	return nil
}

// latest finds the last word on each item, and those items that the table may have already.
func (d *dimension) latest(batches []*belfry.Batch) (pieces []piece, known []int64, highest int64, err error) {
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
		pieces = append(pieces, piece{b, rows})
	}
	slices.Reverse(pieces)
	return pieces, known, highest, nil
}

// remove takes items out of the table. Their numbers stand in the text itself: as arguments they would be slower.
func (d *dimension) remove(ctx context.Context, c *conn, ids []int64) error {
	for part := range slices.Chunk(ids, 5000) {
		var text strings.Builder
		text.WriteString("DELETE FROM " + itemTable + " WHERE id IN (")
		for i, id := range part {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(strconv.FormatInt(id, 10))
		}
		text.WriteByte(')')
		if err := c.exec(ctx, text.String()); err != nil {
			return err
		}
	}
	return nil
}

func (d *dimension) add(c *conn, pieces []piece) error {
	a, err := c.newAppender(itemDatabase, "item", itemColumns())
	if err != nil {
		return err
	}
	for _, p := range pieces {
		for at, n := 0, 0; at < len(p.rows); at += n {
			n = min(a.room(), len(p.rows)-at)
			addItems(a, p.batch, p.rows[at:at+n])
			if err := a.advance(n); err != nil {
				a.discard()
				return err
			}
		}
	}
	return a.close()
}

func addItems(a *appender, b *belfry.Batch, rows []int) {
	for i, col := range a.cols {
		name := col.name
		if name == "id" {
			name = belfry.ItemColumn
		}
		c := b.Column(name)
		switch {
		case name == customerColumn:
			a.fixed(i, len(rows), uint32(b.Customer))
		case c == nil:
			a.missing(i, len(rows))
		case col.kind == kindText:
			a.texts(i, gather(nil, c.Texts, rows))
		case col.kind == kindSmall:
			a.smalls(i, gather(nil, c.Ints, rows))
		default:
			a.ints(i, gather(nil, c.Ints, rows))
		}
	}
}
