package duck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"belfry"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// instanceTable names in each file the instance its rows belong to: customers and items are numbers that mean something
// else in another instance. A row is added when the file is created and with the first commit to each log, so that a
// log beside a file of another instance is detected, too.
const instanceTable = "instance"

// sign writes the id of the instance into a file, if its log does not have it yet, as part of a transaction.
func (fs *files) sign(ctx context.Context, c *duckdb.Conn, f *file) error {
	fs.mu.Lock()
	done := fs.instance == "" || f.dirty > 0
	fs.mu.Unlock()
	if done {
		return nil
	}
	return c.Exec(ctx, "INSERT INTO "+f.alias+".main."+instanceTable+" VALUES (?)", fs.instance)
}

// readPosition reads the position of a file and checks that it belongs to the instance.
func (f *file) readPosition(ctx context.Context, c *duckdb.Conn, instance string) (err error) {
	const position = "(SELECT max(pos) FROM %[1]s.main.position)"
	if instance == "" {
		pos, err := c.Number(ctx, fmt.Sprintf("SELECT "+position, f.alias))
		f.pos = belfry.Position(pos)
		return err
	}
	r, err := c.Query(ctx, fmt.Sprintf("SELECT "+position+", (SELECT min(id) FROM %[1]s.main."+instanceTable+"), (SELECT max(id) FROM %[1]s.main."+instanceTable+")", f.alias))
	if err != nil && strings.Contains(err.Error(), "Table with name "+instanceTable+" does not exist") {
		return fmt.Errorf("%w: it has no table that names its instance", damage.ErrForeign)
	}
	if err != nil {
		return err
	}
	r.Next()
	if f.pos = 0; !r.Null(0) {
		f.pos = belfry.Position(r.Int(0))
	}
	if r.Null(1) {
		return fmt.Errorf("%w: it does not name its instance", damage.ErrForeign)
	}
	for _, id := range []string{r.TextAt(1), r.TextAt(2)} {
		if id != instance {
			return fmt.Errorf("%w: it has rows of the instance %.40q", damage.ErrForeign, id)
		}
	}
	return nil
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
		return fmt.Errorf("%w: %s cannot be found (%w); put the same folder back, then the service goes on by itself", store.ErrFolder, path, folder.Cause(err))
	}
	if fs.instance == "" || fs.instanceInfo != nil && os.SameFile(info, fs.instanceInfo) && info.ModTime().Equal(fs.instanceInfo.ModTime()) && info.Size() == fs.instanceInfo.Size() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read (%w); put the same folder back, then the service goes on by itself", store.ErrFolder, path, folder.Cause(err))
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
