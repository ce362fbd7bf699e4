// Package folder holds the data folder: which parts belong to it, what they must have, and what is lost if one of them is damaged, older
// than the others, or not there.
//
//	lock ─► Identify (the parts are of one instance) ─► Open (metadata, tree, journal) ─► Replay (the tree is up to date; losses are known)
//
// A start and Verify find losses with the same code, so they agree. The caller opens the row store; this package
// recognizes its files and gets its positions.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/config"
	"belfry/journal"
	"belfry/meta"
	"belfry/meta/sqlite"
)

// Options are what Lock needs.
type Options struct {
	Config     *config.Config
	Catalog    *catalog.Catalog
	Log        *slog.Logger
	RowFiles   []string // patterns of the files that the folder of the row store has if there are rows in it
	AcceptLoss []string // parts without which the folder opens all the same: LossJournal, LossRows or LossMetadata
}

// Folder is a data folder that this process has locked: what exists, and the journal in which it changes.
type Folder struct {
	o        Options
	Lock     *journal.Lock
	DB       *sqlite.DB
	Tree     *meta.Tree
	Journal  *journal.Journal
	Stored   belfry.Position // position of the database when it was opened
	Instance string          // the id that all parts have
	Moved    belfry.Position // position up to which all records are in the row store, as far as the metadata note it
	noted    belfry.Position // the same as the metadata had it
	Damage   []string        // what Replay has found
	Last     belfry.Time     // of the newest record in the journal
	OnAppend func(error)     // called with the outcome of each append to the journal; may be nil
	OnTimes  func(error)     // called when the times of records cannot be noted, and with nil when they can again; may be nil
	OnNote   func(error)     // called when the end of the journal cannot be noted, and with nil when it is; may be nil

	accepted map[string]bool // parts whose loss has been accepted at this start
	Notices  []string        // texts of events about it
	gaps     []gap           // positions that the journal has lost
	losses   []Loss          // what is known about them, also from earlier starts
	skipped  bool            // ids may be in use of which nothing is known
}

// Lock locks the data folder, which it makes if there is none.
func Lock(o Options) (*Folder, error) {
	dir := o.Config.Data
	if err := CheckNoFile(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, explainLock(fmt.Errorf("make data folder: %w", err))
	}
	if err := CheckKinds(o.Config); err != nil {
		return nil, err
	}
	f := &Folder{o: o, accepted: map[string]bool{}}
	var err error
	if f.Lock, err = journal.LockDir(dir); err != nil {
		return nil, explainLock(err)
	}
	makePrivate(o.Config, o.Log)
	if _, err := journal.Format(dir); err != nil {
		return nil, errors.Join(err, f.Lock.Unlock())
	}
	return f, nil
}

// Accepted reports whether the loss of a part has been accepted at this start.
func (f *Folder) Accepted(part string) bool { return f.accepted[part] }

// HasGaps reports whether records of the journal are lost.
func (f *Folder) HasGaps() bool { return len(f.gaps) > 0 }

// explainLock says what to do when the folder may not be written to.
func explainLock(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; run this as a user who may write there, or choose another folder with --data", err)
	}
	return err
}

// Open reads what exists, as the database has it, and opens the journal. What is in the journal alone comes by Replay. The row store
// has noted that it has the records up to rows, if that is known.
func (f *Folder) Open(ctx context.Context, rows belfry.Position, known bool) (err error) {
	if f.Stored, err = f.DB.Position(ctx); err != nil {
		return err
	}
	if f.noted, err = f.DB.RowsPosition(ctx); err != nil {
		return err
	}
	f.Moved = f.rowsPosition(rows, known)
	if f.Tree, err = meta.LoadTree(ctx, f.DB, f.o.Catalog); err != nil {
		return err
	}
	return f.openJournal(ctx)
}

