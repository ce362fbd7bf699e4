package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// sqliteKey is what @KEY@ in a migration becomes; for PostgreSQL it would be BIGINT PRIMARY KEY.
const sqliteKey = "INTEGER PRIMARY KEY"

// migration is one step of the schema. Steps are numbered from firstSchema without gaps and never change once released.
type migration struct {
	name string
	text string
}

// firstSchema is the number of the first step, which makes the schema of the first release. No release had lower ones.
const firstSchema = 6

func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // in order of name
	if err != nil {
		return nil, err
	}
	all := make([]migration, len(names))
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		name = strings.TrimPrefix(name, "migrations/")
		if !strings.HasPrefix(name, fmt.Sprintf("%04d_", firstSchema+i)) {
			return nil, fmt.Errorf("migration %s should have number %04d", name, firstSchema+i)
		}
		all[i] = migration{name, strings.ReplaceAll(string(text), "@KEY@", sqliteKey)}
	}
	return all, nil
}

// migrate brings the schema to the last of steps, each step in a transaction of its own that also notes it as done.
func migrate(ctx context.Context, db *sql.DB, steps []migration, log *slog.Logger) error {
	_, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migration (version BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
	if err != nil {
		return err
	}
	var have int
	if err := db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM migration`).Scan(&have); err != nil {
		return err
	}
	if err := knownSchema(have, steps); err != nil {
		return err
	}
	for i := max(have+1-firstSchema, 0); i < len(steps); i++ {
		if err := step(ctx, db, firstSchema+i, steps[i], i == len(steps)-1); err != nil {
			return fmt.Errorf("migration %s: %w", steps[i].name, err)
		}
		log.Info("metadata schema migrated", "version", firstSchema+i, "name", steps[i].name)
	}
	return nil
}

func lastSchema(steps []migration) int { return firstSchema + len(steps) - 1 }

// knownSchema refuses the number of a schema that the steps do not lead on from; 0 is that of a new file.
func knownSchema(have int, steps []migration) error {
	switch last := lastSchema(steps); {
	case have > last:
		return fmt.Errorf("its schema has number %d and this program knows %d: it was written by a newer version, "+
			"start that one or restore a backup from before", have, last)
	case have != 0 && have < firstSchema:
		return fmt.Errorf("its schema has number %d and this program knows none below %d: it was written before the first release, "+
			"and cannot be used; begin again in another data folder", have, firstSchema)
	}
	return nil
}

// step makes one step. The last one also computes the checksums of rows that have none: a step that changes the columns of a table
// sets them to NULL.
func step(ctx context.Context, db *sql.DB, version int, m migration, last bool) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, m.text); err != nil {
		return err
	}
	if last {
		if err := fillSums(ctx, tx); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO migration (version, name) VALUES ($1, $2)`, version, m.name); err != nil {
		return err
	}
	return tx.Commit()
}
