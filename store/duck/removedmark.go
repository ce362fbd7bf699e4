package duck

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// namesMark tells whether the file with the names of removed items has all of them. The engine takes a log that is damaged or missing
// for one that ends there, and a copy of the file for the file, and then names would be missing in answers. So each transaction on the file
// counts itself in it, and afterwards the count is written beside it:
//
//	removed.mark    4f1d0c6f2f0ab3c19d7e55aa01b2c3d4 1042 5f1c09aa
//
// A file whose id is another one, or whose count is lower, is made anew. The id is chosen at random when a file is made.
type namesMark struct {
	id    string
	count int64
}

const (
	namesMarkFile = "removed.mark"
	removedMark   = removedDatabase + ".main.mark"
)

func newNamesMark() namesMark {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return namesMark{fmt.Sprintf("%x", id), 1}
}

// create puts the mark into a new file.
func (m namesMark) create(ctx context.Context, c *conn) error {
	return c.exec(ctx, fmt.Sprintf("CREATE TABLE %s AS SELECT '%s' AS id, %d::BIGINT AS count", removedMark, m.id, m.count))
}

// advance counts a transaction, in that transaction. If it is rolled back, the next one has the same number.
func (m *namesMark) advance(ctx context.Context, c *conn) error {
	return c.exec(ctx, fmt.Sprintf("UPDATE %s SET count = %d", removedMark, m.count+1))
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
func readNamesMark(ctx context.Context, c *conn, alias string) (*namesMark, error) {
	r, err := c.query(ctx, "SELECT id, count FROM "+alias+".main.mark")
	if err != nil {
		return nil, err
	}
	m := &namesMark{}
	for r.next() {
		m.id, m.count = r.text(0), r.int(1)
	}
	return m, nil
}

// check compares the mark in the file with the one beside it.
func (m namesMark) check(dir string) error {
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
	case m.count < written.count:
		return fmt.Errorf("%w as a whole: its log is damaged or missing, or it is an older copy", errNames)
	}
	return nil
}
