package folder

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"belfry"
	"belfry/journal"
)

// Positions, item ids and row ids must never be used twice: a row at a position that its file already has is taken for stored, so is
// a row with the id of another one, and an item with the id of another one gets its history. When a part of the instance is older than another one,
// both continue far behind everything that can have been used.
const (
	skipSegments = 1 << 20 // 64 TiB of journal
	skipItems    = 1 << 32
	// skipLost is for items of records that the journal has lost but the row store has.
	skipLost = 1 << 20
	skipRows = 1 << 32
)

// openJournal opens the journal with everything that is still in it: the database has told how far it has come, but the
// row store knows that for each of its files alone.
func (f *Folder) openJournal(ctx context.Context) error {
	o := f.journalOptions()
	if f.accepted[LossJournal] {
		o.After = belfry.PositionOf(max(f.Stored, f.noted).Epoch()+skipSegments, 0)
		if err := f.skipItems(ctx, o.After, skipItems); err != nil {
			return err
		}
		f.Stored = o.After
	}
	if err := f.reopenJournal(o); err != nil {
		return err
	}
	e := f.evidence()
	if why := e.older(0); why != "" {
		return f.olderMetadata(ctx, o, why)
	}
	f.gaps = append(f.gaps, e.gaps()...)
	if _, _, next := f.Journal.Bounds(); next <= e.known() { // its positions must not be used a second time
		o.Next = e.known().Epoch() + 1
		return f.reopenJournal(o)
	}
	return nil
}

func (f *Folder) evidence() *evidence {
	return &evidence{f.Journal, f.Stored, f.Moved, f.noted, f.accepted}
}

// JournalDir is the folder of the journal.
func (f *Folder) JournalDir() string { return filepath.Join(f.o.Config.Data, "journal") }

func (f *Folder) journalOptions() journal.Options {
	return journal.Options{
		Log: f.o.Log.With("part", "journal"), SegmentSize: segmentSize(Existing(f.JournalDir())), Guard: f.Lock.Check, Failed: f.OnAppend, Marked: f.OnNote,
	}
}

func (f *Folder) reopenJournal(o journal.Options) (err error) {
	if f.Journal != nil {
		if err := f.Journal.Close(); err != nil {
			return err
		}
	}
	f.Journal, err = journal.Open(f.JournalDir(), o)
	return err
}

// olderMetadata refuses to start with metadata that lack records which other parts have, unless that has been accepted.
// Then positions and item ids continue above all that may have been used.
func (f *Folder) olderMetadata(ctx context.Context, o journal.Options, why string) error {
	if !slices.Contains(f.o.AcceptLoss, LossMetadata) {
		return fmt.Errorf("%s. Restore all parts of the data from the same backup. To go on without what was created or changed in between, "+
			"whose rows will have no names, start once with --accept-loss=%s", why, LossMetadata)
	}
	_, _, next := f.Journal.Bounds()
	o.Next = next.Epoch() + skipSegments
	if err := f.skipItems(ctx, 0, skipItems); err != nil {
		return err
	}
	told := why + "; started all the same, as --accept-loss=" + LossMetadata + " was given"
	f.accepted[LossMetadata], f.Notices = true, append(f.Notices, told)
	f.o.Log.Warn(told)
	return f.reopenJournal(o)
}

// skipItems leaves out item ids, and positions up to pos.
func (f *Folder) skipItems(ctx context.Context, pos belfry.Position, n belfry.ID) error {
	f.skipped = true
	return f.DB.SkipTo(ctx, pos, f.Tree.Recovery().SkipIDs(n))
}

// skipRows leaves out row ids of all customers, once everything that is left has been replayed.
func (f *Folder) skipRows(ctx context.Context) error {
	return f.DB.SkipRows(ctx, f.Tree.Recovery().SkipRows(skipRows))
}

// CheckRows compares how far the rows have come with the journal, before anything is replayed.
func (f *Folder) CheckRows(ctx context.Context, rows belfry.Position) error {
	if f.accepted[LossMetadata] || f.accepted[LossJournal] {
		return nil
	}
	e := f.evidence()
	if why := e.older(rows); why != "" {
		return f.olderMetadata(ctx, f.journalOptions(), why)
	}
	f.gaps = append(f.gaps, e.end(rows, "the rows")...)
	_, reached, _ := f.Journal.Bounds()
	if rows > reached && rows > f.Stored {
		f.o.Log.Warn("the row store has records that the journal has lost; item ids are left out", "rows", rows, "journal", reached)
		return f.skipItems(ctx, 0, skipLost)
	}
	return nil
}
