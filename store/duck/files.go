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
	"belfry/query"
	"belfry/store/duck/duckdb"
)

// maxAttached is how many files stay attached while no one uses them. To attach one costs about a millisecond.
const maxAttached = 512

// files knows every file of the store, and which of them are attached to the engine. A file can be attached only once,
// so this is the one place where it happens.
type files struct {
	dir          string
	instance     string       // that the folder belongs to; empty: that is not known
	instanceInfo os.FileInfo  // of the file that says so, when it was last read
	conn         *duckdb.Conn // for ATTACH and DETACH, under mu

	mu            sync.Mutex
	freed         *sync.Cond         // a file that had to be detached has been
	byName        map[string][]*file // by collection, oldest period first
	attached      int
	maxIdle       int    // how many files stay attached while no one uses them
	maxFiles      int    // how many queries may attach; 0: any number
	clock         uint64 // counts uses
	itemListBytes int    // bytes of filters of items in memory

	collections []*catalog.Collection
	kept        map[string]uint64 // versions of the lists of what is kept, as the start has found them
	stores      func(*catalog.Collection, belfry.Span) bool

	manifest  *manifest
	lost      map[string][]*loss // by collection
	lossCount int                // how often a day was found incomplete
	now       func() time.Time
	log       *slog.Logger
	onChange  func()            // told when lost changes; must not block
	onRepair  func(info string) // Config.Told
	onLoss    func(*file)       // told of a file that lost rows

	// The last file that was made, as it was before its first row. Files of other periods that begin with the same
	// columns are copies of it: rows of a year that come in late need some hundred files at once.
	template struct {
		cols []duckdb.Column
		data []byte
	}
}

// file is one file. Its fields belong to the mutex of files.
type file struct {
	belfry.Span
	collection *catalog.Collection
	path       string
	late       bool   // the second file of a day; see lateSuffix
	alias      string // name in the engine while attached; "" otherwise
	refs       int    // who is using it
	used       uint64
	stale      bool        // must be detached before it is used again: a write to it failed
	doomed     bool        // has been dropped, or set aside
	loss       *loss       // why it was set aside; nil: it was not
	inode      os.FileInfo // the file that is attached
	occupied   bool        // summaries are being written to it
	table      query.Table
	kinds      map[string]duckdb.Kind // of its columns; never changed, only replaced

	pos      belfry.Position // highest position in it; only the writer, who holds a reference, looks at it
	dirty    int64           // bytes in its log, which the engine also holds in memory
	log      logState
	changing int        // commits and checkpoints that are under way
	grown    int        // rows since token filters were last asked for; the writer's as well
	fill     vectorFill // the same

	writes int // transactions that began to write to it, and that ended

	items   itemIndex // the filter of its items
	filters filters   // of the words in it; with a mutex of its own
}

