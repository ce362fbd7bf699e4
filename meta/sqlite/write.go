package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"belfry"
)

// StoredState is the state of one item.
type StoredState struct {
	Item    belfry.ID
	State   belfry.ItemState
	Removed bool // the item has been removed, and its state is not kept
}

// Apply takes in records, in their order, and states, in one transaction. The position becomes that of the last record;
// records at or below the position that is stored already are passed over.
func (db *DB) Apply(ctx context.Context, recs []*belfry.Record, states []StoredState) error {
	c := change{states: states}
	for _, r := range recs {
		if r.Pos > db.Stored() {
			c.add(r)
		}
	}
	return db.apply(ctx, &c)
}

// change is what one transaction writes.
type change struct {
	items    []itemAt
	docs     []belfry.Doc
	answers  []*belfry.Answer
	counters map[belfry.CustomerID]belfry.RowID // the next row
	states   []StoredState
	pos      belfry.Position // 0: the position stays
	rests    *rests          // nil: none
}

// itemAt is an item as the record at pos made it.
type itemAt struct {
	belfry.Item
	pos     belfry.Position
	lastRow belfry.Time // of a removed one, see the schema; 0 when it is not known
}

// add takes over what r brings, except for states.
func (c *change) add(r *belfry.Record) {
	c.items = slices.Grow(c.items, len(r.Items))
	for i := range r.Items {
		c.items = append(c.items, itemAt{Item: r.Items[i], pos: r.Pos})
	}
	c.docs = append(c.docs, r.Docs...)
	if r.Answer != nil {
		c.answers = append(c.answers, r.Answer)
	}
	for _, b := range r.Batches {
		c.raise(b.Customer, b.FirstID+belfry.RowID(b.Len()))
	}
	c.pos = r.Pos
}

// raise raises the next row id of a customer.
func (c *change) raise(customer belfry.CustomerID, next belfry.RowID) {
	if c.counters == nil {
		c.counters = map[belfry.CustomerID]belfry.RowID{}
	}
	c.counters[customer] = max(c.counters[customer], next)
}

// empty reports whether the change has no effect on a database at position pos.
func (c *change) empty(pos belfry.Position) bool {
	return len(c.items) == 0 && len(c.docs) == 0 && len(c.answers) == 0 && len(c.counters) == 0 &&
		len(c.states) == 0 && c.pos <= pos
}

// apply writes a change in one transaction.
func (db *DB) apply(ctx context.Context, c *change) error {
	err := db.transact(ctx, func(tx *sql.Tx, p *position) error {
		w := &writer{ctx: ctx, tx: tx, statements: &db.statements}
		err := w.change(c)
		p.pos, p.next = max(p.pos, c.pos), max(p.next, w.next)
		return err
	})
	if err != nil {
		return fmt.Errorf("write metadata: %w", err)
	}
	if c.pos > db.Stored() { // only the one writer stores it
		db.stored.Store(uint64(c.pos))
	}
	return nil
}

// writer writes inside one transaction.
type writer struct {
	ctx        context.Context
	tx         *sql.Tx
	statements *tables
	next       belfry.ID // after the items that were written
}

