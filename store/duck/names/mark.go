package names

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"belfry"
	"belfry/journal"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// mark is used to detect that the file with the names of removed items is incomplete. The engine accepts a damaged
// or missing log as one that ends there, and a copy of the file as the file, and then names would be missing in
// answers. So each transaction on the file counts itself in it, and the count is written beside the file afterwards:
//
//	removed.mark    4f1d0c6f2f0ab3c19d7e55aa01b2c3d4 1042 5f1c09aa
//
// A file with another id or a lower count is made again. The id is chosen at random when a file is created.
//
// Both may be outdated together. So the file also has the position up to which it has all names of removed items, and
// the metadata know whether there are later ones. Names are added in the order of records, before the metadata record
// how far the row store has come, and a start needs them up to there. So after a kill at any moment the file has
// reached far enough.
type mark struct {
	id       string
	count    int64
	pos      belfry.Position // of the last record whose names are in the file
	instance string          // empty: none
	branch   string          // in which it was written last
}

const (
	MarkFile    = "removed.mark"
	removedMark = RemovedDatabase + ".main.mark"
)

func newMark(of folder.Identity) mark {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return mark{id: fmt.Sprintf("%x", id), count: 1, instance: of.Instance, branch: of.Branches.Current()}
}

// create writes the mark into a new file.
func (m mark) create(ctx context.Context, c *duckdb.Conn) error {
	return c.Exec(ctx, fmt.Sprintf("CREATE TABLE %s AS SELECT '%s' AS id, %d::BIGINT AS count, %d::BIGINT AS pos, %s AS instance, %s AS branch",
		removedMark, m.id, m.count, m.pos, duckdb.QuoteText(m.instance), duckdb.QuoteText(m.branch)))
}

// next returns the mark after another transaction. If that is rolled back, the following one has the same count.
func (m mark) next() mark {
	m.count++
	return m
}

// update replaces the mark in a file, in the transaction that it counts.
func (m mark) update(ctx context.Context, c *duckdb.Conn) error {
	return c.Exec(ctx, fmt.Sprintf("UPDATE %s SET count = %d, pos = %d, branch = %s", removedMark, m.count, m.pos, duckdb.QuoteText(m.branch)))
}

// MarkText returns what the mark beside the file should have; empty: there is no file.
func (d *Names) MarkText() string {
	if d.removed.path == memoryOnly {
		return ""
	}
	return d.removed.mark.line()
}

// writeMark writes the count beside the file, durably.
func (r *removedNames) writeMark() error {
	if r.path == memoryOnly {
		return nil
	}
	return journal.WriteFile(filepath.Join(filepath.Dir(r.path), MarkFile), []byte(r.mark.line()))
}

func (m mark) line() string {
	text := m.id + " " + strconv.FormatInt(m.count, 10)
	return text + " " + folder.LineSum(text) + "\n"
}

// readMark reads the mark in an attached file.
func readMark(ctx context.Context, c *duckdb.Conn, alias string) (*mark, error) {
	m := &mark{}
	r, err := c.Query(ctx, "SELECT id, count, pos, instance, branch FROM "+alias+".main.mark")
	if duckdb.IsKind(err, duckdb.BinderError) {
		return nil, fmt.Errorf("%w in a format that this program knows: %w", ErrNames, err)
	}
	if err != nil {
		return nil, err
	}
	for r.Next() {
		m.id, m.count, m.pos, m.instance, m.branch = r.TextAt(0), r.Int(1), belfry.Position(r.Int(2)), r.TextAt(3), r.TextAt(4)
	}
	return m, nil
}

// check compares the mark in the file with the one beside it, and with the instance it must belong to.
func (m mark) check(dir string, of folder.Identity) error {
	text, err := os.ReadFile(filepath.Join(dir, MarkFile))
	written := mark{}
	if f := strings.Fields(string(text)); len(f) == 3 {
		written.id = f[0]
		written.count, _ = strconv.ParseInt(f[1], 10, 64)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w for certain: %s cannot be read: %w", ErrNames, MarkFile, folder.Cause(err))
	case string(text) != written.line():
		return fmt.Errorf("%w for certain: %s is damaged", ErrNames, MarkFile)
	case written.id != m.id:
		return fmt.Errorf("%w of this instance, or %s is that of another one", ErrNames, MarkFile)
	case of.Instance != "" && m.instance != of.Instance:
		return fmt.Errorf("%w of this instance", ErrNames)
	case m.count < written.count:
		return fmt.Errorf("%w as a whole: its log is damaged or missing, or it is an older copy", ErrNames)
	}
	if err := of.Branches.Check(m.branch, m.pos); err != nil {
		return fmt.Errorf("%w of this instance: %w", ErrNames, err)
	}
	return nil
}

// Reach records that the file has the names of all items that were removed up to a position, some of which came without
// one.
func (d *Names) Reach(ctx context.Context, c *duckdb.Conn, pos belfry.Position) error {
	r := &d.removed
	defer r.changing()()
	next := r.mark.next()
	if next.pos = max(next.pos, pos); next.pos == r.mark.pos {
		return nil
	}
	if err := next.update(ctx, c); err != nil {
		return fmt.Errorf("note how far the names of removed items have come: %w", err)
	}
	r.mark = next
	return r.writeMark()
}
