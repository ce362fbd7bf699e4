package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"belfry"
)

// Verify reads a database file that no process has open, with all that is in it, and returns what is wrong. It changes nothing.
func Verify(ctx context.Context, path string) error {
	if err := checkLog(ctx, path); err != nil {
		return err
	}
	return reading(path, func(db *sql.DB) error { return verify(ctx, db, (*loader).all) })
}

// Intact reads all pages of the open database, and all rows that Load does not read, and returns an error, see Damaged, if pages do
// not fit together or a row is not as it was written. It takes a second for some hundred megabytes; writers do not wait for it.
func (db *DB) Intact(ctx context.Context) error {
	db.mu.RLock()
	read := db.read
	db.mu.RUnlock()
	return verify(ctx, read, (*loader).unread)
}

// Facts are what a database file says about the instance it belongs to.
type Facts struct {
	Instance     string
	Branch       string          // in which it was written last
	Branches     []belfry.Branch // the starts that it knows
	Stored, Rows belfry.Position // positions, see DB.Position and DB.RowsPosition
}

// ReadFacts reads them from a file that no process has open.
func ReadFacts(ctx context.Context, path string) (f Facts, err error) {
	err = reading(path, func(db *sql.DB) error {
		var stored, rows int64
		var listed bool // an older schema has no starts
		err := db.QueryRowContext(ctx, `SELECT COALESCE((SELECT id FROM instance), ''), branch, pos, rows, EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'branch') FROM position`).
			Scan(&f.Instance, &f.Branch, &stored, &rows, &listed)
		f.Branch = strings.TrimSuffix(f.Branch, loggedMark)
		f.Stored, f.Rows = belfry.Position(stored), belfry.Position(rows)
		if err == nil && listed {
			f.Branches, _, err = readBranches(ctx, db)
		}
		return err
	})
	return f, err
}

// ReadRemovedAfter is DB.RemovedAfter for a file that no process has open.
func ReadRemovedAfter(ctx context.Context, path string, pos belfry.Position) (found bool, err error) {
	err = reading(path, func(db *sql.DB) (err error) {
		found, err = anyRemovedAfter(ctx, db, pos)
		return err
	})
	return found, err
}

// ReadItems reads the existing items whose details contain a text from a file that no process has open.
func ReadItems(ctx context.Context, path, text string, each func(*belfry.Item)) error {
	return reading(path, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, `SELECT `+itemColumns+` FROM item WHERE removed = 0 AND details LIKE ?`, "%"+text+"%")
		if err != nil {
			return err
		}
		defer rows.Close()
		for s := newItemScanner("item"); rows.Next(); {
			it, err := s.scan(rows)
			if err != nil {
				return err
			}
			each(&it.Item)
		}
		return rows.Err()
	})
}

// reading opens a file for reading alone. Without a log the file can be read as it is; with one, SQLite needs an index of
// the log beside it, which is removed again.
func reading(path string, read func(*sql.DB) error) (err error) { return readingAs(path, false, read) }

// readingAs is reading that can leave out what is only in the log.
func readingAs(path string, withoutLog bool, read func(*sql.DB) error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	q := url.Values{"mode": {"ro"}}
	index := path + indexSuffix
	if log, err := os.Stat(path + logSuffix); err != nil || log.Size() == 0 || withoutLog {
		q.Set("immutable", "1")
	} else if _, err := os.Stat(index); err != nil {
		defer func() { err = errors.Join(err, removeIfThere(index)) }()
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	return read(db)
}

func integrity(ctx context.Context, db *sql.DB) error {
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return damagedError("SQLite finds it damaged: " + found)
	}
	return nil
}

// verify checks the pages and then parts of the content.
func verify(ctx context.Context, db *sql.DB, parts func(*loader) error) error {
	if err := integrity(ctx, db); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	steps, err := migrations()
	if err != nil {
		return err
	}
	have, err := schemaOf(ctx, tx)
	if err != nil {
		return err
	}
	if err := knownSchema(have, steps); err != nil || have < lastSchema(steps) {
		return err // tables of an older version are read after its next start
	}
	return parts(&loader{ctx: ctx, tx: tx, v: everything()})
}

// everything is a visitor for which all is read that can be damaged.
func everything() Visitor {
	return Visitor{
		Item: func(belfry.Item) {}, State: func(belfry.ID, *belfry.ItemState) {}, Counter: func(belfry.CustomerID, belfry.RowID) {},
		Highest: func(belfry.CustomerID, uint32) {},
	}
}

func (l *loader) all() error {
	return l.inTurn(l.position, l.numbers, l.items, l.states, l.counters, l.unread)
}

// unread reads what Load leaves out, and every document.
func (l *loader) unread() error {
	return l.inTurn(l.instance, l.allDocs, l.allRemoved, l.allAnswers)
}

// schemaOf is the number of the last migration.
func schemaOf(ctx context.Context, tx *sql.Tx) (have int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM migration`).Scan(&have)
	return have, err
}

// allDocs checks what every document is made of, images included.
func (l *loader) allDocs() error {
	return l.each(func(rows *sql.Rows) error {
		d, err := scanDoc(rows)
		if err != nil {
			return err
		}
		if d.Kind != belfry.DocImage {
			if !json.Valid(d.Body) {
				return fmt.Errorf("the document %s %q is not JSON", d.Kind, d.Name)
			}
			return nil
		}
		if sum := sha256.Sum256(d.Body); hex.EncodeToString(sum[:]) != d.Name {
			return fmt.Errorf("the bytes of the image %s are not those of its hash", d.Name)
		}
		return nil
	}, `SELECT `+docsColumns+` FROM doc`)
}

func (l *loader) instance() error {
	_, err := readInstance(l.ctx, l.tx)
	if err == nil {
		_, _, err = readBranches(l.ctx, l.tx)
	}
	return err
}

func (l *loader) allAnswers() error {
	return l.each(func(rows *sql.Rows) error {
		_, err := scanAnswer(rows)
		return err
	}, `SELECT `+answerColumns+` FROM answer`)
}

func (l *loader) allRemoved() error {
	s := newItemScanner("removed")
	return l.each(func(rows *sql.Rows) error {
		_, err := s.scan(rows)
		return err
	}, `SELECT `+removedColumns+` FROM removed`)
}

// Damaged tells whether an error says that the content of a database file is wrong, and not that it cannot be read.
func Damaged(err error) bool {
	var code *driver.Error
	if errors.As(err, &code) {
		base := code.Code() & 0xff
		return base == sqlite3.SQLITE_CORRUPT || base == sqlite3.SQLITE_NOTADB
	}
	var found damagedError
	return errors.As(err, &found)
}
