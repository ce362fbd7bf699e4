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
	Item       func(belfry.Item)                       // an item comes after its parent; removed ones only if a replay may meet them again
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
	l := &loader{ctx: ctx, tx: tx, v: v}
	err = l.inTurn(l.position, l.docs, l.numbers, l.items, l.states, l.counters, l.customersWithRemoved)
	if err != nil {
		return fmt.Errorf("load metadata: %w", err)
	}
	return nil
}

type loader struct {
	ctx context.Context
	tx  *sql.Tx
	v   Visitor
	at  position
}

func (l *loader) position() (err error) {
	l.at, err = readPosition(l.ctx, l.tx)
	return err
}

func (l *loader) inTurn(parts ...func() error) error {
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
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

// readAhead calls f for every row of a query, as scan returns it. Rows are read in another goroutine, because there may be a
// million of them, and both what reads them and what f makes of them take seconds then.
func readAhead[T any](l *loader, scan func(*sql.Rows) (T, error), f func(T), query string, args ...any) (err error) {
	const atOnce, ahead = 500, 4
	full, free := make(chan []T, ahead), make(chan []T, ahead+2)
	go func() {
		defer close(full)
		list := make([]T, 0, atOnce)
		err = l.each(func(rows *sql.Rows) error {
			v, err := scan(rows)
			if err != nil {
				return err
			}
			if list = append(list, v); len(list) < atOnce {
				return nil
			}
			full <- list
			select {
			case list = <-free:
			default:
				list = make([]T, 0, atOnce)
			}
			return nil
		}, query, args...)
		full <- list
	}()
	for list := range full {
		for i := range list {
			f(list[i])
		}
		clear(list)
		free <- list[:0]
	}
	return err
}

func (l *loader) docs() error {
	if l.v.Doc == nil {
		return nil
	}
	for _, kind := range l.v.Kinds {
		err := l.each(func(rows *sql.Rows) error {
			d, err := scanDoc(rows)
			if err == nil {
				l.v.Doc(d)
			}
			return err
		}, `SELECT `+docsColumns+` FROM doc WHERE kind = $1 ORDER BY customer, name`, kind)
		if err != nil {
			return err
		}
	}
	return nil
}

const docsColumns = `kind, customer, name, body, sum`

// scanDoc reads a row of docsColumns.
func scanDoc(rows *sql.Rows) (d belfry.Doc, err error) {
	var sum any
	err = scan(rows, "doc", &d.Kind, &d.Customer, &d.Name, &d.Body, &sum)
	if err == nil && !docColumns(&d).match(sum) {
		err = mismatch("doc", d.Kind, d.Customer, d.Name)
	}
	d.Body = notNull(d.Body)
	return d, err
}

func docColumns(d *belfry.Doc) columns {
	return columns{}.text(d.Kind).number(int64(d.Customer)).text(d.Name).bytes(d.Body)
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
	read := func(table string) func(*sql.Rows) (itemAt, error) {
		s := newItemScanner(table)
		return func(rows *sql.Rows) (itemAt, error) {
			it, err := s.scan(rows)
			it.Class, it.Package = once(it.Class), once(it.Package)
			return it, err
		}
	}
	note := func(it itemAt) {
		if it.pos > l.at.pos && l.v.Ahead != nil {
			l.v.Ahead(it.ID, it.pos)
		}
	}
	var q parentsFirst
	var gone []belfry.Item // by id
	err := readAhead(l, read("removed"), func(it itemAt) {
		note(it)
		gone = append(gone, it.Item)
	}, `SELECT `+removedColumns+` FROM removed
		WHERE pos > (SELECT MIN(pos, rows) FROM position) ORDER BY id`)
	if err != nil {
		return err
	}
	err = readAhead(l, read("item"), func(it itemAt) {
		note(it)
		last := belfry.ID(0)
		for len(gone) > 0 && gone[0].ID <= it.ID {
			last = gone[0].ID
			q.add(gone[0], l.v.Item)
			gone = gone[1:]
		}
		if last != it.ID { // else it is one that was removed and put back by a replay
			q.add(it.Item, l.v.Item)
		}
	}, `SELECT `+itemColumns+` FROM item ORDER BY id`)
	for _, it := range gone {
		q.add(it, l.v.Item)
	}
	q.rest(l.v.Item)
	return err
}

const (
	itemColumns    = `id, pos, customer, kind, name, parent, resource, class, package, created, removed, details, number, sum`
	removedColumns = itemColumns + `, ended`
)

// itemScanner reads rows of itemColumns or removedColumns. It has the columns as plain numbers: database/sql converts other types by way
// of texts, which for a million items takes a second.
type itemScanner struct {
	table                              string // item or removed
	id, pos, customer, kind, parent    int64
	resource, created, removed, number int64
	ended                              int64 // in removed
	name, class, pkg, details          string
	sum                                any
	into                               []any
	encoded                            columns
}

// newItemScanner also reads more columns, after the others.
func newItemScanner(table string, more ...any) *itemScanner {
	s := &itemScanner{table: table}
	s.into = []any{
		&s.id, &s.pos, &s.customer, &s.kind, &s.name, &s.parent, &s.resource, &s.class, &s.pkg,
		&s.created, &s.removed, &s.details, &s.number, &s.sum,
	}
	if table == "removed" {
		s.into = append(s.into, &s.ended)
	}
	s.into = append(s.into, more...)
	return s
}

func (s *itemScanner) scan(rows *sql.Rows) (it itemAt, err error) {
	if err := scan(rows, s.table, s.into...); err != nil {
		return it, err
	}
	c := s.encoded[:0].number(s.id, s.pos, s.customer, s.kind).text(s.name).number(s.parent, s.resource).text(s.class).text(s.pkg).
		number(s.created, s.removed).text(s.details).number(s.number)
	if s.table == "removed" {
		c = c.number(s.ended)
	}
	if s.encoded = c; !c.match(s.sum) {
		return it, mismatch(s.table, s.id)
	}
	it = itemAt{pos: belfry.Position(s.pos), Item: belfry.Item{
		ID: belfry.ID(s.id), Customer: belfry.CustomerID(s.customer), Kind: belfry.Kind(s.kind), Name: s.name,
		Parent: belfry.ID(s.parent), Resource: belfry.ID(s.resource), Class: s.class, Package: s.pkg,
		Created: belfry.Time(s.created), Removed: belfry.Time(s.removed), Number: uint32(s.number),
	}}
	if s.details != "" {
		it.Details = new(belfry.Details)
		if err := json.Unmarshal([]byte(s.details), it.Details); err != nil {
			return it, fmt.Errorf("details of item %d: %w", it.ID, err)
		}
	}
	return it, nil
}

// parentsFirst passes items on that come by id, each after its parent. Nearly always that is the order in
// which they come; only what was moved into something younger has to wait, with everything below it.
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
	type itemState struct {
		id    belfry.ID
		state *belfry.ItemState
	}
	var id, pos int64
	var body sql.RawBytes
	var sum any
	var c columns
	return readAhead(l, func(rows *sql.Rows) (s itemState, err error) {
		if err := scan(rows, "state", &id, &pos, &body, &sum); err != nil {
			return s, err
		}
		if c = c[:0].number(id, pos).bytes(body); !c.match(sum) {
			return s, mismatch("state", id)
		}
		s.id = belfry.ID(id)
		if s.state, err = belfry.DecodeState(body); err != nil {
			return s, fmt.Errorf("state of item %d: %w", id, err)
		}
		return s, nil
	}, func(s itemState) { l.v.State(s.id, s.state) }, `SELECT item, pos, body, sum FROM state ORDER BY item`)
}

