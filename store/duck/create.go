package duck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry/journal"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/summary"
)

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
	if err := os.Mkdir(filepath.Dir(f.path), 0o700); err == nil {
		err = journal.SyncDir(fs.dir)
		if err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	return journal.WriteFile(f.path, fs.template.data)
}

// buildTemplate returns the bytes of a database file with both tables and no rows.
func (fs *files) buildTemplate(ctx context.Context, cols []duckdb.Column) ([]byte, error) {
	path := filepath.Join(fs.dir, "image"+folder.FileSuffix)
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
