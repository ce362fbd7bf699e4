package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"belfry"
)

// Instance returns the id of the instance to which the database belongs; empty when it has none yet.
func (db *DB) Instance(ctx context.Context) (id string, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if id, err = readInstance(ctx, db.read); err != nil {
		return "", fmt.Errorf("read instance of the metadata: %w", err)
	}
	return id, nil
}

func readInstance(ctx context.Context, q querier) (id string, err error) {
	var sum any
	err = q.QueryRowContext(ctx, `SELECT id, sum FROM instance`).Scan(&id, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err == nil && !instanceColumns(id).match(sum):
		err = mismatch("instance", 1)
	}
	return id, err
}

func instanceColumns(id string) columns { return columns{}.number(1).text(id) }

// SetInstance says to which instance the database belongs. It is on disk when it returns: from then on a start knows
// that the other parts have been there.
func (db *DB) SetInstance(ctx context.Context, id string) error {
	err := db.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO instance (one, id, sum) VALUES (1, $1, $2)`, id, instanceColumns(id).sum()); err != nil {
			return err
		}
		return changePosition(ctx, tx, func(p *position) { p.instance = id })
	})
	if err != nil {
		return fmt.Errorf("set instance of the metadata: %w", err)
	}
	return db.Checkpoint(ctx)
}

// SetBranch says in which branch the database is written from now on. The log is empty before and afterwards, so if the process ends
// in between it has nothing but the branch, see checkLog. While another program reads the database the log cannot be emptied, which
// is noted.
func (db *DB) SetBranch(ctx context.Context, id string) error {
	set := func(logged bool) error {
		return db.changePosition(ctx, func(p *position) { p.branch, p.logged = id, logged })
	}
	emptied, err := db.emptyLog(ctx)
	if err == nil {
		err = set(!emptied)
	}
	if err == nil && emptied {
		if emptied, err = db.emptyLog(ctx); err == nil && !emptied {
			err = set(true)
		}
	}
	if err != nil {
		return fmt.Errorf("set branch of the metadata: %w", err)
	}
	return nil
}

// emptyLog is Checkpoint, and reports whether no reader prevented it.
func (db *DB) emptyLog(ctx context.Context) (emptied bool, err error) {
	if err = db.Checkpoint(ctx); errors.Is(err, errReader) {
		return false, nil
	}
	return err == nil, err
}

// Used reports whether anything was ever stored.
func (db *DB) Used(ctx context.Context) (used bool, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	err = db.read.QueryRowContext(ctx, `SELECT (SELECT pos FROM position) > 0 OR EXISTS (SELECT 1 FROM doc)`).Scan(&used)
	if err != nil {
		return false, fmt.Errorf("read metadata: %w", err)
	}
	return used, nil
}

// SkipTo declares that there are no records up to pos which the database lacks, and that the item ids below next are
// used. It is for a journal or a database that is older than other parts of the instance.
func (db *DB) SkipTo(ctx context.Context, pos belfry.Position, next belfry.ID) error {
	err := db.changePosition(ctx, func(p *position) { p.pos, p.next = max(p.pos, pos), max(p.next, next) })
	if err != nil {
		return fmt.Errorf("skip positions: %w", err)
	}
	db.stored.Store(uint64(max(db.Stored(), pos)))
	return db.Checkpoint(ctx)
}

// SkipRows declares the row ids of customers below the given ones used.
func (db *DB) SkipRows(ctx context.Context, next map[belfry.CustomerID]belfry.RowID) error {
	if err := db.apply(ctx, &change{counters: next}); err != nil {
		return fmt.Errorf("skip row ids: %w", err)
	}
	return db.Checkpoint(ctx)
}

// ForgetRows undoes what MarkRows said: the rows are gone.
func (db *DB) ForgetRows(ctx context.Context) error {
	if err := db.changePosition(ctx, func(p *position) { p.rows = 0 }); err != nil {
		return fmt.Errorf("forget position of rows: %w", err)
	}
	return db.Checkpoint(ctx)
}
