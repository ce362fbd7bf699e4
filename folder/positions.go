package folder

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"belfry"
	"belfry/journal"
)

// Positions, item ids and row ids must never be reused: a row at a position that its file already has counts as stored, as does a
// row with the id of another, and an item with the id of another one would get its history. If one part of an instance is older
// than another, all three continue far above everything that may be in use.
const (
	skipSegments = 1 << 20 // 64 TiB of journal
	skipItems    = 1 << 32
	// skipLost is for items whose records the journal has lost but the row store has.
	skipLost = 1 << 20
	skipRows = 1 << 32
)

// openJournal opens the journal with everything that is still in it. The start position of the metadata alone would not do: the
// row store has a position for each of its files.
func (f *Folder) openJournal(ctx context.Context) error {
	o := f.journalOptions()
	if f.accepted[LossJournal] {
		if err := f.lostBetween(); err != nil {
			return err
		}
		o.After = belfry.PositionOf(max(f.Stored, f.noted).Epoch()+skipSegments, 0)
		if err := f.skipItems(ctx, o.After, skipItems); err != nil {
			return err
		}
		f.Stored = o.After
	}
	if err := f.reopenJournal(o); err != nil {
		if !errors.Is(err, journal.ErrBranch) || f.accepted[LossJournal] || f.accepted[LossBranches] {
			return err
		}
		if err := f.otherJournal(ctx, err); err != nil {
			return err
		}
		return f.openJournal(ctx)
	}
	e := f.evidence()
	rows := belfry.Position(0) // CheckRows knows better how far they have come, if they may be opened
	if f.otherRows != nil && f.continued() {
		rows = f.rows.Reached
	}
	if why := e.older(rows); why != "" {
		return f.olderMetadata(ctx, o, why)
	}
	if f.otherRows != nil {
		return f.otherRows
	}
	f.gaps = append(f.gaps, e.gaps()...)
	if _, _, next := f.Journal.Bounds(); next <= e.known() { // positions must not be reused
		o.Next = e.known().Epoch() + 1
		return f.reopenJournal(o)
	}
	return nil
}

// giveUp notes that the records before the journal are not looked for any more, if a loss was accepted: the next start, and a backup, would
// report them as lost again.
func (f *Folder) giveUp(ctx context.Context) error {
	if !f.AcceptedLoss() {
		return nil
	}
	pos, _, _ := f.Journal.Bounds()
	if f.accepted[LossJournal] {
		pos = max(pos, f.Journal.Last())
	}
	f.Moved = max(f.Moved, pos)
	if f.accepted[LossMetadata] {
		pos = max(pos, f.rows.Moved)
	}
	return f.DB.MarkRows(ctx, pos)
}

// AcceptedLoss reports whether the loss of records was accepted at this start. The row store must note the position Moved then.
func (f *Folder) AcceptedLoss() bool {
	return f.accepted[LossJournal] || f.accepted[LossRows] || f.accepted[LossMetadata]
}

// lostBetween is for a journal that is lost: it had what the rows or the metadata lack of each other. Rows that are older than the metadata are
// a loss like that of records; metadata that are older than the rows must be accepted, too.
func (f *Folder) lostBetween() error {
	if f.rows.Reached > f.Stored && !slices.Contains(f.o.AcceptLoss, LossMetadata) {
		return fmt.Errorf("the rows have the records up to %s, the metadata those up to %s, and the journal is lost that had the changes in between. Restore all parts of the data from the same backup. "+
			"To continue without these changes, whose rows may have no names, start once with %s", f.rows.Reached, f.Stored, f.accepting(LossMetadata))
	}
	if f.rows.Moved > 0 && f.rows.Moved < f.noted {
		why := fmt.Sprintf("the row store has the records up to %s, the metadata say %s, and the journal is lost", f.rows.Moved, f.noted)
		f.gaps = append(f.gaps, gap{from: f.rows.Moved + 1, to: f.noted, why: why})
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
		Branches: f.Branches, Log: f.o.Log.With("part", "journal"), SegmentSize: segmentSize(Existing(f.JournalDir())), Guard: f.Lock.Check, Failed: f.OnAppend, Marked: f.OnNote,
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

// olderMetadata returns an error if the metadata lack records that other parts have, unless that was accepted. Then positions and
// item ids continue above everything that may be in use.
func (f *Folder) olderMetadata(ctx context.Context, o journal.Options, why string) error {
	if !slices.Contains(f.o.AcceptLoss, LossMetadata) {
		return fmt.Errorf("%s. Restore all parts of the data from the same backup. To continue without the changes in between, "+
			"whose rows will have no names, start once with %s", why, f.accepting(LossMetadata))
	}
	_, _, next := f.Journal.Bounds()
	o.Next = next.Epoch() + skipSegments
	if err := f.skipItems(ctx, 0, skipItems); err != nil {
		return err
	}
	notice := why + "; started anyway, because --accept-loss=" + LossMetadata + " was given"
	f.accepted[LossMetadata] = true
	f.notice(notice)
	return f.reopenJournal(o)
}

// skipItems skips n item ids, and positions up to pos.
func (f *Folder) skipItems(ctx context.Context, pos belfry.Position, n belfry.ID) error {
	f.skipped = true
	return f.DB.SkipTo(ctx, pos, f.Tree.Recovery().SkipIDs(n))
}

// skipRows skips row ids of all customers, once the rest has been replayed.
func (f *Folder) skipRows(ctx context.Context) error {
	return f.DB.SkipRows(ctx, f.Tree.Recovery().SkipRows(skipRows))
}

// CheckRows compares the position of the rows with the journal before the replay.
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
		f.o.Log.Warn("the row store has records that the journal has lost; item ids are skipped", "rows", rows, "journal", reached)
		return f.skipItems(ctx, 0, skipLost)
	}
	if f.HasGaps() {
		return nil
	}
	return f.endBranch(ctx)
}
