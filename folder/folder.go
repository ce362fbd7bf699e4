// Package folder manages the data folder: it knows the parts of an instance, checks that they belong together, and detects losses
// if one of them is damaged, missing or older than the others.
//
//	lock ─► Identify (the parts are of one instance) ─► Open (metadata, tree, journal) ─► Replay (the tree is up to date; losses are known)
//
// A start and Verify detect losses with the same code, so they agree. The caller opens the row store; this package recognizes its
// files and gets its positions.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/journal"
	"belfry/meta"
	"belfry/meta/sqlite"
	"belfry/store"
)

// Options configure Lock.
type Options struct {
	Config     *config.Config
	Catalog    *catalog.Catalog
	Log        *slog.Logger
	RowFiles   []string // patterns of the files of a row store, which report whether its folder has rows
	AcceptLoss []string // parts that may be missing: LossJournal, LossRows or LossMetadata
}

// Folder is a data folder locked by this process, with its metadata and journal.
type Folder struct {
	o        Options
	Lock     *journal.Lock
	DB       *sqlite.DB
	Tree     *meta.Tree
	Journal  *journal.Journal
	Stored   belfry.Position // position of the metadata when they were opened
	Instance string          // the id in all parts
	Moved    belfry.Position // position up to which the row store has all records
	noted    belfry.Position // the same according to the metadata
	Damage   []string        // damage found by Replay
	Last     belfry.Time     // time of the newest journal record
	OnAppend func(error)     // called with the result of each journal append; may be nil
	OnTimes  func(error)     // called when record times cannot be written, and with nil when they can again; may be nil
	OnNote   func(error)     // called when the end of the journal cannot be written, and with nil when it can; may be nil

	Branches *belfry.Branches // the starts, the last of which is this one from Open on

	rows      store.Noted            // by the row store when it was not open
	seen      map[string]os.FileInfo // of files when they were as they should be, see Problem
	otherRows error                  // the rows are of a start that the list does not have
	arrivals  *Arrivals              // nil before OpenArrivals
	accepted  map[string]bool        // parts whose loss was accepted at this start
	Notices   []string               // texts of events about accepted losses
	gaps      []gap                  // lost positions
	lossesMu  sync.Mutex             // guards losses
	losses    []Loss                 // all losses, also of earlier starts; never changed, only replaced
	skipped   bool                   // unknown ids may be in use
}

// Lock locks the data folder. It creates a missing one.
func Lock(o Options) (*Folder, error) {
	dir := o.Config.Data
	if err := CheckNoFile(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, explainLock(fmt.Errorf("create data folder: %w", err))
	}
	if err := CheckKinds(o.Config); err != nil {
		return nil, err
	}
	f := &Folder{o: o, accepted: map[string]bool{}, Branches: belfry.NewBranches(nil), seen: map[string]os.FileInfo{}}
	var err error
	if f.Lock, err = journal.LockDir(dir); err != nil {
		return nil, explainLock(err)
	}
	err = CheckRestored(dir) // a restore that is running has the lock
	if err == nil {
		makePrivate(o.Config, o.Log)
		_, err = journal.Format(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Lock.Unlock())
	}
	return f, nil
}

// Accepted reports whether the loss of a part was accepted at this start.
func (f *Folder) Accepted(part string) bool { return f.accepted[part] }

// HasGaps reports whether journal records are lost.
func (f *Folder) HasGaps() bool { return len(f.gaps) > 0 }

// explainLock adds a remedy to a permission error.
func explainLock(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; run this as a user who may write there, or choose another folder with --data", err)
	}
	return err
}

// Open loads the tree from the metadata database and opens the journal; Replay then applies the records that are only in the
// journal.
func (f *Folder) Open(ctx context.Context) (err error) {
	if f.Stored, err = f.DB.Position(ctx); err != nil {
		return err
	}
	if f.noted, err = f.DB.RowsPosition(ctx); err != nil {
		return err
	}
	f.Moved = f.rowsPosition()
	if f.Tree, err = meta.LoadTree(ctx, f.DB, f.o.Catalog); err != nil {
		return err
	}
	if err := f.openJournal(ctx); err != nil {
		return err
	}
	if err := f.giveUp(ctx); err != nil {
		return err
	}
	return f.beginBranch(ctx)
}

// rowsPosition returns the position up to which the row store has all records. The metadata have it too, but the rows may have
// been restored from an older copy.
func (f *Folder) rowsPosition() belfry.Position {
	pos := movedIn(f.rows, f.noted)
	if pos < f.noted {
		f.o.Log.Warn("the row store has fewer records than the metadata expect; they are stored again from the journal", "rows", pos, "metadata", f.noted)
	}
	return pos
}

// movedIn is the row store's own position, but at most noted, that of the metadata.
func movedIn(rows store.Noted, noted belfry.Position) belfry.Position {
	if rows.Moved > 0 {
		return min(rows.Moved, noted)
	}
	return noted
}