// rowsPosition is the position up to which all records are in the row store. The metadata have noted it, and the row store
// itself: a folder of rows that somebody has put back may be older than what the metadata say.
func (f *Folder) rowsPosition(rows belfry.Position, known bool) belfry.Position {
	pos := movedIn(rows, known, f.noted)
	if pos < f.noted {
		f.o.Log.Warn("the row store has fewer records than the metadata say; those that the journal has are stored again", "rows", pos, "metadata", f.noted)
	}
	return pos
}

// movedIn is the position that the row store itself has noted; at most the given one, which is what the metadata say.
func movedIn(rows belfry.Position, known bool, noted belfry.Position) belfry.Position {
	if known {
		return min(rows, noted)
	}
	return noted
}

// ExplainMetadata says of an error at the start that it comes from damaged metadata, if that is so, and what to do.
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
	return fmt.Errorf("the metadata %s are damaged: %w. Restore the file from a backup and remove %[1]s-wal and %[1]s-shm; the start brings in what the journal has of later changes. "+
		"belfry verify --data %[3]s lists everything that is wrong, and docs/guide/damage.md says what to do", path, found, f.o.Config.Data)
}

// segmentSize is smaller on a small disk: a segment is allocated whole, and must fit where the disk watch sees room.
func segmentSize(dir string) int64 {
	_, total, err := FreeSpace(dir)
	if err != nil {
		return journal.DefaultSegmentSize
	}
	return min(journal.DefaultSegmentSize, max(1<<20, total/32))
}

// Replay brings the tree up to date and hands every record that is still in the journal to each. A record that cannot
// be understood is lost, as a damaged one is; it is told, and the rest counts.
func (f *Folder) Replay(ctx context.Context, each func(r *belfry.Record, fresh bool) error) error {
	records, news := 0, 0
	start := time.Now()
	times, _ := f.readArrivals() // without it all times count
	finder, e := newLossFinder(f.gaps, earliestLoss(f.o.Config.Data, times), times), f.evidence()
	err := f.Journal.Replay(0, func(pos belfry.Position, payload []byte) error {
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
	if err := f.keepLosses(finder.rest(time.Now()), func() error { return f.skipRows(ctx) }); err != nil {
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
		f.o.Log.Warn("items were removed because the records of their removal are lost", "items", n)
	}
	f.o.Log.Info("journal replayed", "records", records, "fresh", news, "dur", time.Since(start).Round(time.Millisecond))
	return nil
}

func (f *Folder) lost(pos belfry.Position, err error) {
	f.o.Log.Error("a record of the journal cannot be used", "pos", pos, "err", err)
	// Every customer reads this in an event, and the error may name something of one of them; the log has it.
	f.Damage = append(f.Damage, unusable(pos))
}

func unusable(pos belfry.Position) string { return "record " + pos.String() + " cannot be used" }

// Close closes what was opened, and unlocks the folder.
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

// OpenArrivals takes note of the times of records, after the replay.
func (f *Folder) OpenArrivals() *Arrivals {
	a := &Arrivals{
		path: filepath.Join(f.o.Config.Data, ArrivalsFile), instance: f.Instance,
		position: f.Journal.Last, noted: f.Journal.SetNote, written: f.OnTimes, log: f.o.Log.With("part", "clock"),
	}
	known, err := f.readArrivals()
	a.start(known, err, f.Last)
	return a
}

// CheckNoFile refuses a data folder that is a file.
func CheckNoFile(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, not a folder; give a folder with --data", dir)
	}
	return nil
}

// Batches calls each with the rows that are still in the journal, without those of removed customers, which may have been erased
// already.
func (f *Folder) Batches(each func(*belfry.Batch) error) error {
	removed := map[belfry.CustomerID]bool{}
	for _, r := range f.Tree.Access().Removals() {
		removed[r.Customer] = true
	}
	return f.Journal.Replay(0, func(pos belfry.Position, payload []byte) error {
		r, err := belfry.DecodeRecord(payload)
		if err != nil { // Replay has reported it
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
