package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// tables are the prepared statements that put rows into the tables.
type tables struct {
	item, removed, doc, answer, counter, numbers, state upsert
}

// table describes a table whose rows have checksums.
type table struct {
	into    *upsert // nil for tables of one row
	name    string
	key     []string
	columns []string
	where   string
}

func (t *tables) list() []table {
	return []table{
		{&t.item, "item", []string{"id"}, []string{
			"pos", "customer", "kind", "name", "parent", "resource", "class",
			"package", "created", "removed", "details", "number",
		}, " WHERE excluded.pos >= item.pos"}, // see the schema
		{&t.removed, "removed", []string{"id"}, []string{
			"pos", "customer", "kind", "name", "parent", "resource", "class",
			"package", "created", "removed", "details", "number", "ended",
		}, ""},
		{&t.doc, "doc", []string{"kind", "customer", "name"}, []string{"body"}, ""},
		{&t.answer, "answer", []string{"customer", "key"}, []string{"request", "status", "body", "time"}, ""},
		{
			&t.counter, "customer_counter",
			[]string{"customer"},
			[]string{"next_row"},
			" WHERE excluded.next_row > customer_counter.next_row",
		}, // an older record met again must not lower it
		{&t.numbers, "item_counter", []string{"customer"}, []string{"highest"}, " WHERE excluded.highest > item_counter.highest"},
		{&t.state, "state", []string{"item"}, []string{"pos", "body"}, ""},
		{nil, "position", []string{"one"}, []string{"pos", "rows", "next_item", "instance", "branch", "writes", "moved"}, ""},
		{nil, "instance", []string{"one"}, []string{"id"}, ""},
		{nil, "branch", []string{"n"}, []string{"id", "since"}, ""},
	}
}

func (t *tables) prepare(ctx context.Context, db *sql.DB) (err error) {
	for _, s := range t.list() {
		if s.into == nil {
			continue
		}
		if *s.into, err = newUpsert(ctx, db, s.name, s.key, s.columns, s.where); err != nil {
			return fmt.Errorf("prepare %s: %w", s.name, err)
		}
	}
	return nil
}

// upsert inserts rows, or replaces those with the same key. Many rows in one statement cost half of what they cost one
// by one, so it is prepared for several numbers of rows.
type upsert struct {
	width int // arguments per row
	stmts [len(upsertRows)]*sql.Stmt
}

// upsertRows are the numbers of rows, large before small.
var upsertRows = [...]int{64, 8, 1}

func newUpsert(ctx context.Context, db *sql.DB, table string, key, columns []string, where string) (u upsert, err error) {
	columns = append(columns, "sum")
	all := append(append([]string(nil), key...), columns...)
	set := make([]string, len(columns))
	for i, c := range columns {
		set[i] = c + " = excluded." + c
	}
	u.width = len(all)
	for i, rows := range upsertRows {
		text := "INSERT INTO " + table + " (" + strings.Join(all, ", ") + ") VALUES " + placeholders(rows, u.width) +
			" ON CONFLICT (" + strings.Join(key, ", ") + ") DO UPDATE SET " + strings.Join(set, ", ") + where
		if u.stmts[i], err = db.PrepareContext(ctx, text); err != nil {
			return u, err
		}
	}
	return u, nil
}

// placeholders gives (?, ?), (?, ?), … Numbered ones, as in the other statements, are names to SQLite, and it would look
// each of hundreds up by going through the list of them. PostgreSQL wants $1, $2, … here.
func placeholders(rows, width int) string {
	var b strings.Builder
	for i := range rows * width {
		switch {
		case i == 0:
			b.WriteByte('(')
		case i%width == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteByte('?')
	}
	b.WriteByte(')')
	return b.String()
}

// exec writes n rows with their checksums; row appends the other arguments of the i-th one. Each statement starts with no arguments.
func (u *upsert) exec(w *writer, n int, row func(i int, args []any) ([]any, error)) error {
	var args []any
	var encoded columns
	done := 0
	for i, rows := range upsertRows {
		if n-done < rows {
			continue
		}
		stmt := w.tx.StmtContext(w.ctx, u.stmts[i])
		for n-done >= rows {
			args = args[:0]
			for range rows {
				from := len(args)
				var err error
				if args, err = row(done, args); err != nil {
					return err
				}
				encoded = encoded[:0].args(args[from:])
				args = append(args, encoded.sum())
				done++
			}
			if _, err := stmt.ExecContext(w.ctx, args...); err != nil {
				return err
			}
		}
	}
	return nil
}
