package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// RemovedItem is a removed item with the names of what it was in.
type RemovedItem struct {
	belfry.Item
	ViewName, ResourceName string
	Pos                    belfry.Position // of the record that removed it
}

const removedText = `SELECT i.id, i.pos, i.customer, i.kind, i.name, i.parent, i.resource, i.class, i.package, i.created, i.removed, i.details, i.number,
	i.sum, i.ended, COALESCE(rp.name, lp.name, ''), COALESCE(rr.name, lr.name, '') FROM removed i
	LEFT JOIN removed rp ON rp.id = i.parent LEFT JOIN item lp ON lp.id = i.parent
	LEFT JOIN removed rr ON rr.id = i.resource LEFT JOIN item lr ON lr.id = i.resource WHERE `

// findRemoved reads removed items.
func (db *DB) findRemoved(ctx context.Context, where string, args ...any) (list []RemovedItem, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	rows, err := db.read.QueryContext(ctx, removedText+where, args...)
	if err != nil {
		return nil, db.readError("read removed items", err)
	}
	defer rows.Close()
	var view, resource string
	for s := newItemScanner("removed", &view, &resource); rows.Next(); {
		it, err := s.scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read removed items: %w", err)
		}
		list = append(list, RemovedItem{it.Item, view, resource, it.pos})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read removed items: %w", err)
	}
	return list, nil
}

// RemovedObjects reads at most limit removed objects of a name.
func (db *DB) RemovedObjects(ctx context.Context, c belfry.CustomerID, name string, limit int) ([]RemovedItem, error) {
	return db.findRemoved(ctx, `i.customer = $1 AND i.name = $2 AND i.kind = $3 LIMIT $4`, int64(c), name, int64(belfry.KindObject), limit)
}

// RemovedInResource reads at most limit removed items of removed resources of a name, and of the existing resource with that id.
func (db *DB) RemovedInResource(ctx context.Context, c belfry.CustomerID, name string, existing belfry.ID, limit int) ([]RemovedItem, error) {
	return db.findRemoved(ctx, `+i.customer = $1 AND i.resource IN
		(SELECT id FROM removed WHERE customer = $1 AND name = $2 AND kind = $3 UNION ALL SELECT $4) LIMIT $5`,
		int64(c), name, int64(belfry.KindResource), int64(existing), limit)
}

// RemovedSince reads at most limit items of a customer in the order of removal and id, after the given ones.
func (db *DB) RemovedSince(ctx context.Context, c belfry.CustomerID, at belfry.Time, id belfry.ID, limit int) ([]RemovedItem, error) {
	return db.findRemoved(ctx, `i.customer = $1 AND (i.removed, i.id) > ($2, $3) ORDER BY i.removed, i.id LIMIT $4`,
		int64(c), int64(at), int64(id), limit)
}

// RemovedAfterID reads at most limit removed items of all customers with higher ids, in the order of their ids.
func (db *DB) RemovedAfterID(ctx context.Context, id belfry.ID, limit int) ([]RemovedItem, error) {
	return db.findRemoved(ctx, `i.id > $1 ORDER BY i.id LIMIT $2`, int64(id), limit)
}

// Remove writes items as removed that no record says are removed. The last row about items[i] is at ended[i] or at the removal.
func (db *DB) Remove(ctx context.Context, items []belfry.Item, ended []belfry.Time) error {
	c := change{items: make([]itemAt, len(items))}
	for i := range items {
		c.items[i] = itemAt{Item: items[i], pos: db.Stored(), lastRow: ended[i]}
	}
	return db.apply(ctx, &c)
}

