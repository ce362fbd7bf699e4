package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/accounts"
	"belfry/engine"
	"belfry/journal"
	"belfry/meta"
)

// core is what exists and the journal in which it changes: all that the commands need, and the ground on which the
// service stands.
type core struct {
	Options
	cfg      atomic.Pointer[Config] // the one in force
	limits   atomic.Pointer[engine.Limits]
	lock     *journal.Lock
	db       *meta.DB
	tree     *meta.Tree
	journal  *journal.Journal
	stored   belfry.Position                     // position of the database when it was opened
	instance string                              // the id that all parts have
	moved    belfry.Position                     // position of the row store, as far as that was known then
	noted    belfry.Position                     // the same as the metadata had it
	oldest   func(collection string) belfry.Time // what the row store has not dropped; nil without one
	damage   []string
	last     belfry.Time // of the newest record in the journal
	arrivals *arrivals
	url      string      // of the web interface; empty while the service does not run
	wrote    func(error) // told how appends to the journal end; nil for none
	timed    func(error) // told whether the times of records can be noted; nil for none
	marked   func(error) // told whether the end of the journal is noted; nil for none

	accepted map[string]bool // parts whose loss has been accepted at this start
	told     []string        // texts of events about it
	gaps     []gap           // positions that the journal has lost
	losses   []loss          // what is known about them, also from earlier starts
	skipped  bool            // ids may be in use of which nothing is known
}

// lockCore takes the data folder.
func lockCore(o Options) (*core, error) {
	dir := o.Config.Data
	if err := checkNoFile(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, explainLock(fmt.Errorf("make data folder: %w", err))
	}
	if err := checkKinds(o.Config); err != nil {
		return nil, err
	}
	c := &core{Options: o, accepted: map[string]bool{}}
	c.use(o.Config)
	var err error
	if c.lock, err = journal.LockDir(dir); err != nil {
		return nil, explainLock(err)
	}
	makePrivate(o.Config, o.Log)
	if _, err := journal.Format(dir); err != nil {
		return nil, errors.Join(err, c.lock.Unlock())
	}
	return c, nil
}

// explainLock says what to do when the folder may not be written to.
func explainLock(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; run this as a user who may write there, or choose another folder with --data", err)
	}
	return err
}

// open reads what exists, as the database has it, and opens the journal. What is in the journal alone comes by replay.
func (c *core) open(ctx context.Context) (err error) {
	if err := c.identify(ctx); err != nil {
		return err
	}
	if c.stored, err = c.db.Position(ctx); err != nil {
		return err
	}
	if c.noted, err = c.db.RowsPosition(ctx); err != nil {
		return err
	}
	c.moved = c.rowsPosition()
	if c.tree, err = meta.LoadTree(ctx, c.db, c.Catalog); err != nil {
		return err
	}
	return c.openJournal(ctx)
}

// rowsPosition is the position up to which all records are in the row store. The metadata have noted it, and the row store
// itself: a folder of rows that somebody has put back may be older than what the metadata say.
func (c *core) rowsPosition() belfry.Position {
	pos := movedIn(c.cfg.Load(), c.noted)
	if pos < c.noted {
		c.Log.Warn("the row store has fewer records than the metadata say; those that the journal has are stored again", "rows", pos, "metadata", c.noted)
	}
	return pos
}

// movedIn is the position that the row store itself has noted; at most the given one, which is what the metadata say.
func movedIn(cfg *Config, noted belfry.Position) belfry.Position {
	if own, known := rowsMoved(cfg); known {
		return min(own, noted)
	}
	return noted
}

// explainMetadata says of an error at the start that it comes from damaged metadata, if that is so, and what to do.
func (c *core) explainMetadata(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	path := c.cfg.Load().inside(c.cfg.Load().Meta.SQLite.Path)
	found := err
	if !meta.Damaged(err) {
		if found = meta.Verify(ctx, path); !meta.Damaged(found) {
			return err
		}
	}
	if found != err {
		found = fmt.Errorf("%w; %w", err, found)
	}
	return fmt.Errorf("the metadata %s are damaged: %w. Restore the file from a backup and remove %[1]s-wal and %[1]s-shm; the start brings in what the journal has of later changes. "+
		"belfry verify --data %[3]s lists everything that is wrong, and docs/guide/damage.md says what to do", path, found, c.cfg.Load().Data)
}

// segmentSize is smaller on a small disk: a segment is allocated whole, and must fit where the disk watch sees room.
func segmentSize(dir string) int64 {
	_, total, err := freeSpace(dir)
	if err != nil {
		return journal.DefaultSegmentSize
	}
	return min(journal.DefaultSegmentSize, max(1<<20, total/32))
}