// listFiles finds the files in dir and removes those that dropped names: a Drop of them was interrupted. Files of periods
// that are not stored any more are not missed.
func listFiles(dir string, collections []*catalog.Collection, kept map[string]uint64, stores, dropped func(*catalog.Collection, belfry.Span) bool, log *slog.Logger) (*files, error) {
	fs := &files{dir: dir, byName: map[string][]*file{}, maxIdle: maxAttached, lost: map[string][]*loss{}, now: time.Now, log: log, onChange: func() {}, onRepair: func(string) {}, onLoss: func(*file) {}, collections: collections, kept: kept, stores: stores}
	fs.freed = sync.NewCond(&fs.mu)
	var late []*file
	for _, c := range collections {
		entries, err := os.ReadDir(filepath.Join(dir, c.Name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), tempSuffix) { // with what the engine keeps beside it
				if err := os.Remove(filepath.Join(dir, c.Name, e.Name())); err != nil {
					return nil, err
				}
				continue
			}
			if p, ok := parseFileName(c, strings.TrimSuffix(e.Name(), lateSuffix)); ok && strings.HasSuffix(e.Name(), lateSuffix) {
				late = append(late, fs.newLate(c, p))
				continue
			}
			p, ok := parseFileName(c, e.Name())
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
	if err := fs.loseMissing(fs.checkManifest(collections, late, stores)); err != nil { // who needs the day tries again
		fs.log.Error("it could not be noted that files of rows are gone", "err", err)
	}
	return fs, fs.addLate(late)
}

// loseMissing says that the days of files that are gone are incomplete.
func (fs *files) loseMissing(missing []*file) error {
	var errs []error
	for _, f := range missing {
		fs.log.Error("a file of rows is gone", "file", f.path)
		fs.loseFile(f, reasonDeleted)
		errs = append(errs, fs.moveAside(f))
	}
	return errors.Join(errs...)
}

// findMarker takes note of a day that was found incomplete by an earlier process.
func (fs *files) findMarker(c *catalog.Collection, name string, dropped func(*catalog.Collection, belfry.Span) bool) error {
	p, at, ok := parseMarker(c, name)
	if !ok {
		return nil
	}
	l := &loss{Span: p, collection: c, marker: filepath.Join(fs.dir, c.Name, name), since: at, why: "found at " + at.Format(time.RFC3339)}
	if !l.kept() {
		l.why = "was missing, or had lost rows, at " + at.Format(time.RFC3339)
	}
	if dropped(c, p) {
		return l.unlink()
	}
	fs.lose(l)
	return nil
}

// newFile describes the file for rows of a period: the second one while the first cannot be read.
func (fs *files) newFile(c *catalog.Collection, p belfry.Span) *file {
	if fs.unreadableAt(c, p) != nil {
		return fs.newLate(c, p)
	}
	return &file{Span: p, collection: c, path: filepath.Join(fs.dir, c.Name, fileName(c, p))}
}

func (fs *files) newLate(c *catalog.Collection, p belfry.Span) *file {
	return &file{Span: p, collection: c, late: true, path: filepath.Join(fs.dir, c.Name, fileName(c, p)+lateSuffix)}
}

// key is how the manifest calls the file.
func (f *file) key() string { return f.collection.Name + "/" + filepath.Base(f.path) }

// find looks a file up; where it would stand, when there is none.
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

// acquire gives the files of the collection that have moments of the span, oldest first, attached until release.
func (fs *files) acquire(ctx context.Context, c *catalog.Collection, from, to belfry.Time) ([]*file, error) {
	return fs.acquireAll(ctx, fs.list(c, fs.periods(c, from, to)))
}

// list finds the files of periods; nil where there is none any more.
func (fs *files) list(c *catalog.Collection, periods []belfry.Span) []*file {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	list := make([]*file, len(periods))
	for i, p := range periods {
		_, list[i] = fs.find(c, p)
	}
	return list
}

// acquireAll attaches those of the files that have not been dropped, until release.
func (fs *files) acquireAll(ctx context.Context, list []*file) ([]*file, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var got []*file
	for _, f := range list {
		if f != nil && f.loss != nil { // not dropped: its rows belong into the answer
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

// checkFileLimit tells whether a query may attach one more file. Those who write always may: descriptors are kept for them, and for
// files with rows in their logs, which stay attached.
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

// periods lists the periods of the collection with moments of the span, oldest first.
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

// acquireForWriting gives the file of one period, made with the given columns when there is none.
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
		if err := fs.manifest.add(f.key()); err != nil {
			return nil, fmt.Errorf("list %s: %w", f.path, err)
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

// acquireOne counts one more user of a file that is known already; false when it has been dropped.
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
		}
	}
	fs.trim(fs.maxIdle)
}

// markStale says that the file must be attached again before it is used.
func (fs *files) markStale(f *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.stale = true
}

// trim detaches the files used longest ago while more than n are attached. Files with rows that are not checkpointed
// stay: a checkpoint takes time, and is the writer's to do.
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

// wrote takes note of a commit to the file.
func (fs *files) wrote(f *file, pos belfry.Position, kinds map[string]duckdb.Kind) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.pos = pos
	if kinds != nil {
		f.setColumns(kinds)
	}
	fresh := f.dirty == 0
	var err error
	if f.dirty, err = uncheckpointed(f); err != nil || !fresh {
		return err
	}
	return syncDir(filepath.Dir(f.path)) // a new log: its name must last as well
}

// overfull picks a file to be checkpointed: the one used longest ago, while the logs of more than n files, or more than
// size bytes of them, have not been checkpointed. It counts as used until it is released.
func (fs *files) overfull(n int, size int64) *file {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var oldest *file
	for _, list := range fs.byName {
		for _, f := range list {
			if f.alias == "" || f.dirty == 0 || f.stale || f.occupied {
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

// occupy says whether a transaction of summaries is open on the file: until it ends the file cannot be checkpointed.
func (fs *files) occupy(f *file, yes bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.occupied = yes
}
