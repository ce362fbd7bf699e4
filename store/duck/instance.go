package duck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"belfry/store"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
)

// sign writes the id of the instance into a file, if its log does not have it yet, as part of a transaction.
func (fs *files) sign(ctx context.Context, c *duckdb.Conn, f *file) error {
	fs.mu.Lock()
	done := fs.instance == "" || f.dirty > 0
	fs.mu.Unlock()
	if done {
		return nil
	}
	return c.Exec(ctx, "INSERT INTO "+f.alias+".main."+rowfile.InstanceTable+" VALUES (?)", fs.instance)
}

// instanceFile holds the id of the instance that the folder belongs to. Whoever creates the folder writes it before the
// store is opened.
const instanceFile = "instance"

// checkFolderLocked checks that the folder of the store still exists and belongs to this instance. The mutex is held.
func (fs *files) checkFolderLocked() error {
	path := fs.dir
	if fs.instance != "" {
		path = filepath.Join(fs.dir, instanceFile)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be found (%w); put the same folder back, then the service continues by itself", store.ErrFolder, path, folder.Cause(err))
	}
	if fs.instance == "" || fs.instanceInfo != nil && os.SameFile(info, fs.instanceInfo) && info.ModTime().Equal(fs.instanceInfo.ModTime()) && info.Size() == fs.instanceInfo.Size() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read (%w); put the same folder back, then the service continues by itself", store.ErrFolder, path, folder.Cause(err))
	}
	if got := strings.TrimSpace(string(text)); got != fs.instance {
		return fmt.Errorf("%w: %s says %.40q, and this instance is %s; put the folder back that belongs here, or write that id into the file if only the file was changed", store.ErrFolder, path, got, fs.instance)
	}
	fs.instanceInfo = info
	return nil
}

// checkFolder is checkFolderLocked for callers that do not hold the mutex.
func (fs *files) checkFolder() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.checkFolderLocked()
}