// RemovedByID reads removed items by id, of one customer, or of any when that is 0.
func (db *DB) RemovedByID(ctx context.Context, c belfry.CustomerID, ids []belfry.ID) (list []RemovedItem, err error) {
	for part := range slices.Chunk(ids, 1000) {
		var text strings.Builder
		text.WriteString("i.id IN (")
		for i, id := range part {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(strconv.FormatUint(uint64(id), 10))
		}
		text.WriteString(") AND ($1 = 0 OR i.customer = $1)")
		found, err := db.findRemoved(ctx, text.String(), int64(c))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// remove writes items that were removed. What is left of a zombie, see the schema, goes with them.
func (w *writer) remove(items []itemAt) error {
	err := w.statements.removed.exec(w, len(items), func(i int, args []any) ([]any, error) {
		it := &items[i]
		args, err := it.row(args)
		ended := max(it.Removed, it.lastRow)
		if it.Kind == belfry.KindElement {
			ended = 0
		}
		return append(args, int64(ended)), err
	})
	if err != nil {
		return err
	}
	for _, text := range [...]string{`DELETE FROM state WHERE item = $1`, `DELETE FROM item WHERE id = $1`} {
		stmt, err := w.tx.PrepareContext(w.ctx, text)
		if err != nil {
			return err
		}
		for i := range items {
			if _, err := stmt.ExecContext(w.ctx, int64(items[i].ID)); err != nil {
				stmt.Close()
				return err
			}
		}
		stmt.Close()
	}
	return nil
}

// setLastRows sets the latest time that rows of removed items can have. It may be after the removal if the clock has been
// set back since.
func (m *Mover) setLastRows(items []itemAt) {
	var ids []belfry.ID
	at := map[belfry.ID]int{}
	for i := range items {
		if items[i].Removed != 0 {
			ids = append(ids, items[i].ID)
			at[items[i].ID] = i
		}
	}
	for _, s := range m.states(ids) {
		items[at[s.Item]].lastRow = max(s.State.LastData, s.State.LastSeen, s.State.Since)
	}
}

// reportRemoved reports which removed items have been written.
func (m *Mover) reportRemoved(items []itemAt) {
	if m.o.Removed == nil {
		return
	}
	var ids []belfry.ID
	for i := range items {
		if items[i].Removed != 0 {
			ids = append(ids, items[i].ID)
		}
	}
	if len(ids) > 0 {
		m.o.Removed(ids)
	}
}

// removedAfter finds an item that was removed by a record after a position, and that a start does not read (see loader.items), so that a
// replay does not bring its name again. The index makes it one look, but for graphical elements, which have no rows and are purged soon.
const removedAfter = `SELECT EXISTS (SELECT 1 FROM removed WHERE pos > $1 AND pos <= (SELECT MIN(pos, rows) FROM position) AND kind <> $2)`

// RemovedAfter reports whether there is such an item. If so, a list of names that ends at pos is incomplete and stays so.
func (db *DB) RemovedAfter(ctx context.Context, pos belfry.Position) (bool, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return anyRemovedAfter(ctx, db.read, pos)
}

func anyRemovedAfter(ctx context.Context, db *sql.DB, pos belfry.Position) (found bool, err error) {
	if err := db.QueryRowContext(ctx, removedAfter, int64(pos), int64(belfry.KindElement)).Scan(&found); err != nil {
		return false, fmt.Errorf("look for removed items: %w", err)
	}
	return found, nil
}

// purgeAtOnce limits how many items one transaction purges, so that the mover does not wait behind it.
const purgeAtOnce = 5000

// Purge deletes removed items about which no row has a time at or after the given moment, and returns how many. Those that a
// replay may still meet stay. Their ids stay used. forget is called before they are deleted, so that it is called again
// after a crash.
func (db *DB) Purge(ctx context.Context, before belfry.Time, forget func([]belfry.ID) error) (purged int, err error) {
	for {
		ids, err := db.purgeable(ctx, before)
		if err != nil || len(ids) == 0 {
			return purged, err
		}
		if err := forget(ids); err != nil {
			return purged, err
		}
		if err := db.purge(ctx, ids); err != nil {
			return purged, err
		}
		purged += len(ids)
	}
}

func (db *DB) purgeable(ctx context.Context, before belfry.Time) (ids []belfry.ID, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	rows, err := db.read.QueryContext(ctx, `SELECT id FROM removed WHERE ended < $1 AND pos <= (SELECT MIN(pos, rows) FROM position)
		ORDER BY ended LIMIT $2`, int64(before), purgeAtOnce)
	if err != nil {
		return nil, fmt.Errorf("find items to purge: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id belfry.ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("find items to purge: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (db *DB) purge(ctx context.Context, ids []belfry.ID) error {
	err := db.transact(ctx, func(tx *sql.Tx, _ *position) error {
		stmt, err := tx.PrepareContext(ctx, `DELETE FROM removed WHERE id = $1`)
		if err != nil {
			return err
		}
		defer stmt.Close()
		for _, id := range ids {
			if _, err := stmt.ExecContext(ctx, int64(id)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("purge removed items: %w", err)
	}
	return nil
}

// removalTexts delete what the database has of a customer.
var removalTexts = []string{
	`DELETE FROM state WHERE item IN (SELECT id FROM item WHERE customer = $1)`,
	`DELETE FROM item WHERE customer = $1`,
	`DELETE FROM removed WHERE customer = $1`,
	`DELETE FROM doc WHERE customer = $1`,
	`DELETE FROM answer WHERE customer = $1`,
	`DELETE FROM customer_counter WHERE customer = $1`,
	`DELETE FROM item_counter WHERE customer = $1`,
}

// removals deletes what customers had who are removed, in the transaction that says so. It comes after everything else:
// what a replay has just put back goes with it.
func (w *writer) removals(c *change) error {
	for _, d := range c.docs {
		if d.Kind != belfry.DocRemoval || d.Body == nil {
			continue
		}
		var r belfry.Removal
		if err := json.Unmarshal(d.Body, &r); err != nil {
			return err
		}
		for _, text := range removalTexts {
			if _, err := w.tx.ExecContext(w.ctx, text, int64(r.Customer)); err != nil {
				return fmt.Errorf("remove customer %d: %w", r.Customer, err)
			}
		}
	}
	return nil
}
