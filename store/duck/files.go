package duck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

// maxAttached is how many files stay attached while no one uses them. To attach one costs about a millisecond.
const maxAttached = 512

// files knows every file of the store, and which of them are attached to the engine. A file can be attached only once,
// so this is the one place where it happens.
type files struct {
	dir  string
	conn *conn // for ATTACH and DETACH, under mu

	mu       sync.Mutex
	freed    *sync.Cond         // a file that had to be detached has been
	byName   map[string][]*file // by collection, oldest period first
	attached int
	clock    uint64 // counts uses

	// The last file that was made, as it was before its first row. Files of other periods that begin with the same
	// columns are copies of it: rows of a year that come in late need some hundred files at once.
	image struct {
		cols []column
		data []byte
	}
}

// file is one file. Its fields belong to the mutex of files.
type file struct {
	period
	collection *catalog.Collection
	path       string
	alias      string // name in the engine while attached; "" otherwise
	refs       int    // who is using it
	used       uint64
	stale      bool // must be detached before it is used again: a write to it failed
	doomed     bool // has been dropped
	table      query.Table
	kinds      map[string]kind // of its columns; never changed, only replaced

	pos   uint64 // highest position in it; only the writer, who holds a reference, looks at it
	dirty int64  // bytes in its log, which the engine also holds in memory
}

// listFiles finds the files in dir and removes those that a Drop did not get to.
func listFiles(dir string, cat *catalog.Catalog, marks map[string]belfry.Time) (*files, error) {
	fs := &files{dir: dir, byName: map[string][]*file{}}
	fs.freed = sync.NewCond(&fs.mu)
	for _, c := range cat.Kept() {
		entries, err := os.ReadDir(filepath.Join(dir, c.Name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), unfinished) {
				if err := os.Remove(filepath.Join(dir, c.Name, e.Name())); err != nil {
					return nil, err
				}
				continue
			}
			p, ok := parseFileName(c, e.Name())
			if !ok {
				continue
			}
			f := fs.newFile(c, p)
			if p.from < marks[c.Name] {
				if err := unlink(f.path); err != nil {
					return nil, err
				}
				continue
			}
			fs.insert(f)
		}
	}
	return fs, nil
}

func (fs *files) newFile(c *catalog.Collection, p period) *file {
	return &file{period: p, collection: c, path: filepath.Join(fs.dir, c.Name, fileName(c, p))}
}

// find looks a file up; where it would stand, when there is none.
func (fs *files) find(c *catalog.Collection, p period) (int, *file) {
	list := fs.byName[c.Name]
	i, ok := slices.BinarySearchFunc(list, p.from, func(f *file, t belfry.Time) int { return cmp.Compare(f.from, t) })
	if !ok {
		return i, nil
	}
	return i, list[i]
}

func (fs *files) insert(f *file) {
	i, _ := fs.find(f.collection, f.period)
	fs.byName[f.collection.Name] = slices.Insert(fs.byName[f.collection.Name], i, f)
}

// acquire gives the files of the collection that have moments of the span, oldest first, attached until release.
func (fs *files) acquire(ctx context.Context, c *catalog.Collection, from, to belfry.Time) ([]*file, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var got []*file
	for _, f := range slices.Clone(fs.byName[c.Name]) {
		if !f.overlaps(from, to) {
			continue
		}
		if err := fs.use(ctx, f); err != nil {
			fs.releaseLocked(got)
			return nil, err
		}
		if f.doomed { // while we waited for it
			fs.releaseLocked([]*file{f})
			continue
		}
		got = append(got, f)
	}
	return got, nil
}

// periods lists the periods of the collection with moments of the span, oldest first.
func (fs *files) periods(c *catalog.Collection, from, to belfry.Time) []period {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var list []period
	for _, f := range fs.byName[c.Name] {
		if f.overlaps(from, to) {
			list = append(list, f.period)
		}
	}
	return list
}

// acquireForWriting gives the file of one period, made with the given columns when there is none.
func (fs *files) acquireForWriting(ctx context.Context, c *catalog.Collection, p period, cols []column) (*file, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	_, f := fs.find(c, p)
	if f == nil {
		f = fs.newFile(c, p)
		if err := fs.create(ctx, f, cols); err != nil {
			return nil, fmt.Errorf("create %s: %w", f.path, err)
		}
		fs.insert(f)
	}
	if err := fs.use(ctx, f); err != nil {
		return nil, err
	}
	return f, nil
}

