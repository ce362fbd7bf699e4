package duck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
	"belfry/query"
	"belfry/store/duck/clustering"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/rowwriter"
)

// maxAttached is how many files stay attached while unused. Attaching one costs about a millisecond.
const maxAttached = 512

// files tracks every file of the store and which of them are attached to the engine. A file can be attached only once,
// so this is the one place where it happens.
type files struct {
	owner  folder.Owner // the folder
	conn   *duckdb.Conn // for ATTACH and DETACH, under mu
	holder *duckdb.Conn // for what is done to the held file

	mu            sync.Mutex
	held          *file              // is being copied; nil: none
	holding       bool               // a transaction of holder holds off checkpoints of it
	freed         *sync.Cond         // a file was detached or moved aside
	byName        map[string][]*file // by collection, oldest period first
	attached      int
	maxIdle       int    // how many files stay attached while unused
	maxFiles      int    // how many files queries may attach; 0: no limit
	clock         uint64 // counts uses
	itemListBytes int    // memory of item lists

	collections []*catalog.Collection
	kept        map[string]uint64 // versions of the lists of kept periods, as found at the start
	stores      func(*catalog.Collection, belfry.Span) bool

	manifest  *folder.Manifest
	lost      map[string][]*loss // by collection
	lossCount int                // number of times a day was found incomplete
	now       func() time.Time
	log       *slog.Logger
	onChange  func()            // called when lost changes; must not block
	onRepair  func(info string) // store.Config.Repaired
	onLoss    func(*file)       // called with a file that lost rows

	// The most recently created file, as it was before its first row. Files of other periods that start with the same
	// columns are copies of it: late rows of a whole year need some hundred files at once.
	template struct {
		cols []duckdb.Column
		data []byte
	}
}

// file is one database file. The mutex of files guards its fields.
type file struct {
	belfry.Span
	collection *catalog.Collection
	path       string
	late       bool   // the second file of a day; see folder.LateSuffix
	alias      string // name in the engine while attached; "" otherwise
	refs       int    // number of users
	used       uint64
	stale      bool        // must be detached before it is used again, as a write to it failed
	blocked    bool        // another file is about to take its place
	doomed     bool        // was dropped or set aside
	loss       *loss       // why it was set aside; nil: it was not
	inode      os.FileInfo // the file that is attached
	copied     string      // state of the file when it was copied last; see copying.File
	occupied   bool        // summaries are being written to it
	table      query.Table
	kinds      map[string]duckdb.Kind // of its columns; never changed, only replaced

	pos      belfry.Position // highest position in it; used only by the writer, which holds a reference
	branch   string          // in which it was written last
	dirty    int64           // bytes in its log, which the engine also holds in memory
	log      logState
	changing int            // transactions and checkpoints in progress
	written  time.Time      // when the file was last written to, if nothing is in progress
	foreign  bool           // someone else has written to it since
	grown    int            // rows since token filters were last requested; used only by the writer
	fill     rowwriter.Fill // used only by the writer

	order  clustering.State // used only with orderMu
	writes int              // starts and ends of transactions that write to it

	items   itemIndex // its item filter
	filters filters   // its token filters, with their own mutex
}

// listFiles finds the files in dir and deletes those for which dropped is true: a Drop of them was interrupted. Missing
// files of periods that are no longer stored are ignored.
func listFiles(dir string, of folder.Identity, collections []*catalog.Collection, kept map[string]uint64, stores, dropped func(*catalog.Collection, belfry.Span) bool, log *slog.Logger) (*files, error) {
	fs := &files{owner: folder.Owner{Dir: dir, Identity: of}, byName: map[string][]*file{}, maxIdle: maxAttached, lost: map[string][]*loss{}, now: time.Now, log: log, onChange: func() {}, onRepair: func(string) {}, onLoss: func(*file) {}, collections: collections, kept: kept, stores: stores}
	fs.freed = sync.NewCond(&fs.mu)
	var late []*file
	for _, c := range collections {
		entries, err := os.ReadDir(filepath.Join(dir, c.Name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), journal.TempSuffix) { // and what the engine keeps beside it
				if err := os.Remove(filepath.Join(dir, c.Name, e.Name())); err != nil {
					return nil, err
				}
				continue
			}
			if p, ok := folder.ParseFileName(c, strings.TrimSuffix(e.Name(), folder.LateSuffix)); ok && strings.HasSuffix(e.Name(), folder.LateSuffix) {
				late = append(late, fs.newLate(c, p))
				continue
			}
			p, ok := folder.ParseFileName(c, e.Name())
			if !ok {
				if err := fs.findMarker(c, e.Name(), dropped); err != nil {
					return nil, err
				}
				continue
			}
			f := fs.newFile(c, p)
			if dropped(c, p) {
				if err := unlink(f.path); err != nil { // the next start tries again
					fs.log.Warn("a file of rows that were dropped cannot be deleted", "file", f.path, "err", err)
				}
				continue
			}
			fs.insert(f)
		}
	}
	if err := fs.loseMissing(fs.checkManifest(collections, late, stores)); err != nil { // retried when the day is needed
		fs.log.Error("missing files of rows could not be recorded", "err", err)
	}
	return fs, fs.addLate(late)
}

