package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"belfry"
)

// Visitor receives the content of a database. Nil functions are not called. A function may keep its arguments.
type Visitor struct {
	Kinds      []string // of documents, in the order in which Doc gets them
	Doc        func(belfry.Doc)
	Item       func(belfry.Item)                       // an item comes after the one it stands in; removed ones only if a replay may meet them again
	Ahead      func(id belfry.ID, pos belfry.Position) // of an item that a record above the position has written, which a replay meets again
	HasRemoved func(belfry.CustomerID)                 // of each customer that has removed items
	State      func(belfry.ID, *belfry.ItemState)
	Counter    func(c belfry.CustomerID, next belfry.RowID)
	Highest    func(c belfry.CustomerID, number uint32) // that an item of the customer has had
	NextID     func(belfry.ID)                          // the first item id that was never used
}

// Load passes everything to v, as of one moment: documents, numbers, items, states, counters.
func (db *DB) Load(ctx context.Context, v Visitor) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("load metadata: %w", err)
	}
	defer tx.Rollback()
	l := &loader{ctx, tx, v}
	for _, part := range []func() error{l.docs, l.numbers, l.items, l.states, l.counters, l.customersWithRemoved} {
		if err := part(); err != nil {
			return fmt.Errorf("load metadata: %w", err)
		}
	}
	return nil
}

type loader struct {
	ctx context.Context
	tx  *sql.Tx
	v   Visitor
}