// use counts one more user of the file and sees to it that it is attached.
func (fs *files) use(ctx context.Context, f *file) error {
	stop := context.AfterFunc(ctx, fs.freed.Broadcast)
	defer stop()
	for f.stale && f.refs > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		fs.freed.Wait()
	}
	if f.alias == "" {
		fs.trim(maxAttached - 1)
		if err := fs.attach(ctx, f); err != nil {
			return fmt.Errorf("attach %s: %w", f.path, err)
		}
	}
	fs.clock++
	f.refs++
	f.used = fs.clock
	return nil
}

// release ends the use of files.
func (fs *files) release(list []*file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.releaseLocked(list)
}

func (fs *files) releaseLocked(list []*file) {
	for _, f := range list {
		f.refs--
		if f.refs == 0 && f.doomed {
			fs.remove(f)
		} else if f.refs == 0 && f.stale {
			fs.detach(f)
		}
	}
	fs.trim(maxAttached)
}

// spoil says that the file must be attached anew before it is used again.
func (fs *files) spoil(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.stale = true
}

// trim detaches the files used longest ago while more than n are attached. Files with rows that are not checkpointed
// stay: to fold them in takes time, and is the writer's to do.
func (fs *files) trim(n int) {
	if fs.attached <= n {
		return
	}
	var idle []*file
	for _, list := range fs.byName {
		for _, f := range list {
			if f.alias != "" && f.refs == 0 && f.dirty == 0 {
				idle = append(idle, f)
			}
		}
	}
	slices.SortFunc(idle, func(a, b *file) int { return cmp.Compare(a.used, b.used) })
	for _, f := range idle[:min(len(idle), fs.attached-n)] {
		fs.detach(f)
	}
}

func (fs *files) attach(ctx context.Context, f *file) (err error) {
	fs.clock++
	alias := "f" + strconv.FormatUint(fs.clock, 10)
	if err := fs.conn.exec(ctx, "ATTACH "+quoteText(f.path)+" AS "+alias); err != nil {
		return fmt.Errorf("%w: %w", errFile, err)
	}
	f.alias = alias
	fs.attached++
	defer func() {
		if err != nil {
			fs.detach(f)
		}
	}()
	if f.pos, err = fs.conn.number(ctx, "SELECT max(pos) FROM "+alias+".main.position"); err != nil {
		return err
	}
	kinds, err := fs.readKinds(ctx, alias)
	if err != nil {
		return err
	}
	f.know(kinds)
	f.dirty, err = unfolded(f)
	return err
}

// unfolded estimates what the engine holds in memory because it is only in its log beside the file.
func unfolded(f *file) (int64, error) {
	info, err := os.Stat(f.path + ".wal")
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	const least = 16 << 10 // per column
	return max(info.Size(), int64(len(f.kinds))*least), nil
}

// wrote takes note of a commit to the file.
func (fs *files) wrote(f *file, pos uint64, kinds map[string]kind) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.pos = pos
	if kinds != nil {
		f.know(kinds)
	}
	fresh := f.dirty == 0
	var err error
	if f.dirty, err = unfolded(f); err != nil || !fresh {
		return err
	}
	return syncDir(filepath.Dir(f.path)) // a new log: its name must last as well
}

// overfull picks a file to be checkpointed: the one used longest ago, while the logs of more than n files, or more than
// size bytes of them, have not been folded in. It counts as used until it is released.
func (fs *files) overfull(n int, size int64) *file {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var oldest *file
	for _, list := range fs.byName {
		for _, f := range list {
			if f.alias == "" || f.dirty == 0 || f.stale {
				continue
			}
			n, size = n-1, size-f.dirty
			if oldest == nil || f.used < oldest.used {
				oldest = f
			}
		}
	}
	if n >= 0 && size >= 0 {
		return nil
	}
	oldest.refs++
	return oldest
}

// folded takes note of a checkpoint of the file.
func (fs *files) folded(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.dirty = 0
}

// know takes note of the columns of the file.
func (f *file) know(kinds map[string]kind) {
	t := query.Table{Ref: f.alias + ".main.rows", Columns: make(map[string]bool, len(kinds))}
	for name := range kinds {
		t.Columns[name] = true
	}
	f.kinds, f.table = kinds, t
}

