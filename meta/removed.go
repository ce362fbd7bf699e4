package meta

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"belfry"
)

// A removed item is needed as long as there are rows about it: history is asked by name. It lives in the database alone,
// where queries look it up (see history.go):
//
//	tree ── removal ──► Estate.gone ── mover has written it ──► table removed ── its last row goes ──► purged
//
// So memory holds those that the mover has not written yet, and a start reads those that a replay may meet again.

// remove writes items that were removed. What is left of a zombie, see the schema, goes with them.
func (w *writer) remove(items []itemAt) error {
	err := w.into.removed.exec(w, len(items), func(i int, args []any) ([]any, error) {
		it := &items[i]
		args, err := it.row(args)
		ended := max(it.Removed, it.ended)
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

// end finds out the latest time that rows of removed items can have: theirs may be ahead of their removal when the clock
// has been set back since.
func (m *Mover) end(items []itemAt) {
	var ids []belfry.ID
	at := map[belfry.ID]int{}
	for i := range items {
		if items[i].Removed != 0 {
			ids = append(ids, items[i].ID)
			at[items[i].ID] = i
		}
	}
	for _, s := range m.states(ids) {
		items[at[s.Item]].ended = max(s.State.LastData, s.State.LastSeen, s.State.Since)
	}
}

// tellRemoved says which removed items have been written.
func (m *Mover) tellRemoved(items []itemAt) {
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

// written is a list of removed items that the database has, until the goroutine that applies records lets go of them: it
// reads the tree without a lock, so nobody else may change it.
type written struct {
	mu  sync.Mutex
	ids []belfry.ID
}

// Forget says that the database has removed items. The next record that is applied lets go of them.
func (t *Tree) Forget(ids []belfry.ID) {
	if t.archive == nil {
		return
	}
	t.written.mu.Lock()
	defer t.written.mu.Unlock()
	t.written.ids = append(t.written.ids, ids...)
}

// forgetWritten lets go of removed items that are in the database. The tree is locked.
func (t *Tree) forgetWritten() {
	t.written.mu.Lock()
	ids := t.written.ids
	t.written.ids = nil
	t.written.mu.Unlock()
	for _, id := range ids {
		n := t.Node(id)
		if n == nil || n.Removed == 0 {
			continue
		}
		t.nodes.Set(uint64(id), nil)
		if e := t.customers[n.Customer]; e != nil && n.Kind != belfry.KindElement {
			e.numbered.Set(uint64(n.Number), nil)
			e.exhume(n)
		}
	}
}

// exhume takes a node out of the removed ones of its name.
func (e *Tenant) exhume(n *Node) {
	list := e.gone[n.Name]
	for i, m := range list {
		if m == n {
			list[i] = list[len(list)-1]
			list[len(list)-1] = nil
			list = list[:len(list)-1]
			break
		}
	}
	if len(list) == 0 {
		delete(e.gone, n.Name)
	} else {
		e.gone[n.Name] = list
	}
}

// forgetAll lets go of all items of a customer; their ids stay used.
func (t *Tree) forgetAll(e *Tenant) {
	var ids []uint64
	for id, n := range t.nodes.From(0) {
		if n.Customer == e.ID {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		t.nodes.Set(id, nil)
	}
}

// ForgetLoaded lets go of the removed items that were read at the start for the sake of the replay, when that is over. It is for
// the goroutine that applies records.
func (t *Tree) ForgetLoaded() {
	ids := t.loaded
	t.loaded, t.ahead, t.missed, t.standIns = nil, nil, nil, nil
	t.Forget(ids)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgetWritten()
}

// removedAfter finds an item that was removed by a record after a position, and that a start does not read (see loader.items), so that a
// replay does not bring its name again. The index makes it one look, but for graphical elements, which have no rows and are purged soon.
const removedAfter = `SELECT EXISTS (SELECT 1 FROM removed WHERE pos > $1 AND pos <= (SELECT MIN(pos, rows) FROM position) AND kind <> $2)`

// RemovedAfter tells whether there is such an item. If so, a list of names that ends at pos is not complete and will not be.
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
	db.mu.RLock()
	defer db.mu.RUnlock()
	if err := db.files.check(); err != nil {
		return err
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("purge removed items: %w", err)
	}
	defer tx.Rollback()
	stmt, err := tx.PrepareContext(ctx, `DELETE FROM removed WHERE id = $1`)
	if err != nil {
		return fmt.Errorf("purge removed items: %w", err)
	}
	defer stmt.Close()
	for _, id := range ids {
		if _, err := stmt.ExecContext(ctx, int64(id)); err != nil {
			return fmt.Errorf("purge removed items: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("purge removed items: %w", err)
	}
	return nil
}

// Purged finds out anew which customers have removed items, after a purge.
func (t *Tree) Purged(ctx context.Context) error {
	has, buried := map[belfry.CustomerID]bool{}, map[belfry.CustomerID]int{}
	t.mu.RLock()
	for c, e := range t.customers {
		buried[c] = e.buried
	}
	t.mu.RUnlock()
	if err := t.archive.Load(ctx, Visitor{Past: func(c belfry.CustomerID) { has[c] = true }}); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for c, e := range t.customers {
		e.past = has[c] || len(e.gone) > 0 || e.buried != buried[c]
	}
	return nil
}