// each calls f for every row of a query.
func (l *loader) each(f func(*sql.Rows) error, query string, args ...any) error {
	rows, err := l.tx.QueryContext(l.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (l *loader) docs() error {
	if l.v.Doc == nil {
		return nil
	}
	for _, kind := range l.v.Kinds {
		err := l.each(func(rows *sql.Rows) error {
			d := belfry.Doc{Kind: kind}
			if err := rows.Scan(&d.Customer, &d.Name, &d.Body); err != nil {
				return err
			}
			d.Body = notNull(d.Body)
			l.v.Doc(d)
			return nil
		}, `SELECT customer, name, body FROM doc WHERE kind = $1 ORDER BY customer, name`, kind)
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) items() error {
	if l.v.Item == nil {
		return nil
	}
	known := map[string]string{} // classes and packages are few: one copy of each is enough
	once := func(s string) string {
		if k, ok := known[s]; ok {
			return k
		}
		known[s] = s
		return s
	}
	var stored int64
	if err := l.tx.QueryRowContext(l.ctx, `SELECT pos FROM position`).Scan(&stored); err != nil {
		return err
	}
	read := func(each func(belfry.Item)) func(*sql.Rows) error {
		var pos int64
		return func(rows *sql.Rows) error {
			it, err := scanItem(rows, &pos)
			it.Class, it.Package = once(it.Class), once(it.Package)
			if pos > stored && l.v.Ahead != nil {
				l.v.Ahead(it.ID, belfry.Position(pos))
			}
			each(it)
			return err
		}
	}
	var q parentsFirst
	var gone []belfry.Item // by id
	err := l.each(read(func(it belfry.Item) { gone = append(gone, it) }), `SELECT `+itemColumns+`, pos FROM removed
		WHERE pos > (SELECT MIN(pos, rows) FROM position) ORDER BY id`)
	if err != nil {
		return err
	}
	err = l.each(read(func(it belfry.Item) {
		last := belfry.ID(0)
		for len(gone) > 0 && gone[0].ID <= it.ID {
			last = gone[0].ID
			q.add(gone[0], l.v.Item)
			gone = gone[1:]
		}
		if last != it.ID { // else it is one that was removed and put back by a replay
			q.add(it, l.v.Item)
		}
	}), `SELECT `+itemColumns+`, pos FROM item ORDER BY id`)
	for _, it := range gone {
		q.add(it, l.v.Item)
	}
	q.rest(l.v.Item)
	return err
}

const itemColumns = `id, customer, kind, name, parent, resource, class, package, created, removed, details, number`

// scanItem reads a row of itemColumns.
func scanItem(rows *sql.Rows, more ...any) (it belfry.Item, err error) {
	var details string
	err = rows.Scan(append([]any{
		&it.ID, &it.Customer, &it.Kind, &it.Name, &it.Parent, &it.Resource, &it.Class, &it.Package,
		&it.Created, &it.Removed, &details, &it.Number,
	}, more...)...)
	if err == nil && details != "" {
		it.Details = new(belfry.Details)
		if err = json.Unmarshal([]byte(details), it.Details); err != nil {
			err = fmt.Errorf("details of item %d: %w", it.ID, err)
		}
	}
	return it, err
}

// parentsFirst passes items on that come by id, each after the one it stands in. Nearly always that is the order in
// which they come; only what was moved into something younger has to wait, with all that stands in it.
type parentsFirst struct {
	waiting map[belfry.ID][]belfry.Item // by parent
	held    map[belfry.ID]bool
}

func (q *parentsFirst) add(it belfry.Item, out func(belfry.Item)) {
	if it.Parent > it.ID || q.held[it.Parent] {
		if q.held == nil {
			q.waiting, q.held = map[belfry.ID][]belfry.Item{}, map[belfry.ID]bool{}
		}
		q.waiting[it.Parent] = append(q.waiting[it.Parent], it)
		q.held[it.ID] = true
		return
	}
	ready := []belfry.Item{it}
	if len(q.held) == 0 { // the usual case
		out(it)
		return
	}
	for len(ready) > 0 {
		it, ready = ready[0], ready[1:]
		out(it)
		delete(q.held, it.ID)
		ready = append(ready, q.waiting[it.ID]...)
		delete(q.waiting, it.ID)
	}
}

// rest passes on what waits for something that never came.
func (q *parentsFirst) rest(out func(belfry.Item)) {
	for _, items := range q.waiting {
		for _, it := range items {
			out(it)
		}
	}
}

func (l *loader) states() error {
	if l.v.State == nil {
		return nil
	}
	var body sql.RawBytes
	return l.each(func(rows *sql.Rows) error {
		var id belfry.ID
		if err := rows.Scan(&id, &body); err != nil {
			return err
		}
		s, err := belfry.DecodeState(body)
		if err != nil {
			return fmt.Errorf("state of item %d: %w", id, err)
		}
		l.v.State(id, s)
		return nil
	}, `SELECT item, body FROM state ORDER BY item`)
}

func (l *loader) counters() error {
	if l.v.Counter != nil {
		err := l.each(func(rows *sql.Rows) error {
			var c belfry.CustomerID
			var next belfry.RowID
			if err := rows.Scan(&c, &next); err != nil {
				return err
			}
			l.v.Counter(c, next)
			return nil
		}, `SELECT customer, next_row FROM customer_counter ORDER BY customer`)
		if err != nil {
			return err
		}
	}
	if l.v.NextID == nil {
		return nil
	}
	var next belfry.ID
	if err := l.tx.QueryRowContext(l.ctx, `SELECT next_item FROM position`).Scan(&next); err != nil {
		return err
	}
	l.v.NextID(next)
	return nil
}

// numbers come before items, so that what is made in the place of a lost item gets a number that no other has.
func (l *loader) numbers() error {
	if l.v.Highest == nil {
		return nil
	}
	return l.each(func(rows *sql.Rows) error {
		var c belfry.CustomerID
		var number uint32
		if err := rows.Scan(&c, &number); err != nil {
			return err
		}
		l.v.Highest(c, number)
		return nil
	}, `SELECT customer, highest FROM item_counter`)
}

// past finds the customers that have removed items, one look into an index for each.
func (l *loader) customersWithRemoved() error {
	if l.v.HasRemoved == nil {
		return nil
	}
	for c := belfry.CustomerID(0); ; {
		err := l.tx.QueryRowContext(l.ctx, `SELECT customer FROM removed WHERE customer > $1 ORDER BY customer LIMIT 1`, int64(c)).Scan(&c)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		l.v.HasRemoved(c)
	}
}
