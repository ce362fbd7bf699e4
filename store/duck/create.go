package duck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"belfry/journal"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/rowfile"
)

// create creates a file without rows. It gets its name once both tables are durable, so a file with a proper name can
// always be attached.
func (fs *files) create(ctx context.Context, f *file, cols []duckdb.Column) error {
	if !slices.Equal(fs.template.cols, cols) {
		data, err := rowfile.Template(ctx, fs.conn, fs.owner.Dir, cols, fs.owner.Identity)
		if err != nil {
			return err
		}
		fs.template.cols, fs.template.data = cols, data
	}
	if err := fs.owner.Check(); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Dir(f.path), 0o700); err == nil {
		err = journal.SyncDir(fs.owner.Dir)
		if err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	return journal.WriteFile(f.path, fs.template.data)
}
