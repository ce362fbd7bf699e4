package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// SavedSuffix ends the name of a whole copy of the database that Restore made and could not put in its place.
const SavedSuffix = ".saved"

// Restore writes the database again from what the connections have open, and opens it, after Check has found that its files
// were removed or replaced. A file that has taken the place of the old one is renamed, not deleted.
//
//	open connections ──VACUUM INTO──► meta.db.saved, verified and synced ──rename──► meta.db
//
// After a crash in between, meta.db.saved is complete; Adopt puts it in place. It fails, and changes nothing, if another program has
// written to the files that are open, see Changed.
func (db *DB) Restore(ctx context.Context) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.restore(ctx); err != nil {
		return fmt.Errorf("write the metadata again: %w", err)
	}
	db.log.Warn("the metadata were rewritten", "file", db.path)
	return nil
}

func (db *DB) restore(ctx context.Context) error {
	saved := db.path + SavedSuffix
	if !db.saved {
		if err := db.check(); err == nil || Changed(err) { // put back, or of no use
			return err
		}
		if err := db.save(ctx, saved); err != nil {
			return err
		}
		// SQLite leaves the names alone when it closes a file that is not there any more under its own.
		if err := db.closePools(); err != nil {
			db.log.Warn("the metadata that were removed or replaced could not be closed", "err", err)
		}
		db.saved = true
	}
	if _, err := os.Stat(saved); err == nil {
		if err := db.setAside(); err != nil {
			return err
		}
		if err := Adopt(db.path); err != nil {
			return err
		}
	}
	if err := db.openWriter(ctx); err != nil {
		return err
	}
	if err := db.openReaders(ctx); err != nil {
		return err
	}
	db.saved = false
	return nil
}

// save writes a copy of everything that is committed, and reads it back.
func (db *DB) save(ctx context.Context, path string) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := db.whole(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, `VACUUM INTO $1`, temp)
		return cmp.Or(db.files.verify(db.files.content), err)
	})
	if err == nil {
		err = Verify(ctx, temp)
	}
	if err == nil {
		err = syncFile(temp)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// setAside renames a file in the place of the database that is not ours, and the files that belong to it.
func (db *DB) setAside() error {
	now, err := os.Stat(db.path)
	ours := err == nil && os.SameFile(now, db.files.last)
	aside := db.path + ".unfit-" + time.Now().UTC().Format("20060102-150405")
	for _, suffix := range []string{"", logSuffix, indexSuffix} {
		path := db.path + suffix
		switch {
		case ours && suffix == "":
			continue // the copy replaces it
		case ours:
			err = removeIfThere(path)
		default:
			if err = os.Rename(path, aside+suffix); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Adopt puts a copy that Restore has made in the place of the database at path.
func Adopt(path string) error {
	if err := os.Rename(path+SavedSuffix, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFile makes a file, or the names in a folder, durable.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