func (w *writer) change(c *change) error {
	for _, part := range []func(*change) error{w.items, w.docs, w.answers, w.counters, w.states, w.removals} {
		if err := part(c); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) items(c *change) error {
	if len(c.items) == 0 {
		return nil
	}
	items := lastOf(c.items, func(a, b itemAt) int { return cmp.Compare(a.ID, b.ID) })
	w.next = items[len(items)-1].ID + 1
	live, gone := make([]itemAt, 0, len(items)), []itemAt(nil)
	for _, it := range items {
		if it.Removed == 0 {
			live = append(live, it)
		} else {
			gone = append(gone, it)
		}
	}
	err := w.statements.item.exec(w, len(live), func(i int, args []any) ([]any, error) { return live[i].row(args) })
	if err == nil && len(gone) > 0 {
		err = w.remove(gone)
	}
	if err == nil {
		err = w.numbers(items)
	}
	return err
}

// numbers notes the highest number of each customer.
func (w *writer) numbers(items []itemAt) error {
	highest := map[belfry.CustomerID]uint32{}
	for i := range items {
		c := items[i].Customer
		highest[c] = max(highest[c], items[i].Number)
	}
	customers := slices.Sorted(maps.Keys(highest))
	return w.statements.numbers.exec(w, len(customers), func(i int, args []any) ([]any, error) {
		return append(args, int64(customers[i]), int64(highest[customers[i]])), nil
	})
}

// row appends the columns of the table item.
func (it *itemAt) row(args []any) ([]any, error) {
	details := ""
	if it.Details != nil {
		text, err := json.Marshal(it.Details)
		if err != nil {
			return nil, err
		}
		details = string(text)
	}
	return append(args, int64(it.ID), int64(it.pos), int64(it.Customer), int64(it.Kind), it.Name, int64(it.Parent),
		int64(it.Resource), it.Class, it.Package, int64(it.Created), int64(it.Removed), details, int64(it.Number)), nil
}

func (w *writer) docs(c *change) error {
	docs := lastOf(c.docs, func(a, b belfry.Doc) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), cmp.Compare(a.Customer, b.Customer), strings.Compare(a.Name, b.Name))
	})
	kept := make([]belfry.Doc, 0, len(docs))
	for _, d := range docs {
		if d.Body != nil {
			kept = append(kept, d)
			continue
		}
		_, err := w.tx.ExecContext(w.ctx, `DELETE FROM doc WHERE kind = $1 AND customer = $2 AND name = $3`,
			d.Kind, int64(d.Customer), d.Name)
		if err != nil {
			return err
		}
	}
	return w.statements.doc.exec(w, len(kept), func(i int, args []any) ([]any, error) {
		d := &kept[i]
		return append(args, d.Kind, int64(d.Customer), d.Name, d.Body), nil
	})
}

func (w *writer) answers(c *change) error {
	answers := lastOf(c.answers, func(a, b *belfry.Answer) int {
		return cmp.Or(cmp.Compare(a.Customer, b.Customer), strings.Compare(a.Key, b.Key))
	})
	return w.statements.answer.exec(w, len(answers), func(i int, args []any) ([]any, error) {
		a := answers[i]
		return append(args, int64(a.Customer), a.Key, a.Request[:], int64(a.Status), notNull(a.Body), int64(a.Time)), nil
	})
}

func (w *writer) counters(c *change) error {
	customers := slices.Sorted(maps.Keys(c.counters))
	return w.statements.counter.exec(w, len(customers), func(i int, args []any) ([]any, error) {
		return append(args, int64(customers[i]), int64(c.counters[customers[i]])), nil
	})
}

func (w *writer) states(c *change) error {
	states := lastOf(c.states, func(a, b StoredState) int { return cmp.Compare(a.Item, b.Item) })
	if slices.ContainsFunc(states, func(s StoredState) bool { return s.Removed }) {
		states = slices.DeleteFunc(slices.Clone(states), func(s StoredState) bool { return s.Removed })
	}
	var body []byte // of all rows of a statement, which has read them when it returns
	return w.statements.state.exec(w, len(states), func(i int, args []any) ([]any, error) {
		if len(args) == 0 {
			body = body[:0]
			c.rests.pause()
		}
		s, from := &states[i], len(body)
		body = s.State.Append(body)
		return append(args, int64(s.Item), int64(s.State.Pos), body[from:len(body):len(body)]), nil
	})
}

// notNull makes an empty body of a missing one, which SQL would take for NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// lastOf sorts s and keeps the last of equal entries: PostgreSQL refuses a statement that contains a row twice, and sorted
// rows are the cheapest to write. A sorted s is returned as it is.
func lastOf[T any](s []T, compare func(a, b T) int) []T {
	inOrder := true
	for i := 1; i < len(s) && inOrder; i++ {
		inOrder = compare(s[i-1], s[i]) < 0
	}
	if inOrder {
		return s
	}
	s = slices.Clone(s)
	slices.SortStableFunc(s, compare)
	n := 0
	for i := range s {
		if i+1 == len(s) || compare(s[i], s[i+1]) != 0 {
			s[n] = s[i]
			n++
		}
	}
	return s[:n]
}
