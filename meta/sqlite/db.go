// Package sqlite keeps what exists in a SQLite database: items, their states, documents and idempotency answers. Mover
// writes committed records into it, Load reads everything at the next start, and package meta looks up removed items here.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"belfry"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// DB is the database. It is written from journal records alone, and every write is absolute, so a record applied again
// changes nothing:
//
//	journal ──► Mover ──► DB ──► Load ──► the tree in memory, at the next start
//
// The journal is what makes a change durable. The database only has to be consistent with the position that it stores:
// whatever records at or below that position brought about is in it. It may hold more.
type DB struct {
	path   string
	log    *slog.Logger
	stored atomic.Uint64 // the position in the file, once it is committed

	mu         sync.RWMutex // held for writing while Restore replaces what follows
	write      *sql.DB      // one connection, so that writers queue here and not inside SQLite
	read       *sql.DB
	statements tables
	files      files
	moved      int64 // see position.moved; belongs to whoever has the connection write
	saved      bool  // Restore has made a copy and closed the rest, and has yet to open the copy
}

const (
	readers  = 4        // queries that may run beside the writer
	logLimit = 64 << 20 // size to which SQLite shrinks its log when it begins it again
	moveAt   = 4 << 20  // what the log grows by before it is moved into the file
)

// Open opens the database file at path, makes it when there is none, and brings its schema up to date. A file whose
// schema the program does not know is refused.
func Open(ctx context.Context, path string, log *slog.Logger) (*DB, error) {
	db, err := open(ctx, path, log)
	if err != nil {
		return nil, fmt.Errorf("open metadata %s: %w", path, err)
	}
	return db, nil
}

func open(ctx context.Context, path string, log *slog.Logger) (_ *DB, err error) {
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	if err := checkLog(ctx, path); err != nil {
		return nil, err
	}
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, log: log}
	defer func() {
		if err != nil {
			db.Close()
		}
	}()
	if err := db.openWriter(ctx); err != nil {
		return nil, err
	}
	if err := migrate(ctx, db.write, steps, log); err != nil {
		return nil, err
	}
	if err := db.openReaders(ctx); err != nil {
		return nil, err
	}
	pos, err := db.Position(ctx)
	db.stored.Store(uint64(pos))
	return db, err
}

func (db *DB) openWriter(ctx context.Context) (err error) {
	if db.write, err = connect(db.path, "_txlock", "immediate"); err != nil {
		return err
	}
	db.write.SetMaxOpenConns(1)
	_, err = db.write.ExecContext(ctx, `PRAGMA secure_delete = ON`) // what is deleted cannot be read from the file
	return err
}

// openReaders opens all connections for reading at once and keeps them. One that was opened later would read whatever
// file had that name by then.
func (db *DB) openReaders(ctx context.Context) (err error) {
	if db.read, err = connect(db.path, "_pragma", "query_only(1)"); err != nil {
		return err
	}
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	var conns [readers]*sql.Conn
	for i := range conns {
		if conns[i], err = db.read.Conn(ctx); err != nil {
			return err
		}
		defer conns[i].Close()
	}
	if err := db.statements.prepare(ctx, db.write); err != nil {
		return err
	}
	if err := db.files.open(db.path); err != nil {
		return err
	}
	_, err = db.checkpoint(ctx, "PASSIVE")
	return err
}

// makePrivate creates the file for its owner alone: it holds digests of keys and passwords. The files that SQLite puts
// beside it take over its permissions.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// connect opens a pool. NORMAL may lose the last transactions in a power cut but never the file's consistency; what
// is lost is replayed from the journal.
func connect(path, key, value string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	q := url.Values{"_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)",
		"cache_size(-16000)",                            // KiB: the pages of one transaction stay in memory
		fmt.Sprintf("journal_size_limit(%d)", logLimit), // a log that grew under a long reader shrinks again
		"wal_autocheckpoint(0)",                         // see checkpoint
	}}
	q.Add(key, value)
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return sql.Open("sqlite", dsn.String())
}

// Close closes the database. What was applied is on disk. If another program has written to the files, they stay as they are.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.files.file != nil {
		if _, err := db.checkpoint(context.Background(), "PASSIVE"); Changed(err) {
			return errors.Join(err, db.read.Close()) // closing the writer would move the log into the file
		}
	}
	return errors.Join(db.closePools(), db.files.close())
}

func (db *DB) closePools() error {
	var errs []error
	for _, pool := range []*sql.DB{db.read, db.write} { // the writer last: it tidies the write-ahead log away
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// Stored is the position in the file, once it is committed.
func (db *DB) Stored() belfry.Position { return belfry.Position(db.stored.Load()) }

// forgetAtOnce limits how many answers one transaction removes, so that the mover does not wait behind it.
const forgetAtOnce = 10_000

// ForgetAnswers removes the answers given before t.
func (db *DB) ForgetAnswers(ctx context.Context, before belfry.Time) error {
	for n := int64(forgetAtOnce); n == forgetAtOnce; {
		err := db.transact(ctx, func(tx *sql.Tx, _ *position) error {
			res, err := tx.ExecContext(ctx, `DELETE FROM answer WHERE (customer, key) IN
				(SELECT customer, key FROM answer WHERE time < $1 LIMIT $2)`, int64(before), forgetAtOnce)
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("forget answers: %w", err)
		}
	}
	return nil
}

// Sync makes what has been committed durable.
func (db *DB) Sync(ctx context.Context) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if _, err := db.checkpoint(ctx, "PASSIVE"); err != nil {
		return fmt.Errorf("make the metadata durable: %w", err)
	}
	return nil
}

var errReader = errors.New("checkpoint the metadata: a reader is active; try again later")

// Checkpoint moves the write-ahead log into the database file and empties it, so that neither contains deleted data.
func (db *DB) Checkpoint(ctx context.Context) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	busy, err := db.checkpoint(ctx, "TRUNCATE")
	if err != nil {
		return fmt.Errorf("checkpoint the metadata: %w", err)
	}
	if busy {
		return errReader
	}
	return nil
}

// checkpoint moves what it can of the log into the database file. Nothing else writes to that file while it is open: SQLite makes no
// checkpoints by itself.
func (db *DB) checkpoint(ctx context.Context, mode string) (busy bool, err error) {
	err = db.whole(ctx, func(conn *sql.Conn) error {
		if err := db.files.verify(db.files.names); err != nil {
			return err
		}
		var log, moved int
		err := conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &log, &moved)
		if err := errors.Join(err, db.files.note()); err != nil {
			return err
		}
		if log < 0 || moved < log {
			return nil
		}
		return conn.QueryRowContext(ctx, `SELECT writes FROM position`).Scan(&db.moved)
	})
	return busy, err
}

// whole checks that no other program has written to the open files, and runs f while nothing is written.
func (db *DB) whole(ctx context.Context, f func(*sql.Conn) error) error {
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	db.files.mu.Lock()
	defer db.files.mu.Unlock()
	if err := db.files.verify(db.files.content, db.files.frames); err != nil {
		return err
	}
	return f(conn)
}
