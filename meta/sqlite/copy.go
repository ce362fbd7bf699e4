package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	driver "modernc.org/sqlite"

	"belfry"
)

// copyPages is how many pages are copied between two looks at the context.
const copyPages = 1000

// Copy writes a consistent copy to a new file and returns its position. Writers do not wait for it; the log grows meanwhile by
// what they write. An error leaves no file. It fails if another program has written to the database or its log.
//
// It copies pages with SQLite's backup interface inside one read transaction. VACUUM INTO builds every tree again, which takes
// twice as long: 1.1 s instead of 0.5 s for 150 MB.
func (db *DB) Copy(ctx context.Context, path string) (pos belfry.Position, err error) {
	db.mu.RLock()
	read := db.read
	db.mu.RUnlock()
	if err = db.checkWhole(ctx); err == nil {
		pos, err = db.copyTo(ctx, read, path)
	}
	if err != nil {
		return 0, fmt.Errorf("copy the metadata to %s: %w", path, err)
	}
	return pos, nil
}

// checkWhole is check that also reads the log.
func (db *DB) checkWhole(ctx context.Context) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.whole(ctx, func(*sql.Conn) error { return db.files.verify(db.files.names) })
}

func (db *DB) copyTo(ctx context.Context, read *sql.DB, path string) (pos belfry.Position, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(path), removeIfThere(path+"-journal"))
		}
	}()
	conn, err := read.Conn(ctx) // one that is open already: the path may name another file by now
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	p, err := readPosition(ctx, tx) // the snapshot begins here
	if err != nil {
		return 0, err
	}
	if err := conn.Raw(func(source any) error { return copyAll(ctx, source, path) }); err != nil {
		return 0, err
	}
	return p.pos, db.checkWhole(ctx)
}

// copyAll copies the pages of a connection of the driver.
func copyAll(ctx context.Context, source any, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	b, err := source.(interface {
		NewBackup(target string) (*driver.Backup, error)
	}).NewBackup(dsn.String())
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = b.Step(copyPages)
		}
	}
	return errors.Join(err, b.Finish())
}

// Size returns the size of the database file, without its log.
func (db *DB) Size() (int64, error) {
	info, err := os.Stat(db.path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
