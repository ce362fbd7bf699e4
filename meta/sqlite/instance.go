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
	err = db.read.QueryRowContext(ctx, `SELECT id FROM instance`).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read instance of the metadata: %w", err)
	}
	return id, nil
}

// SetInstance says to which instance the database belongs. It is on disk when it returns: from then on a start knows
// that the other parts have been there.
func (db *DB) SetInstance(ctx context.Context, id string) error {
	for _, text := range []string{`INSERT INTO instance (one, id) VALUES (1, $1)`, `UPDATE position SET instance = $1`} {
		if _, err := db.write.ExecContext(ctx, text, id); err != nil {
			return fmt.Errorf("set instance of the metadata: %w", err)
		}
	}
	return db.Checkpoint(ctx)
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
	_, err := db.write.ExecContext(ctx, `UPDATE position SET pos = MAX(pos, $1), next_item = MAX(next_item, $2)`, int64(pos), int64(next))
	if err != nil {
		return fmt.Errorf("skip positions: %w", err)
	}
	db.stored.Store(uint64(max(db.Stored(), pos)))
	return db.Checkpoint(ctx)
}

// SkipRows declares the row ids of customers below the given ones used.
func (db *DB) SkipRows(ctx context.Context, next map[belfry.CustomerID]belfry.RowID) error {
	for c, id := range next {
		_, err := db.write.ExecContext(ctx, `INSERT INTO customer_counter (customer, next_row) VALUES ($1, $2)
			ON CONFLICT (customer) DO UPDATE SET next_row = MAX(next_row, excluded.next_row)`, int64(c), int64(id))
		if err != nil {
			return fmt.Errorf("skip row ids: %w", err)
		}
	}
	return db.Checkpoint(ctx)
}

// ForgetRows takes back what MarkRows said: the rows are gone.
func (db *DB) ForgetRows(ctx context.Context) error {
	if _, err := db.write.ExecContext(ctx, `UPDATE position SET rows = 0`); err != nil {
		return fmt.Errorf("forget position of rows: %w", err)
	}
	return db.Checkpoint(ctx)
}