// loseMissing records the days of missing files as incomplete.
func (fs *files) loseMissing(missing []*file) error {
	var errs []error
	for _, f := range missing {
		fs.log.Error("a file of rows is gone", "file", f.path)
		fs.loseFile(f, reasonDeleted)
		errs = append(errs, fs.moveAside(f))
	}
	return errors.Join(errs...)
}

// findMarker records a day that an earlier process found incomplete.
func (fs *files) findMarker(c *catalog.Collection, name string, dropped func(*catalog.Collection, belfry.Span) bool) error {
	p, at, ok := folder.ParseMarker(c, name)
	if !ok {
		return nil
	}
	l := &loss{Span: p, collection: c, marker: filepath.Join(fs.owner.Dir, c.Name, name), since: at, why: "found at " + at.Format(time.RFC3339)}
	if !l.kept() {
		l.why = "was missing, or had lost rows, at " + at.Format(time.RFC3339)
	}
	if dropped(c, p) {
		return l.unlink()
	}
	fs.lose(l)
	return nil
}

// newFile returns the file for rows of a period: the late file while the day file cannot be read.
func (fs *files) newFile(c *catalog.Collection, p belfry.Span) *file {
	if fs.unreadableAt(c, p) != nil {
		return fs.newLate(c, p)
	}
	return &file{Span: p, collection: c, path: filepath.Join(fs.owner.Dir, c.Name, folder.FileName(c, p))}
}

func (fs *files) newLate(c *catalog.Collection, p belfry.Span) *file {
	return &file{Span: p, collection: c, late: true, path: filepath.Join(fs.owner.Dir, c.Name, folder.FileName(c, p)+folder.LateSuffix)}
}

// key returns the file's name in the manifest.
func (f *file) key() string { return f.collection.Name + "/" + filepath.Base(f.path) }

// find returns the index and the file of a period; if there is none, the index to insert it at and nil.
func (fs *files) find(c *catalog.Collection, p belfry.Span) (int, *file) {
	list := fs.byName[c.Name]
	i, ok := slices.BinarySearchFunc(list, p.From, func(f *file, t belfry.Time) int { return cmp.Compare(f.From, t) })
	if !ok {
		return i, nil
	}
	return i, list[i]
}

func (fs *files) insert(f *file) {
	i, _ := fs.find(f.collection, f.Span)
	fs.byName[f.collection.Name] = slices.Insert(fs.byName[f.collection.Name], i, f)
}

// acquire returns the files of the collection that overlap the span, oldest first, attached until release.
func (fs *files) acquire(ctx context.Context, c *catalog.Collection, from, to belfry.Time) ([]*file, error) {
	return fs.acquireAll(ctx, fs.list(c, fs.periods(c, from, to)))
}

// list returns the files of periods; nil for periods without one.
func (fs *files) list(c *catalog.Collection, periods []belfry.Span) []*file {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	list := make([]*file, len(periods))
	for i, p := range periods {
		_, list[i] = fs.find(c, p)
	}
	return list
}

// acquireAll attaches the files until release, leaving out those that have been dropped.
func (fs *files) acquireAll(ctx context.Context, list []*file) ([]*file, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var got []*file
	for _, f := range list {
		if f != nil && f.loss != nil { // not dropped: its rows belong in the answer
			fs.releaseLocked(got)
			return nil, errLost
		}
		if f == nil || f.doomed {
			continue
		}
		err := fs.checkFileLimit(f)
		if err == nil {
			err = fs.use(ctx, f)
		}
		if err != nil {
			fs.releaseLocked(got)
			return nil, err
		}
		if f.doomed { // while we waited for it
			if f.loss != nil {
				fs.releaseLocked(append(got, f))
				return nil, errLost
			}
			fs.releaseLocked([]*file{f})
			continue
		}
		got = append(got, f)
	}
	return got, nil
}

