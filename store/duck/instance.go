package duck

import (
	"context"

	"belfry/store/duck/duckdb"
	"belfry/store/duck/rowfile"
)

// sign writes the id of the instance and the branch into a file, if its log does not have them yet, as part of a transaction.
func (fs *files) sign(ctx context.Context, c *duckdb.Conn, f *file) (err error) {
	fs.mu.Lock()
	begun, same := f.dirty > 0, f.branch == fs.owner.Branches.Current()
	fs.mu.Unlock()
	if fs.owner.Instance == "" || begun && same {
		return nil
	}
	var at rowfile.State // of a log that an earlier start began: none
	if !begun {
		if at, err = rowfile.StateOf(f.path, f.key()); err != nil {
			return err
		}
	}
	return rowfile.Sign(ctx, c, f.alias, fs.owner.Identity, at)
}

// checkFolder checks that the folder of the store still exists and belongs to this instance.
func (fs *files) checkFolder() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.owner.Check()
}
