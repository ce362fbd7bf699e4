package app

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
func (c *core) openJournal(ctx context.Context) error {
	o := c.journalOptions()
	if c.accepted[lossJournal] {
		o.After = belfry.PositionOf(max(c.stored, c.noted).Epoch()+skipSegments, 0)
		if err := c.skipItems(ctx, o.After, skipItems); err != nil {
			return err
		}
		c.stored = o.After
	}
	if err := c.reopenJournal(o); err != nil {
		return err
	}
	e := c.evidence()
	if why := e.older(0); why != "" {
		return c.olderMetadata(ctx, o, why)
	}
	c.gaps = append(c.gaps, e.gaps()...)
	if _, _, next := c.journal.Bounds(); next <= e.known() { // its positions must not be used a second time
		o.Next = e.known().Epoch() + 1
		return c.reopenJournal(o)
	}
	return nil
}

func (c *core) evidence() *evidence {
	return &evidence{c.journal, c.stored, c.moved, c.noted, c.accepted}
}

func (c *core) journalDir() string { return filepath.Join(c.cfg.Load().Data, "journal") }

func (c *core) journalOptions() journal.Options {
	return journal.Options{
		Log: c.Log.With("part", "journal"), SegmentSize: segmentSize(existing(c.journalDir())), Guard: c.lock.Check, Failed: c.wrote, Marked: c.marked,
	}
}

func (c *core) reopenJournal(o journal.Options) (err error) {
	if c.journal != nil {
		if err := c.journal.Close(); err != nil {
			return err
		}
	}
	c.journal, err = journal.Open(c.journalDir(), o)
	return err
}

// olderMetadata refuses to start with metadata that lack records which other parts have, unless that has been accepted.
// Then positions and item ids continue where nobody has been.
func (c *core) olderMetadata(ctx context.Context, o journal.Options, why string) error {
	if !slices.Contains(c.AcceptLoss, lossMetadata) {
		return fmt.Errorf("%s. Restore all parts of the data from the same backup. To go on without what was created or changed in between, "+
			"whose rows will have no names, start once with --accept-loss=%s", why, lossMetadata)
	}
	_, _, next := c.journal.Bounds()
	o.Next = next.Epoch() + skipSegments
	if err := c.skipItems(ctx, 0, skipItems); err != nil {
		return err
	}
	told := why + "; started all the same, as --accept-loss=" + lossMetadata + " was given"
	c.accepted[lossMetadata], c.told = true, append(c.told, told)
	c.Log.Warn(told)
	return c.reopenJournal(o)
}

// skipItems leaves out item ids, and positions up to pos.
func (c *core) skipItems(ctx context.Context, pos belfry.Position, n belfry.ID) error {
	c.skipped = true
	return c.db.SkipTo(ctx, pos, c.tree.SkipIDs(n))
}

// skipRows leaves out row ids of all customers, once everything that is left has been replayed.
func (c *core) skipRows(ctx context.Context) error {
	return c.db.SkipRows(ctx, c.tree.SkipRows(skipRows))
}

// checkRows compares how far the rows have come with the journal, before anything is replayed.
func (c *core) checkRows(ctx context.Context, rows belfry.Position) error {
	if c.accepted[lossMetadata] || c.accepted[lossJournal] {
		return nil
	}
	e := c.evidence()
	if why := e.older(rows); why != "" {
		return c.olderMetadata(ctx, c.journalOptions(), why)
	}
	c.gaps = append(c.gaps, e.end(rows, "the rows")...)
	_, reached, _ := c.journal.Bounds()
	if rows > reached && rows > c.stored {
		c.Log.Warn("the row store has records that the journal has lost; item ids are left out", "rows", rows, "journal", reached)
		return c.skipItems(ctx, 0, skipLost)
	}
	return nil
}
