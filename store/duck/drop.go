package duck

import (
	"context"
	"errors"
	"fmt"
	"os"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
)

// Drop implements store.Store. A file that a query is reading is deleted when the query is done. A damaged list of kept
// periods is replaced first; with t of 0 that is all Drop does.
func (s *Store) Drop(ctx context.Context, c *catalog.Collection, t belfry.Time) error {
	release, err := s.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	if !c.Historical {
		return fmt.Errorf("drop rows of %s: it is not a historical collection", c.Name)
	}
	mark := c.PeriodOf(t).From
	if err := s.rebuildKept(c, mark, t); err != nil {
		return fmt.Errorf("drop rows of %s: %w", c.Name, err)
	}
	if mark <= s.marks.At(c.Name) {
		return nil
	}
	if d := s.trackers[c.Name]; d != nil { // no rows can be added now, as we hold write
		if err := s.finishSummaries(ctx, d, mark); err != nil {
			return fmt.Errorf("drop rows of %s: summarise them first: %w", c.Name, err)
		}
	}
	if err := s.files.checkFolder(); err != nil {
		return fmt.Errorf("drop rows of %s: %w", c.Name, err)
	}
	goes := func(p belfry.Span) bool { return p.To <= mark && !s.kept.Until(c, p, t) }
	rows := s.count(ctx, c, goes)
	wasDamaged, err := s.marks.Set(c, mark)
	if err != nil {
		return fmt.Errorf("drop rows of %s: %w", c.Name, err)
	}
	if wasDamaged {
		s.cfg.Changed()
	}
	s.expired.Add(rows)
	err = s.files.drop(c, goes)
	if err == nil {
		err = s.forgetKept(c, t)
	}
	if err != nil {
		return fmt.Errorf("drop rows of %s: %w", c.Name, err)
	}
	return nil
}

// count returns the number of rows in the given periods, without padding. A file that cannot be read counts as empty:
// its rows were missing before.
func (s *Store) count(ctx context.Context, c *catalog.Collection, of func(belfry.Span) bool) (rows uint64) {
	if s.cfg.Catalog.Collection(c.Name) == nil { // summaries, and collections that queries cannot see
		return 0
	}
	for _, p := range s.files.periods(c, 0, folder.EndOfTime) {
		if !of(p) {
			continue
		}
		files, err := s.files.acquire(ctx, c, p.From, p.From)
		if err != nil {
			continue
		}
		for _, f := range files {
			if n, err := s.writer.Number(ctx, "SELECT count(customer) FROM "+f.ref()); err == nil {
				rows += n
			}
		}
		s.files.release(files)
	}
	return rows
}

// drop removes the files of some periods of a collection; files in use are removed when they are released.
func (fs *files) drop(c *catalog.Collection, goes func(belfry.Span) bool) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var stay, gone []*file
	for _, f := range fs.byName[c.Name] {
		if goes(f.Span) {
			gone = append(gone, f)
		} else {
			stay = append(stay, f)
		}
	}
	fs.byName[c.Name] = stay
	errs := fs.dropLost(c, goes)
	for _, f := range gone {
		f.doomed = true
		fs.itemListBytes -= f.items.list.Size()
		f.items.list = nil
		if f.refs == 0 {
			errs = append(errs, fs.remove(f))
		}
	}
	return errors.Join(errs...)
}

func (fs *files) remove(f *file) error {
	fs.detach(f) // an error no longer matters
	if f.loss != nil && f.loss.unreadable != nil {
		return nil // it keeps its name
	}
	if f.loss != nil {
		return fs.moveAside(f)
	}
	return errors.Join(unlink(f.path), fs.manifest.Remove(f.key()))
}

// dropLost forgets incomplete days of some periods and deletes what was kept of them.
func (fs *files) dropLost(c *catalog.Collection, goes func(belfry.Span) bool) (errs []error) {
	var left []*loss
	for _, l := range fs.lost[c.Name] {
		if !goes(l.Span) || l.leaving != nil {
			left = append(left, l)
			continue
		}
		if l.unreadable != nil {
			errs = append(errs, unlink(l.marker), fs.manifest.Remove(folder.ManifestKey(l.collection, l.Span)))
			continue
		}
		errs = append(errs, l.unlink())
	}
	fs.lost[c.Name] = left
	fs.onChange()
	return errs
}

// unlink deletes what was kept of an incomplete day.
func (l *loss) unlink() error {
	if err := os.RemoveAll(l.marker + ".wal"); err != nil {
		return err
	}
	return os.RemoveAll(l.marker)
}

// unlink removes a database file and what is kept beside it.
func unlink(path string) error {
	var errs []error
	for _, suffix := range []string{index.Suffix, itemSuffix} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, folder.Unlink(path))...)
}
