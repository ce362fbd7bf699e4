package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
)

// checkLog refuses a write-ahead log that another instance has written, or that belongs to another moment of the database. SQLite
// takes in any whole log that lies beside a database: its pages would replace those of this one. It must be asked before the database
// is opened for writing, as closing it takes the log in.
//
// SetBranch writes the id of each start into the database itself. So a log of a later start lies beside an older database, or one that a
// copy has written, if their ids differ, unless the log has nothing but the new id.
func checkLog(ctx context.Context, path string) error {
	log := path + logSuffix
	if info, err := os.Stat(log); err != nil || info.Size() == 0 {
		return nil
	}
	var own string
	var alone position // without the log
	err := readingAs(path, true, func(db *sql.DB) error {
		alone, _ = readPosition(ctx, db)
		return db.QueryRowContext(ctx, `SELECT id FROM instance`).Scan(&own)
	})
	if err != nil || own == "" {
		return nil // all there is, is in the log; or the file is damaged, which those say who read it whole
	}
	var both, last string
	var together position
	// What cannot be read has another schema or is damaged, which others tell.
	_ = reading(path, func(db *sql.DB) error {
		together, _ = readPosition(ctx, db)
		if err := db.QueryRowContext(ctx, `SELECT id FROM instance`).Scan(&both); err != nil {
			return err
		}
		return db.QueryRowContext(ctx, `SELECT instance FROM position`).Scan(&last)
	})
	for _, id := range []string{both, last} {
		if id != "" && id != own {
			return fmt.Errorf("the log %s is of instance %s, and the database beside it of %s: move the log away, or put back the one that belongs here. "+
				withoutLog, log, id, own)
		}
	}
	if a, b := alone, together; a.branch != "" && b.branch != "" && !b.logged && a.branch != b.branch && (a.pos != b.pos || a.rows != b.rows) {
		return fmt.Errorf("the log %s was written in the start %.40s of the service, and the database beside it last in the start %.40s: it is an older copy, or of a copy that went its own way. "+
			"Move the log away, or put back the database that belongs to it. "+withoutLog, log, b.branch, a.branch)
	}
	return nil
}

const withoutLog = "Without a log the start brings in what the journal has of later changes, and refuses if that is not all of them"
