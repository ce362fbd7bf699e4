package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"belfry"
	"belfry/folder"
	"belfry/journal"
	"belfry/meta/sqlite"
	"belfry/store"
)

// Running is the Source of a service that runs.
type Running struct {
	Folder  *folder.Folder
	Rows    store.Copier
	Mover   *store.Mover // moves what is in the journal into the rows
	Journal *journal.Journal
	Meta    *sqlite.DB
	Temp    string                   // folder for the copy of the metadata, on a disk with room for them
	Known   func() map[string][]byte // small files of the data folder that the service has in memory, by name
	Loss    func() string            // of records of the journal, not confirmed: what it is; empty: none
}

// Instance implements Source.
func (r *Running) Instance() string { return r.Folder.Instance }

// Files implements Source. The order makes the backup complete at the position of the journal's last record: everything that is
// copied before has at least the records before the segments that are held, and replay skips what it has beyond them.
func (r *Running) Files(ctx context.Context, each func(File) error) (belfry.Position, error) {
	release := r.Journal.Hold()
	defer release()
	if err := r.catchUp(ctx); err != nil {
		return 0, err
	}
	err := r.Rows.CopyFiles(ctx, func(f store.CopiedFile) error {
		file := File{Name: "rows/" + f.Name, Size: f.Size, State: f.State, Err: f.Err, Lost: f.Lost, Damaged: f.Damaged}
		if f.Content != nil {
			file.Open = opened(f.Content)
		}
		return each(file)
	})
	if err != nil {
		return 0, err
	}
	if err := r.metadata(ctx, each); err != nil {
		return 0, err
	}
	pos, err := r.Journal.Copy(func(name string, size int64, content io.Reader) error {
		return each(File{Name: "journal/" + name, Size: size, Open: opened(content)})
	}, func(name, why string) error {
		return each(File{Name: "journal/" + name, Damaged: why})
	})
	if err != nil {
		return 0, err
	}
	return pos, r.Folder.CopyFiles(r.Known(), func(name string, content []byte, unread error) error {
		f := File{Name: dataDir + name, Size: int64(len(content)), Open: opened(bytes.NewReader(content)), Err: unread}
		if f.Name == instanceName { // every backup has it
			f.Lost = r.Loss()
		}
		return each(f)
	})
}

// Estimate implements Source.
func (r *Running) Estimate(context.Context) (list []File, err error) {
	for _, f := range r.Rows.EstimateFiles() {
		list = append(list, File{Name: "rows/" + f.Name, Size: f.Size, State: f.State})
	}
	meta, err := r.Meta.Size()
	segments := r.Journal.CopySize()
	return append(list, File{Name: metaName, Size: meta}, File{Name: journalDir, Size: segments}), err
}

// catchUp waits until the rows that have arrived so far are in the files of rows, so that single days of a backup can be restored. If
// the row store is far behind they stay in the journal, which is in the backup too.
func (r *Running) catchUp(ctx context.Context) error {
	const longest, every = 10 * time.Second, 20 * time.Millisecond
	tick, over := time.NewTicker(every), time.NewTimer(longest)
	defer tick.Stop()
	defer over.Stop()
	for goal := r.Journal.Last(); r.Mover.Position() < goal; {
		r.Mover.Flush()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// metadata copies the database to a file of its own first: a copy through SQLite is consistent, one of the file is not.
func (r *Running) metadata(ctx context.Context, each func(File) error) (err error) {
	if err := os.MkdirAll(r.Temp, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(r.Temp, "backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "meta.db")
	if _, err := r.Meta.Copy(ctx, path); err != nil {
		return err
	}
	if err := r.checkMetadata(ctx, path); err != nil {
		return fmt.Errorf("the metadata are damaged: %w; without them a backup is of no use. belfry verify says what to do once the service is stopped", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return each(File{Name: "meta/meta.db", Size: info.Size(), Open: func() (io.ReadCloser, error) { return os.Open(path) }})
}

// checkMetadata reads the whole copy of the metadata: another file may have been put in the place of the database.
func (r *Running) checkMetadata(ctx context.Context, path string) error {
	if err := sqlite.Verify(ctx, path); err != nil {
		return err
	}
	facts, err := sqlite.ReadFacts(ctx, path)
	if err == nil && facts.Instance != r.Instance() {
		err = fmt.Errorf("they belong to the instance %.40q, and this is %s", facts.Instance, r.Instance())
	}
	if current := r.Folder.Branches.Current(); err == nil && facts.Branch != current {
		err = fmt.Errorf("they were written last in the start %.40q of the service, and this one is %s", facts.Branch, current)
	}
	return err
}

// opened returns the function File.Open of what is open already.
func opened(r io.Reader) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
}
