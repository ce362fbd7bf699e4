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
// The row of the position tells: every transaction writes it, so a database without its log has the number of the last transaction that
// was moved into it. That must not be below what was in it when the log began, nor above the last one of the log. SetBranches writes the
// id of each start into the database itself. So a log of a start lies beside a database that another service has written if their ids
// differ, unless the log has nothing but the new id.
func checkLog(ctx context.Context, path string) error {
	log := path + logSuffix
	if info, err := os.Stat(log); err != nil || info.Size() == 0 {
		return nil
	}
	// The file may be shorter than it says while the log has its last pages.
	const short = `PRAGMA writable_schema = ON`
	var own string
	var alone position // without the log
	err := readingAs(path, true, func(db *sql.DB) error {
		if _, err := db.ExecContext(ctx, short); err != nil {
			return err
		}
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
		if _, err := db.ExecContext(ctx, short); err != nil {
			return err
		}
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
	a, b := alone, together
	switch {
	case a.writes == 0 || b.writes == 0: // not read
	case a.branch != "" && b.branch != "" && !b.logged && a.branch != b.branch && (a.pos != b.pos || a.rows != b.rows):
		return fmt.Errorf("the log %s was written in the start %.40s of the service, and the database beside it last in the start %.40s: it is an older copy, or of a copy that went its own way. "+
			wrongLog, log, b.branch, a.branch)
	case a.writes < b.moved:
		return fmt.Errorf("the database %s is an older copy: it has %d transactions, and the log beside it begins after %d. "+wrongLog, path, a.writes, b.moved)
	case a.writes > b.writes:
		return fmt.Errorf("the log %s is an older copy: it ends with transaction %d, and the database beside it has %d. "+wrongLog, log, b.writes, a.writes)
	}
	return nil
}

const (
	wrongLog   = "Move the log away, or put back the file that belongs to the other. " + withoutLog
	withoutLog = "Without a log the start brings in what the journal has of later changes, and refuses if that is not all of them"
)
