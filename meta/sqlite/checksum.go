package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// SQLite has no checksums: a changed byte inside a value mostly makes another value. So every row has a column sum, a CRC32C of
// its other columns in the order in which they are written. Whoever reads a row checks it; what only SQL looks at, as an index or a
// condition, is checked by Verify and by Intact. A row without a sum is damaged, because a changed length of a column may hide the sum
// and move the others.

// columns are the columns of a row, encoded for its checksum: numbers with eight bytes, texts after their length.
type columns []byte

func (c columns) number(list ...int64) columns {
	for _, n := range list {
		c = binary.LittleEndian.AppendUint64(c, uint64(n))
	}
	return c
}

func (c columns) text(s string) columns { return append(c.number(int64(len(s))), s...) }

func (c columns) bytes(b []byte) columns { return append(c.number(int64(len(b))), b...) }

// sum is small for SQLite: a negative number takes no more space than a positive one.
func (c columns) sum() int64 {
	return int64(int32(crc32.Checksum(c, crc32.MakeTable(crc32.Castagnoli))))
}

// args appends arguments of a statement.
func (c columns) args(list []any) columns {
	for _, v := range list {
		switch v := v.(type) {
		case int64:
			c = c.number(v)
		case string:
			c = c.text(v)
		case []byte:
			c = c.bytes(v)
		default:
			panic(fmt.Sprintf("a column of type %T", v))
		}
	}
	return c
}

// damagedError says that the content of the file is wrong.
type damagedError string

func (d damagedError) Error() string { return string(d) }

// match reports whether the columns are those for which a sum was stored.
func (c columns) match(stored any) bool { return stored == any(c.sum()) }

// mismatch is the damage of a row with that key.
func mismatch(table string, key ...any) error {
	return damagedError("the row " + strings.TrimSuffix(fmt.Sprintln(key...), "\n") + " of table " + table + " does not match its checksum")
}

// scan reads the columns of a row. A value of another type than the column has is damage.
func scan(rows *sql.Rows, table string, into ...any) error {
	if err := rows.Scan(into...); err != nil {
		return damagedError(fmt.Sprintf("a row of table %s cannot be read: %v", table, err))
	}
	return nil
}

// fillSums computes the missing sums after a migration.
func fillSums(ctx context.Context, tx *sql.Tx) error {
	for _, t := range new(tables).list() {
		for after, n := int64(0), filledAtOnce; n == filledAtOnce; {
			var err error
			if after, n, err = t.fillSums(ctx, tx, after); err != nil {
				return fmt.Errorf("checksums of %s: %w", t.name, err)
			}
		}
	}
	return nil
}

const filledAtOnce = 1000 // rows in memory

// fillSums computes the sums of some rows after a row id. It returns the last id, and how many there were.
func (t *table) fillSums(ctx context.Context, tx *sql.Tx, after int64) (last int64, n int, err error) {
	names := strings.Join(slices.Concat(t.key, t.columns), ", ")
	rows, err := tx.QueryContext(ctx, `SELECT rowid, `+names+` FROM `+t.name+` WHERE sum IS NULL AND rowid > $1 ORDER BY rowid LIMIT $2`, after, filledAtOnce)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	sums := map[int64]int64{} // by row id
	values := make([]any, len(t.key)+len(t.columns))
	into := []any{&last}
	for i := range values {
		into = append(into, &values[i])
	}
	for rows.Next() {
		if err := scan(rows, t.name, into...); err != nil {
			return 0, 0, err
		}
		sums[last] = columns{}.args(values).sum()
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, 0, err
	}
	for id, sum := range sums {
		if _, err := tx.ExecContext(ctx, `UPDATE `+t.name+` SET sum = $1 WHERE rowid = $2`, sum, id); err != nil {
			return 0, 0, err
		}
	}
	return last, len(sums), nil
}