func (fs *files) readKinds(ctx context.Context, alias string) (map[string]kind, error) {
	r, err := fs.conn.query(ctx, "SELECT name, type FROM pragma_table_info("+quoteText(alias+".main.rows")+")")
	if err != nil {
		return nil, err
	}
	kinds := map[string]kind{}
	for r.next() {
		k := slices.Index(kindSQL[:], r.text(1))
		if k < 0 {
			return nil, fmt.Errorf("column %s has type %s, which this version does not know", r.text(0), r.text(1))
		}
		kinds[r.text(0)] = kind(k)
	}
	return kinds, nil
}

// detach lets the file go. What is only in the log stays there, and is found at the next attach.
func (fs *files) detach(f *file) error {
	if f.alias == "" {
		f.stale = false
		return nil
	}
	err := fs.conn.exec(context.Background(), "DETACH "+f.alias)
	f.alias, f.stale, f.dirty = "", false, 0
	fs.attached--
	fs.freed.Broadcast()
	return err
}

// detachAll lets all files go, and folds in the logs that would take time to read again.
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
			if f.dirty > long && !f.stale {
				errs = append(errs, fs.conn.exec(ctx, "CHECKPOINT "+f.alias))
			}
			errs = append(errs, fs.detach(f))
		}
	}
	return errors.Join(errs...)
}

// forget says that the engine is gone and nothing is attached any more. No file may be in use.
func (fs *files) forget() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, list := range fs.byName {
		for _, f := range list {
			f.alias, f.stale, f.dirty = "", false, 0
		}
	}
	fs.attached = 0
	fs.freed.Broadcast()
}

// unfinished ends the name of a file that is being made.
const unfinished = ".new"

// create makes a file without rows. It gets its name when both tables are safely in it, so that whatever happens
// meanwhile a file with a proper name can be attached.
func (fs *files) create(ctx context.Context, f *file, cols []column) error {
	if !slices.Equal(fs.image.cols, cols) {
		data, err := fs.draw(ctx, cols)
		if err != nil {
			return err
		}
		fs.image.cols, fs.image.data = cols, data
	}
	folder := filepath.Dir(f.path)
	if err := os.Mkdir(folder, 0o750); err == nil {
		err = syncDir(fs.dir)
		if err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	return writeSynced(f.path, fs.image.data)
}

// draw makes the image of a file with both tables and no rows.
func (fs *files) draw(ctx context.Context, cols []column) ([]byte, error) {
	path := filepath.Join(fs.dir, "image"+fileSuffix)
	if err := unlink(path); err != nil {
		return nil, err
	}
	err := fs.drawInto(ctx, path, cols)
	data, readErr := os.ReadFile(path)
	return data, errors.Join(err, readErr, unlink(path))
}

func (fs *files) drawInto(ctx context.Context, path string, cols []column) error {
	const alias = "image"
	if err := fs.conn.exec(ctx, "ATTACH "+quoteText(path)+" AS "+alias); err != nil {
		return err
	}
	defs := make([]string, len(cols))
	for i, c := range cols {
		defs[i] = quoteName(c.name) + " " + kindSQL[c.kind]
	}
	err := fs.conn.exec(ctx, "CREATE TABLE "+alias+".main.rows ("+strings.Join(defs, ", ")+")")
	if err == nil {
		err = fs.conn.exec(ctx, "CREATE TABLE "+alias+".main.position (pos UBIGINT)")
	}
	if err == nil {
		err = fs.conn.exec(ctx, "CHECKPOINT "+alias)
	}
	return errors.Join(err, fs.conn.exec(context.WithoutCancel(ctx), "DETACH "+alias))
}

// drop takes the files of a collection that end at or before t away; those in use go when they are released.
func (fs *files) drop(c *catalog.Collection, t belfry.Time) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	list := fs.byName[c.Name]
	n := 0
	for n < len(list) && list[n].to <= t {
		n++
	}
	fs.byName[c.Name] = slices.Clone(list[n:])
	var errs []error
	for _, f := range list[:n] {
		f.doomed = true
		if f.refs == 0 {
			errs = append(errs, fs.remove(f))
		}
	}
	return errors.Join(errs...)
}

func (fs *files) remove(f *file) error {
	fs.detach(f) // its rows are going, so are its errors
	return unlink(f.path)
}

// unlink removes a database file and what the engine keeps beside it. The file itself goes last, so that what is left
// when it does not come to an end is found again.
func unlink(path string) error {
	var errs []error
	for _, suffix := range []string{".wal.recovery", ".wal.checkpoint", ".wal", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// writeSynced makes a file durable: all of it under its name, or nothing.
func writeSynced(path string, data []byte) error {
	temp := path + unfinished
	f, err := os.Create(temp)
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

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