// replay brings the tree up to date and hands every record that is still in the journal to each. A record that cannot
// be understood is lost, as a damaged one is; it is told, and the rest counts.
func (c *core) replay(ctx context.Context, each func(r *belfry.Record, fresh bool) error) error {
	records, news := 0, 0
	start := time.Now()
	times, _ := c.readArrivals() // without it all times count
	finder, e := newLossFinder(c.gaps, earliestLoss(c.cfg.Load().Data, times), times), c.evidence()
	err := c.journal.Replay(0, func(pos belfry.Position, payload []byte) error {
		r, err := belfry.DecodeRecord(payload)
		if err != nil {
			c.lost(pos, err)
			finder.insert(e.unused(pos))
			return nil
		}
		finder.record(pos, r.Time.Std())
		r.SetPos(pos)
		c.last = r.Time
		records++
		fresh := pos > c.stored
		if fresh {
			news++
			if err := c.tree.Replay(r); err != nil {
				c.lost(pos, err)
				finder.insert(e.unused(pos))
				fresh = false
			}
		}
		return each(r, fresh)
	})
	if err != nil {
		return fmt.Errorf("replay journal: %w", err)
	}
	if err := c.keepLosses(finder.rest(time.Now()), func() error { return c.skipRows(ctx) }); err != nil {
		return err
	}
	for _, d := range c.journal.Damaged() {
		text := d.String()
		if d.To != 0 && d.To <= min(c.stored, c.moved) {
			text += ", which the metadata and the rows have"
		}
		c.damage = append(c.damage, text)
	}
	if n := c.tree.Settled(); n > 0 {
		c.Log.Warn("items were removed because the records of their removal are lost", "items", n)
	}
	c.Log.Info("journal replayed", "records", records, "fresh", news, "dur", time.Since(start).Round(time.Millisecond))
	return nil
}

func (c *core) lost(pos belfry.Position, err error) {
	c.Log.Error("a record of the journal cannot be used", "pos", pos, "err", err)
	// Every customer reads this in an event, and the error may name something of one of them; the log has it.
	c.damage = append(c.damage, unusable(pos))
}

func unusable(pos belfry.Position) string { return "record " + pos.String() + " cannot be used" }

// close gives everything back, as far as it was opened.
func (c *core) close() error {
	var errs []error
	if c.journal != nil {
		errs = append(errs, c.journal.Close())
	}
	if c.db != nil {
		errs = append(errs, c.db.Close())
	}
	return errors.Join(append(errs, c.lock.Unlock())...)
}

func (c *core) readArrivals() (recordTimes, error) {
	return readArrivals(c.cfg.Load().Data, c.instance, journal.ReadNote(c.journalDir()))
}

// openArrivals takes note of the times of records, after the replay.
func (c *core) openArrivals() *arrivals {
	a := &arrivals{
		path: filepath.Join(c.cfg.Load().Data, arrivalsFile), instance: c.instance,
		position: c.journal.Last, noted: c.journal.SetNote, told: c.timed, log: c.Log.With("part", "clock"),
	}
	known, err := c.readArrivals()
	a.start(known, err, c.last)
	return a
}

// sequencer makes the sequencer over this core, after the replay.
func (c *core) sequencer(f engine.Config) *engine.Sequencer {
	f.Tree, f.Journal, f.Limits = c.tree, c.journal, c.engineLimits
	f.Last, f.Log = c.last, c.Log.With("part", "engine")
	if f.Now == nil {
		f.Now = time.Now
	}
	c.arrivals = c.openArrivals()
	f.Arrives = c.arrivals.arrive
	if f.Zone, _ = c.cfg.Load().Zone(); f.Zone == nil { // a wrong one is refused before it gets here
		f.Zone = time.Local
	}
	return engine.New(f)
}

// newAccounts makes the accounts over this core. Sessions expire by the clock expiry; nil: that of the sequencer.
func (c *core) newAccounts(seq *engine.Sequencer, expiry func() time.Time) *accounts.Accounts {
	return accounts.New(accounts.Config{
		Engine: seq, Log: c.Log.With("part", "accounts"), Expiry: expiry,
		SessionAge: func() time.Duration { return time.Duration(c.cfg.Load().Sessions.MaxAge) },
	})
}

// use makes a configuration the one in force.
func (c *core) use(cfg *Config) {
	c.cfg.Store(cfg)
	c.limits.Store(&engine.Limits{
		HeldRows: cfg.Limits.RowsHeld, HeldMemory: int64(cfg.Limits.MemoryHeld), ChunkBytes: c.ChunkBytes, Row: int(cfg.Limits.Row), Columns: cfg.Limits.Columns, Indicators: cfg.Limits.Indicators,
		Objects: cfg.Limits.Objects, Texts: int64(cfg.Limits.Texts), Items: int64(cfg.Limits.MemoryItems), Receivers: cfg.Limits.Receivers, Answers: cfg.Limits.IdempotencyKeys, Rate: cfg.Limits.RowRate, StrictClasses: cfg.StrictClasses,
		Retention: func(collection string) time.Duration { return time.Duration(cfg.Retention[collection]) },
		Oldest: func(collection string) belfry.Time {
			if c.oldest == nil {
				return 0
			}
			return c.oldest(collection)
		},
	})
}

func (c *core) engineLimits() engine.Limits { return *c.limits.Load() }

// bootstrap makes the first customer and its administrator, and shows the password unless it was chosen beforehand.
func (c *core) bootstrap(a *accounts.Accounts) error {
	if len(c.tree.Customers()) > 0 {
		return nil
	}
	password := c.AdminPassword
	if password == "" {
		password = accounts.NewPassword()
	}
	if err := a.Bootstrap(accounts.HashPassword(password)); err != nil {
		return fmt.Errorf("create the first customer: %w", err)
	}
	if c.AdminPassword == "" {
		announce(c.Console, c.url, accounts.AdminUser, password)
	}
	return nil
}
