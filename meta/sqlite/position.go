package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"belfry"
)

// position is the one row of the table position.
type position struct {
	pos, rows belfry.Position // see DB.Position and DB.RowsPosition
	next      belfry.ID       // the first item id that was never used
	instance  string
	branch    string // in which it was written last; see belfry.Branches
	logged    bool   // the database without its log may have another branch
	writes    int64  // how many transactions there were
	moved     int64  // writes when the whole log was in the file: a log with this row does not belong to a file with fewer
}

// loggedMark follows the branch in the table if it is only logged.
const loggedMark = " logged"

func (p *position) branchText() string {
	if p.logged {
		return p.branch + loggedMark
	}
	return p.branch
}

func (p *position) columns() columns {
	return columns{}.number(1, int64(p.pos), int64(p.rows), int64(p.next)).text(p.instance).text(p.branchText()).number(p.writes, p.moved)
}

// querier is a pool or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readPosition(ctx context.Context, q querier) (p position, err error) {
	var pos, rows, next int64
	var sum any
	err = q.QueryRowContext(ctx, `SELECT pos, rows, next_item, instance, branch, writes, moved, sum FROM position`).Scan(&pos, &rows, &next, &p.instance, &p.branch, &p.writes, &p.moved, &sum)
	if err != nil {
		return p, fmt.Errorf("read metadata position: %w", err)
	}
	p.pos, p.rows, p.next = belfry.Position(pos), belfry.Position(rows), belfry.ID(next)
	p.branch, p.logged = strings.CutSuffix(p.branch, loggedMark)
	if !p.columns().match(sum) {
		return p, mismatch("position", 1)
	}
	return p, nil
}

// changePosition changes the row in a transaction of its own.
func (db *DB) changePosition(ctx context.Context, change func(*position)) error {
	return db.transact(ctx, func(_ *sql.Tx, p *position) error {
		change(p)
		return nil
	})
}

// transact runs f in a transaction of the writer, which also writes the row of the position.
func (db *DB) transact(ctx context.Context, f func(*sql.Tx, *position) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if err := db.check(); err != nil {
		return err
	}
	if err := db.commit(ctx, f); err != nil {
		return err
	}
	if db.files.grown() {
		if _, err := db.checkpoint(ctx, "PASSIVE"); err != nil {
			db.log.Warn("the log of the metadata cannot be moved into the file", "file", db.path, "err", err)
		}
	}
	return nil
}

func (db *DB) commit(ctx context.Context, f func(*sql.Tx, *position) error) error {
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	db.files.mu.Lock()
	defer db.files.mu.Unlock()
	if err := db.files.verify(db.files.content); err != nil {
		return err
	}
	p, err := readPosition(ctx, tx)
	if err != nil {
		return err
	}
	p.writes, p.moved = p.writes+1, db.moved
	if err := f(tx, &p); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE position SET pos = $1, rows = $2, next_item = $3, instance = $4, branch = $5, writes = $6, moved = $7, sum = $8`,
		int64(p.pos), int64(p.rows), int64(p.next), p.instance, p.branchText(), p.writes, p.moved, p.columns().sum())
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return db.files.committed()
}

// Position is the journal position up to which every record is in the database.
func (db *DB) Position(ctx context.Context) (belfry.Position, error) {
	p, err := db.position(ctx)
	return p.pos, err
}

// RowsPosition is the position last given to MarkRows.
func (db *DB) RowsPosition(ctx context.Context) (belfry.Position, error) {
	p, err := db.position(ctx)
	return p.rows, err
}

func (db *DB) position(ctx context.Context) (position, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return readPosition(ctx, db.read)
}

// MarkRows remembers that the rows of every record at or below pos are in the row store, so that a start need not
// offer them again. A mark that is lost costs time, no more.
func (db *DB) MarkRows(ctx context.Context, pos belfry.Position) error {
	if err := db.changePosition(ctx, func(p *position) { p.rows = max(p.rows, pos) }); err != nil {
		return fmt.Errorf("mark position of rows: %w", err)
	}
	return nil
}
