package duck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"belfry/store/duck/duckdb"
	"belfry/store/duck/summary"
)

// tempSuffix is the suffix of a file that is being written.
const tempSuffix = ".new"

// create creates a file without rows. It gets its name once both tables are durable, so a file with a proper name can
// always be attached.
func (fs *files) create(ctx context.Context, f *file, cols []duckdb.Column) error {
	if !slices.Equal(fs.template.cols, cols) {
		data, err := fs.buildTemplate(ctx, cols)
		if err != nil {
			return err
		}
		fs.template.cols, fs.template.data = cols, data
	}
	if err := fs.checkFolderLocked(); err != nil {
		return err
	}
	folder := filepath.Dir(f.path)
	if err := os.Mkdir(folder, 0o700); err == nil {
		err = syncDir(fs.dir)
		if err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	return writeSynced(f.path, fs.template.data)
}

// buildTemplate returns the bytes of a database file with both tables and no rows.
func (fs *files) buildTemplate(ctx context.Context, cols []duckdb.Column) ([]byte, error) {
	path := filepath.Join(fs.dir, "image"+fileSuffix)
	if err := unlink(path); err != nil {
		return nil, err
	}
	err := fs.writeTemplate(ctx, path, cols)
	data, readErr := os.ReadFile(path)
	return data, errors.Join(err, readErr, unlink(path))
}

func (fs *files) writeTemplate(ctx context.Context, path string, cols []duckdb.Column) error {
	const alias = "image"
	if err := fs.conn.Exec(ctx, "ATTACH "+duckdb.QuoteText(path)+" AS "+alias); err != nil {
		return err
	}
	defs := make([]string, len(cols))
	for i, c := range cols {
		defs[i] = duckdb.QuoteName(c.Name) + " " + c.Kind.SQL()
	}
	err := fs.conn.Exec(ctx, "CREATE TABLE "+alias+".main.rows ("+strings.Join(defs, ", ")+")")
	if err == nil {
		err = fs.conn.Exec(ctx, "CREATE TABLE "+alias+".main.position (pos UBIGINT)")
	}
	if err == nil && slices.Contains(cols, duckdb.Column{Name: summary.RowsColumn, Kind: duckdb.Int}) { // a file of summaries
		err = fs.conn.Exec(ctx, "CREATE TABLE "+alias+".main."+summary.MadeTable+" (timestamp BIGINT, rows BIGINT, origin BIGINT)")
	} else if err == nil { // see origins
		err = fs.conn.Exec(ctx, "INSERT INTO "+alias+".main.position VALUES (0)")
	}
	if err == nil && fs.instance != "" {
		err = fs.conn.Exec(ctx, "CREATE TABLE "+alias+".main."+instanceTable+" AS SELECT "+duckdb.QuoteText(fs.instance)+" AS id")
	}
	if err == nil {
		err = fs.conn.Exec(ctx, "CHECKPOINT "+alias)
	}
	return errors.Join(err, fs.conn.Exec(context.WithoutCancel(ctx), "DETACH "+alias))
}

// writeSynced writes a file durably and atomically: all of it under its name, or nothing.
func writeSynced(path string, data []byte) error {
	temp := path + tempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the entries of a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
