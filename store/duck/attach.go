package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"belfry"
	"belfry/query"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/rowwriter"
)

func (fs *files) attach(ctx context.Context, f *file) (err error) {
	info, err := os.Stat(f.path) // the engine would create a file that is gone
	if err != nil {
		return fmt.Errorf("%w: %w", errFile, err)
	}
	was, err := rowfile.StateOf(f.path, f.key())
	if err != nil {
		return fmt.Errorf("%w: %w", errFile, err)
	}
	fs.clock++
	alias := "f" + strconv.FormatUint(fs.clock, 10)
	if err := fs.conn.Exec(ctx, "ATTACH "+duckdb.QuoteText(f.path)+" AS "+alias); err != nil {
		return fmt.Errorf("%w: %w", errFile, err)
	}
	f.alias, f.inode, f.foreign = alias, info, false
	fs.attached++
	defer func() {
		if err != nil {
			fs.detach(f)
		}
	}()
	content, err := rowfile.Inspect(ctx, fs.conn, f.attached(), fs.owner.Identity, was)
	if errors.Is(err, damage.ErrLog) && folder.HasLog(f.path) {
		return fs.attachWithout(ctx, f, err)
	}
	if err != nil {
		return err
	}
	had := max(f.pos, belfry.Position(fs.manifest.Pos[f.key()])) // f.pos is of the time before it was detached
	f.pos, f.branch = content.Pos, content.Branch
	f.setColumns(content.Kinds)
	fs.noteLog(f)
	f.log.found = f.log.info != nil
	if f.dirty, err = rowfile.InMemory(f.path, len(f.kinds), f.log.lost, f.dirty); err != nil {
		return err
	}
	if f == fs.held {
		if err := fs.holdAttached(ctx, f); err != nil {
			return err
		}
	}
	if f.pos < had {
		return errors.Join(errLost, fs.loseRows(f, had)) // the caller must know that the day is incomplete
	}
	return nil
}

// attachWithout moves a log that does not belong to an attached file away, and attaches the file again. The mutex is held.
func (fs *files) attachWithout(ctx context.Context, f *file, why error) error {
	fs.detach(f)
	kept := folder.FreeMarker(f.path+".wal"+folder.DamagedMark, fs.now().UTC())
	if err := os.Rename(f.path+".wal", kept); err != nil {
		return errors.Join(why, err)
	}
	fs.log.Error("a log beside a file of rows was moved away", "file", f.path, "why", why, "kept", kept)
	return fs.attach(ctx, f)
}

// diagnoseAttach takes a file out of use if it could not be attached because it is damaged, gone or unreadable. An
// error of the engine alone is believed only if a second attempt fails while a new file can be attached. The mutex is
// held.
func (fs *files) diagnoseAttach(ctx context.Context, f *file, err error) {
	if ctx.Err() != nil {
		return
	}
	if errors.Is(err, os.ErrNotExist) {
		if fs.owner.Check() == nil { // a missing folder is a problem of the whole store
			fs.setAside(f, reasonDeleted)
		}
		return
	}
	why := damage.AtOpen(f.path, err)
	if why == "" && (damage.StoreWide(err) || errors.Is(err, errLost)) {
		return
	}
	if _, err := rowfile.Template(ctx, fs.conn, fs.owner.Dir, []duckdb.Column{{Name: rowwriter.TimestampColumn, Kind: duckdb.Int}}, fs.owner.Identity); err != nil {
		fs.log.Warn("a file of rows cannot be opened, and neither can a new one", "file", f.path, "err", err)
		return
	}
	if err := fs.attach(ctx, f); err == nil { // the problem was temporary
		fs.detach(f)
		return
	}
	if why == "" {
		fs.log.Warn("a file of rows cannot be opened", "file", f.path, "err", err)
		fs.setUnreadable(f, damage.ReasonAtOpen(f.path, err))
		return
	}
	fs.setAside(f, why)
}

// ref returns the name of the file's table of rows in statements. The caller holds the file.
func (f *file) ref() string { return f.alias + ".main.rows" }

// setColumns records the columns of the file.
func (f *file) setColumns(kinds map[string]duckdb.Kind) {
	t := query.Table{Ref: f.ref(), Columns: make(map[string]bool, len(kinds)), From: f.From, To: f.To - 1}
	for name := range kinds {
		t.Columns[name] = true
	}
	f.kinds, f.table = kinds, t
}

// detach detaches the file. Rows that are only in its log stay there and are read at the next attach.
func (fs *files) detach(f *file) error {
	if f.alias == "" {
		f.stale = false
		return nil
	}
	fs.allowCheckpoint(f)
	err := fs.conn.Exec(context.Background(), "DETACH "+f.alias)
	f.alias, f.stale, f.dirty, f.log = "", false, 0, logState{}
	fs.attached--
	fs.freed.Broadcast()
	return err
}

// detachAll detaches all files, and checkpoints the logs that would take time to read again.
func (fs *files) detachAll(ctx context.Context) error {
	const long = 1 << 20
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var errs []error
	for _, list := range fs.byName {
		for _, f := range list {
			if f.alias == "" {
				continue
			}
			fs.checkLog(f, false)
			fs.allowCheckpoint(f)
			if (f.dirty > long || f.log.lost) && !f.stale {
				err := fs.conn.Exec(ctx, "CHECKPOINT "+f.alias)
				switch {
				case err == nil:
					f.stampItems()
				case duckdb.OutOfMemory(err) && !f.log.lost: // all is in the log, which the next start reads
					fs.log.Warn("a log is left for the next start, as there is too little memory for a checkpoint", "file", f.path, "err", err)
				default:
					errs = append(errs, err)
				}
			}
			errs = append(errs, fs.detach(f))
		}
	}
	return errors.Join(errs...)
}

// forget resets all files after the engine is gone. No file may be in use.
func (fs *files) forget() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, list := range fs.byName {
		for _, f := range list {
			f.alias, f.stale, f.dirty, f.log = "", false, 0, logState{}
		}
	}
	fs.attached, fs.holding = 0, false
	fs.freed.Broadcast()
}

// tables returns the engine's names and the columns of the files.
func (fs *files) tables(list []*file) []query.Table {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	tables := make([]query.Table, len(list))
	for i, f := range list {
		tables[i] = f.table
	}
	return tables
}

// finish ends the use of files by a query. If err shows that the engine gave up on a file, or that it is damaged or
// unreadable, the file is taken out of use.
func (fs *files) finish(list []*file, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err != nil {
		for _, f := range list {
			f.stale = f.stale || strings.Contains(err.Error(), `"`+f.alias+`" has been invalidated`)
			if f.doomed {
				continue
			}
			if why := damage.In(f.path, err); why != "" {
				fs.setAside(f, why)
			} else if why := damage.Unreadable(f.path, err); why != "" {
				fs.setUnreadable(f, why)
			}
		}
	}
	fs.releaseLocked(list)
}