func (l *loader) counters() error {
	if l.v.Counter != nil {
		err := l.numbersOf("customer_counter", "next_row", func(c belfry.CustomerID, n int64) { l.v.Counter(c, belfry.RowID(n)) })
		if err != nil {
			return err
		}
	}
	if l.v.NextID != nil {
		l.v.NextID(l.at.next)
	}
	return nil
}

// numbers come before items, so that what is made in the place of a lost item gets a number that no other has.
func (l *loader) numbers() error {
	if l.v.Highest == nil {
		return nil
	}
	return l.numbersOf("item_counter", "highest", func(c belfry.CustomerID, n int64) { l.v.Highest(c, uint32(n)) })
}

// numbersOf reads a table that has one number for each customer.
func (l *loader) numbersOf(table, column string, each func(c belfry.CustomerID, n int64)) error {
	return l.each(func(rows *sql.Rows) error {
		var c belfry.CustomerID
		var n int64
		var sum any
		if err := scan(rows, table, &c, &n, &sum); err != nil {
			return err
		}
		if !(columns{}).number(int64(c), n).match(sum) {
			return mismatch(table, c)
		}
		each(c, n)
		return nil
	}, `SELECT customer, `+column+`, sum FROM `+table+` ORDER BY customer`)
}

// customersWithRemoved finds the customers that have removed items, one look into an index for each.
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