// ExplainMetadata adds a remedy to an error of a start that comes from damaged metadata.
func (f *Folder) ExplainMetadata(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	path := f.o.Config.Inside(f.o.Config.Meta.SQLite.Path)
	found := err
	if !sqlite.Damaged(err) {
		if found = sqlite.Verify(ctx, path); !sqlite.Damaged(found) {
			return err
		}
	}
	if found != err {
		found = fmt.Errorf("%w; %w", err, found)
	}
	return fmt.Errorf("the metadata %s are damaged: %w. Restore the file from a backup and remove %[1]s-wal and %[1]s-shm; the start replays later changes from the journal. "+
		"belfry verify --data %[3]s lists everything that is wrong, and docs/guide/damage.md says what to do", path, found, f.o.Config.Data)
}

// segmentSize is smaller on a small disk: segments are allocated whole and must fit above the free space that disk monitoring
// requires.
func segmentSize(dir string) int64 {
	_, total, err := FreeSpace(dir)
	if err != nil {
		return journal.DefaultSegmentSize
	}
	return min(journal.DefaultSegmentSize, max(1<<20, total/32))
}

// Replay brings the tree up to date and calls each for every record in the journal that a store may lack. A record that cannot be decoded or applied
// counts as lost, like a damaged one, and the replay continues.
func (f *Folder) Replay(ctx context.Context, each func(r *belfry.Record, fresh bool) error) error {
	records, news := 0, 0
	start := time.Now()
	times, _ := f.readArrivals() // without the file all times count as incomplete
	finder, e := newLossFinder(f.gaps, earliestLoss(f.o.Config.Data, times), times), f.evidence()
	known := min(f.Stored, f.Moved)
	err := f.Journal.Replay(0, func(pos belfry.Position, payload []byte) error {
		if at, err := belfry.RecordTime(payload); err == nil && pos <= known { // a segment may have a million rows that are stored
			finder.record(pos, at.Std())
			f.Last = at
			records++
			return nil
		}
		r, err := belfry.DecodeRecord(payload)
		if err != nil {
			f.lost(pos, err)
			finder.insert(e.unused(pos))
			return nil
		}
		finder.record(pos, r.Time.Std())
		r.SetPos(pos)
		f.Last = r.Time
		records++
		fresh := pos > f.Stored
		if fresh {
			news++
			if err := f.Tree.Recovery().Replay(r); err != nil {
				f.lost(pos, err)
				finder.insert(e.unused(pos))
				fresh = false
			}
		}
		return each(r, fresh)
	})
	if err != nil {
		return fmt.Errorf("replay journal: %w", err)
	}
	if err := f.saveLosses(finder.rest(time.Now()), func() error { return f.skipRows(ctx) }); err != nil {
		return err
	}
	for _, d := range f.Journal.Damaged() {
		text := d.String()
		if d.To != 0 && d.To <= min(f.Stored, f.Moved) {
			text += ", which the metadata and the rows have"
		}
		f.Damage = append(f.Damage, text)
	}
	if n := f.Tree.Recovery().Removed(); n > 0 {
		f.o.Log.Warn("items were removed again, as the records of their removal are lost", "items", n)
	}
	f.o.Log.Info("journal replayed", "records", records, "fresh", news, "dur", time.Since(start).Round(time.Millisecond))
	return nil
}

func (f *Folder) lost(pos belfry.Position, err error) {
	f.o.Log.Error("a record of the journal cannot be used", "pos", pos, "err", err)
	// The event is visible to every customer, and the error may name a customer's item; only the log has it.
	f.Damage = append(f.Damage, unusable(pos))
}

func unusable(pos belfry.Position) string { return "record " + pos.String() + " cannot be used" }

// Close closes everything and unlocks the folder.
func (f *Folder) Close() error {
	var errs []error
	if f.Journal != nil {
		errs = append(errs, f.Journal.Close())
	}
	if f.DB != nil {
		errs = append(errs, f.DB.Close())
	}
	return errors.Join(append(errs, f.Lock.Unlock())...)
}

func (f *Folder) readArrivals() (recordTimes, error) {
	return readArrivals(f.o.Config.Data, f.Instance, journal.ReadNote(f.JournalDir()))
}

// OpenArrivals starts recording the times of records. It is called after the replay.
func (f *Folder) OpenArrivals() *Arrivals {
	a := &Arrivals{
		path: filepath.Join(f.o.Config.Data, ArrivalsFile), instance: f.Instance,
		position: f.Journal.Last, noted: f.Journal.SetNote, written: f.OnTimes, log: f.o.Log.With("part", "clock"),
	}
	known, err := f.readArrivals()
	a.start(known, err, f.Last)
	f.arrivals = a
	return a
}

// CheckNoFile returns an error if the data folder is a file.
func CheckNoFile(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, not a folder; name a folder with --data", dir)
	}
	return nil
}

// Batches calls each with the rows that are still in the journal, except those of removed customers, which may have been erased.
func (f *Folder) Batches(each func(*belfry.Batch) error) error {
	removed := map[belfry.CustomerID]bool{}
	for _, r := range f.Tree.Access().Removals() {
		removed[r.Customer] = true
	}
	return f.Journal.Replay(0, func(pos belfry.Position, payload []byte) error {
		r, err := belfry.DecodeRecord(payload)
		if err != nil { // reported by Replay
			return nil
		}
		r.SetPos(pos)
		for _, b := range r.Batches {
			if removed[b.Customer] {
				continue
			}
			if err := each(b); err != nil {
				return err
			}
		}
		return nil
	})
}
