package duck

import (
	"context"

	"belfry/store/duck/duckdb"
	"belfry/store/duck/rowfile"
)

// sign writes the id of the instance into a file, if its log does not have it yet, as part of a transaction.
func (fs *files) sign(ctx context.Context, c *duckdb.Conn, f *file) error {
	fs.mu.Lock()
	done := fs.owner.Instance == "" || f.dirty > 0
	fs.mu.Unlock()
	if done {
		return nil
	}
	at, err := rowfile.StateOf(f.path, f.key())
	if err != nil {
		return err
	}
	return rowfile.Sign(ctx, c, f.alias, fs.owner.Instance, at)
}

// checkFolder checks that the folder of the store still exists and belongs to this instance.
func (fs *files) checkFolder() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.owner.Check()
}
