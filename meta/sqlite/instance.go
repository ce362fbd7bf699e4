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
	err := db.transact(ctx, func(tx *sql.Tx, p *position) error {
		p.instance = id
		_, err := tx.ExecContext(ctx, `INSERT INTO instance (one, id, sum) VALUES (1, $1, $2)`, id, instanceColumns(id).sum())
		return err
	})
	if err != nil {
		return fmt.Errorf("set instance of the metadata: %w", err)
	}
	return db.Checkpoint(ctx)
}

// Branches returns the starts of the service that the database knows, oldest first.
func (db *DB) Branches(ctx context.Context) (list []belfry.Branch, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if list, _, err = readBranches(ctx, db.read); err != nil {
		return nil, fmt.Errorf("read branches of the metadata: %w", err)
	}
	return list, nil
}

// readBranches also returns the number of each.
func readBranches(ctx context.Context, q interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
},
) (list []belfry.Branch, numbers []int64, err error) {
	rows, err := q.QueryContext(ctx, `SELECT n, id, since, sum FROM branch ORDER BY n`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n, since int64
		var id string
		var sum any
		if err := scan(rows, "branch", &n, &id, &since, &sum); err != nil {
			return nil, nil, err
		}
		b := belfry.Branch{ID: id, Since: belfry.Position(since)}
		if !branchColumns(n, b).match(sum) {
			return nil, nil, mismatch("branch", n)
		}
		list, numbers = append(list, b), append(numbers, n)
	}
	return list, numbers, rows.Err()
}

func branchColumns(n int64, b belfry.Branch) columns {
	return columns{}.number(n).text(b.ID).number(int64(b.Since))
}

// SetBranches replaces the starts of the service. In the last one the database is written from now on. The log is empty before and
// afterwards, so if the process ends in between it has nothing but the starts, see checkLog. While another program reads the database
// the log cannot be emptied, which is noted.
func (db *DB) SetBranches(ctx context.Context, list []belfry.Branch) error {
	set := func(logged bool) error {
		return db.transact(ctx, func(tx *sql.Tx, p *position) error {
			p.branch, p.logged = list[len(list)-1].ID, logged
			return writeBranches(ctx, tx, list)
		})
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
		return fmt.Errorf("set branches of the metadata: %w", err)
	}
	return nil
}

// writeBranches writes what differs.
func writeBranches(ctx context.Context, tx *sql.Tx, list []belfry.Branch) error {
	had, numbers, err := readBranches(ctx, tx)
	if err != nil {
		return err
	}
	next, kept, wanted := int64(1), map[belfry.Branch]bool{}, map[belfry.Branch]bool{}
	for _, b := range list {
		wanted[b] = true
	}
	for i, b := range had {
		next = numbers[i] + 1
		if kept[b] = wanted[b]; kept[b] {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM branch WHERE n = $1`, numbers[i]); err != nil {
			return err
		}
	}
	for _, b := range list {
		if kept[b] {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO branch (n, id, since, sum) VALUES ($1, $2, $3, $4)`, next, b.ID, int64(b.Since), branchColumns(next, b).sum()); err != nil {
			return err
		}
		next++
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
