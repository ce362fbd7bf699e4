package duck

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"belfry"

	"belfry/store/duck/duckdb"
)

// namesMark tells whether the file with the names of removed items has all of them. The engine takes a log that is damaged or missing
// for one that ends there, and a copy of the file for the file, and then names would be missing in answers. So each transaction on the file
// counts itself in it, and afterwards the count is written beside it:
//
//	removed.mark    4f1d0c6f2f0ab3c19d7e55aa01b2c3d4 1042 5f1c09aa
//
// A file whose id is another one, or whose count is lower, is rebuilt. The id is chosen at random when a file is made.
//
// Both may be older together. So the file also says up to which record it has all names of removed items, and the metadata tell whether
// they have later ones. Names are added in the order of records, before the metadata note how far the row store has come, and up to there a start
// needs them. So a kill at any moment leaves a file that has come far enough.
type namesMark struct {
	id       string
	count    int64
	pos      belfry.Position // of the last record whose names it has
	instance string          // empty: it belongs to none
}

const (
	namesMarkFile = "removed.mark"
	removedMark   = removedDatabase + ".main.mark"
)

func newNamesMark(instance string) namesMark {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return namesMark{id: fmt.Sprintf("%x", id), count: 1, instance: instance}
}

// create puts the mark into a new file.
func (m namesMark) create(ctx context.Context, c *duckdb.Conn) error {
	return c.Exec(ctx, fmt.Sprintf("CREATE TABLE %s AS SELECT '%s' AS id, %d::BIGINT AS count, %d::BIGINT AS pos, %s AS instance",
		removedMark, m.id, m.count, m.pos, quoteText(m.instance)))
}

// next is the mark after another transaction. If that is rolled back, the one after it has the same number.
func (m namesMark) next() namesMark {
	m.count++
	return m
}

// update puts the mark into a file that has one, in the transaction that it counts.
func (m namesMark) update(ctx context.Context, c *duckdb.Conn) error {
	return c.Exec(ctx, fmt.Sprintf("UPDATE %s SET count = %d, pos = %d", removedMark, m.count, m.pos))
}

// NamesUpTo notes that the file has the names of all items that were removed up to a position, some of which came without one.
func (s *Store) NamesUpTo(ctx context.Context, pos belfry.Position) error {
	release, err := s.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	r := &s.items.removed
	next := r.mark.next()
	if next.pos = max(next.pos, pos); next.pos == r.mark.pos {
		return nil
	}
	if err := next.update(ctx, s.writer); err != nil {
		return fmt.Errorf("note how far the names of removed items have come: %w", err)
	}
	r.mark = next
	return r.writeMark()
}

// writeMark makes the count durable beside the file.
func (r *removedNames) writeMark() error {
	if r.path == memoryOnly {
		return nil
	}
	return writeSynced(filepath.Join(filepath.Dir(r.path), namesMarkFile), []byte(r.mark.line()))
}

func (m namesMark) line() string {
	text := m.id + " " + strconv.FormatInt(m.count, 10)
	return text + " " + lineSum(text) + "\n"
}

// readNamesMark reads the mark in an attached file.
func readNamesMark(ctx context.Context, c *duckdb.Conn, alias string) (*namesMark, error) {
	m := &namesMark{}
	r, err := c.Query(ctx, "SELECT id, count, pos, instance FROM "+alias+".main.mark")
	if duckdb.IsKind(err, duckdb.BinderError) {
		return nil, fmt.Errorf("%w in a format that this program knows: %w", errNames, err)
	}
	if err != nil {
		return nil, err
	}
	for r.Next() {
		m.id, m.count, m.pos, m.instance = r.TextAt(0), r.Int(1), belfry.Position(r.Int(2)), r.TextAt(3)
	}
	return m, nil
}

// check compares the mark in the file with the one beside it, and with the instance that it must belong to; empty: to any.
func (m namesMark) check(dir, instance string) error {
	text, err := os.ReadFile(filepath.Join(dir, namesMarkFile))
	written := namesMark{}
	if f := strings.Fields(string(text)); len(f) == 3 {
		written.id = f[0]
		written.count, _ = strconv.ParseInt(f[1], 10, 64)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w for certain: %s cannot be read: %w", errNames, namesMarkFile, causeOf(err))
	case string(text) != written.line():
		return fmt.Errorf("%w for certain: %s is damaged", errNames, namesMarkFile)
	case written.id != m.id:
		return fmt.Errorf("%w of this instance, or %s is that of another one", errNames, namesMarkFile)
	case instance != "" && m.instance != instance:
		return fmt.Errorf("%w of this instance", errNames)
	case m.count < written.count:
		return fmt.Errorf("%w as a whole: its log is damaged or missing, or it is an older copy", errNames)
	}
	return nil
}