// checkFileLimit returns an error if a query may not attach one more file. Writers always may: file descriptors are
// reserved for them, and for files with rows in their logs, which stay attached.
func (fs *files) checkFileLimit(f *file) error {
	if f.alias != "" || fs.maxFiles == 0 || fs.attached < fs.maxFiles {
		return nil
	}
	fs.trim(fs.maxFiles - 1)
	attached := fs.attached
	for _, list := range fs.byName {
		for _, f := range list {
			if f.alias != "" && f.dirty > 0 {
				attached--
			}
		}
	}
	if attached < fs.maxFiles {
		return nil
	}
	return belfry.Errorf(belfry.Overloaded, "queries need more than the %d files of rows that may be open at a time; ask for a shorter span, or raise the limit of open files of the service (ulimit -n)", fs.maxFiles)
}

// periods returns the periods of the collection that overlap the span, oldest first.
func (fs *files) periods(c *catalog.Collection, from, to belfry.Time) []belfry.Span {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var list []belfry.Span
	for _, f := range fs.byName[c.Name] {
		if f.Overlaps(from, to) {
			list = append(list, f.Span)
		}
	}
	return list
}

// acquireForWriting returns the file of one period, created with the given columns if there is none.
func (fs *files) acquireForWriting(ctx context.Context, c *catalog.Collection, p belfry.Span, cols []duckdb.Column) (*file, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.waitMovedAside(ctx, c, p); err != nil {
		return nil, err
	}
	_, f := fs.find(c, p)
	if f == nil {
		f = fs.newFile(c, p)
		if err := fs.create(ctx, f, cols); err != nil {
			return nil, fmt.Errorf("create %s: %w", f.path, err)
		}
		if err := fs.manifest.Add(f.key()); err != nil {
			return nil, fmt.Errorf("list %s: %w", f.path, err)
		}
		fs.insert(f)
	}
	if err := fs.use(ctx, f); err != nil {
		return nil, err
	}
	return f, nil
}

// use adds a user of the file and attaches the file if necessary.
func (fs *files) use(ctx context.Context, f *file) error {
	defer fs.wakeAfter(ctx)()
	for f.blocked || f.stale && f.refs > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		fs.freed.Wait()
	}
	if f.alias == "" {
		fs.trim(fs.maxIdle - 1)
		if err := fs.attach(ctx, f); err != nil {
			fs.diagnoseAttach(ctx, f, err)
			return fmt.Errorf("attach %s: %w", f.path, err)
		}
	}
	fs.clock++
	f.refs++
	f.used = fs.clock
	return nil
}

// wakeAfter wakes whoever waits for freed once ctx ends. The mutex is needed: without it the end could fall between a look at ctx
// and the wait.
func (fs *files) wakeAfter(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.freed.Broadcast()
	})
}

// acquireOne adds a user of a known file; false if the file has been dropped.
func (fs *files) acquireOne(ctx context.Context, f *file) (bool, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.doomed {
		return false, nil
	}
	if err := fs.use(ctx, f); err != nil {
		return false, err
	}
	if f.doomed { // while we waited for it
		fs.releaseLocked([]*file{f})
		return false, nil
	}
	return true, nil
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
		} else if f.refs == 0 && f.blocked {
			fs.freed.Broadcast()
		}
	}
	fs.trim(fs.maxIdle)
}

// markStale marks a file that must be attached again before it is used.
func (fs *files) markStale(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.stale = true
}

// trim detaches the least recently used files while more than n are attached. Files with rows that are not checkpointed
// stay: a checkpoint takes time, and is the writer's task.
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

// wrote records a commit to the file.
func (fs *files) wrote(f *file, pos belfry.Position, kinds map[string]duckdb.Kind) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.pos = pos
	if kinds != nil {
		f.setColumns(kinds)
	}
	fresh := f.dirty == 0
	var err error
	if f.dirty, err = rowfile.InMemory(f.path, len(f.kinds), f.log.lost, f.dirty); err != nil || !fresh {
		return err
	}
	return journal.SyncDir(filepath.Dir(f.path)) // a new log: its name must be durable, too
}

// overfull returns a file to be checkpointed: the least recently used one, while the logs of more than n files, or more
// than size bytes of them, have not been checkpointed; nil if none. It counts as used until it is released.
func (fs *files) overfull(n int, size int64) *file {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var oldest *file
	for _, list := range fs.byName {
		for _, f := range list {
			if f.alias == "" || f.dirty == 0 || f.stale || f.occupied || f == fs.held {
				continue
			}
			n, size = n-1, size-f.dirty
			if oldest == nil || f.used < oldest.used {
				oldest = f
			}
		}
	}
	if oldest == nil || n >= 0 && size >= 0 {
		return nil
	}
	oldest.refs++
	return oldest
}

// occupy sets whether a transaction of summaries is open on the file: until it ends, the file cannot be checkpointed.
func (fs *files) occupy(f *file, yes bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.occupied = yes
}
