package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
)

// checkLog refuses a write-ahead log that another instance has written. SQLite takes in any whole log that lies beside a database: its
// pages would replace those of this one. It must be asked before the database is opened for writing, as closing it takes the log in.
func checkLog(ctx context.Context, path string) error {
	log := path + logSuffix
	if info, err := os.Stat(log); err != nil || info.Size() == 0 {
		return nil
	}
	var own string
	err := readingAs(path, true, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT id FROM instance`).Scan(&own)
	})
	if err != nil || own == "" {
		return nil // all there is, is in the log; or the file is damaged, which those say who read it whole
	}
	var both, last string
	// What cannot be read has another schema or is damaged, which others tell.
	_ = reading(path, func(db *sql.DB) error {
		if err := db.QueryRowContext(ctx, `SELECT id FROM instance`).Scan(&both); err != nil {
			return err
		}
		return db.QueryRowContext(ctx, `SELECT instance FROM position`).Scan(&last)
	})
	for _, id := range []string{both, last} {
		if id != "" && id != own {
			return fmt.Errorf("the log %s is of instance %s, and the database beside it of %s: move the log away, or put back the one that belongs here. "+
				"Without a log the start brings in what the journal has of later changes, and refuses if that is not all of them", log, id, own)
		}
	}
	return nil
}
