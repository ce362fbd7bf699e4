package duck

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/folder"
)

// Keep makes the store accept rows of time t although their period has been dropped. It is for a clock that is far
// behind: rows that arrive then are acknowledged, and must be kept as long as others that arrive now, which is the
// right time if it is known. It does nothing for times after the watermark.
func (s *Store) Keep(c *catalog.Collection, t, now belfry.Time) (added bool, err error) {
	p := c.PeriodOf(t)
	if p.From >= s.marks.At(c.Name) {
		return false, nil
	}
	added, version, err := s.kept.Add(s.cfg.Dir, c, p, now)
	if err == nil {
		err = s.files.noteKept(c, version)
	}
	if err != nil {
		return false, fmt.Errorf("keep rows of %s of %s: %w", c.Name, p.From, err)
	}
	return added, nil
}

// stores reports whether rows of a period are stored.
func (s *Store) stores(c *catalog.Collection, p belfry.Span) bool {
	return p.From >= s.marks.At(c.Name) || s.kept.Has(c, p)
}

// forgetKept removes the periods of a collection that are no longer kept.
func (s *Store) forgetKept(c *catalog.Collection, t belfry.Time) error {
	version, err := s.kept.Forget(s.cfg.Dir, c, t)
	if err != nil {
		return err
	}
	return s.files.noteKept(c, version)
}

// loadKept reads the watermarks and the lists of periods that are kept below them.
func (s *Store) loadKept(all []*catalog.Collection) {
	m := folder.ReadManifest(s.cfg.Dir)
	s.kept.Read(s.cfg.Dir, s.cfg.Instance, all, m)
	s.marks.Read(s.cfg.Dir, all)
	for name, why := range s.marks.Damaged() {
		s.cfg.Log.Error("a watermark is damaged and is not used", "file", filepath.Join(name, folder.WatermarkFile), "why", why)
	}
	s.kept.HoldUnlisted(s.cfg.Dir, all, m, &s.marks)
	for name, why := range s.kept.Damaged() {
		s.cfg.Log.Error("a list of days that are kept is damaged; nothing of the collection is deleted", "file", filepath.Join(name, folder.KeptFile), "why", why)
	}
}

// rebuildKept writes a new list for a held collection, which is then no longer held. Any file below the watermark may
// have rows that arrived lately, so all of them are kept as long as rows that arrive now. Without a watermark these are
// the files that a Drop up to mark would delete. The clock is right and write is held.
func (s *Store) rebuildKept(c *catalog.Collection, mark, t belfry.Time) error {
	below := s.marks.At(c.Name)
	if below == 0 {
		below = mark
	}
	if !s.kept.IsHeld(c) || below == 0 {
		return nil
	}
	if err := s.files.checkFolder(); err != nil {
		return err
	}
	version, err := s.kept.Rebuild(s.cfg.Dir, c, s.files.before(c, below), max(t, belfry.At(s.files.now()))+belfry.Day)
	if err == nil {
		err = s.files.noteKept(c, version)
	}
	if err != nil {
		return fmt.Errorf("write the list of days that are kept: %w", err)
	}
	s.cfg.Changed()
	return nil
}

// before returns the periods before t that have a file or are incomplete.
func (fs *files) before(c *catalog.Collection, t belfry.Time) (list []belfry.Span) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.byName[c.Name] {
		list = append(list, f.Span)
	}
	for _, l := range fs.lost[c.Name] {
		list = append(list, l.Span)
	}
	return slices.DeleteFunc(list, func(p belfry.Span) bool { return p.From >= t })
}

// noteKept records the version of the list of a collection in the manifest.
func (fs *files) noteKept(c *catalog.Collection, version uint64) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.manifest.NoteKept(c, version)
}

// dropped reports whether a start may delete the file of a period, because a Drop of it was interrupted. A watermark in
// the future may be right, as the clock may be behind; then the next Drop deletes the file.
func (s *Store) dropped(c *catalog.Collection, p belfry.Span) bool {
	return !s.stores(c, p) && s.marks.At(c.Name) <= belfry.At(time.Now())
}

// Oldest returns the start of the oldest period of a collection that can have rows: older ones have been dropped and
// are not stored again. While the watermark is damaged it is the oldest period that has a file, so that no one relies
// on rows that are gone.
func (s *Store) Oldest(collection string) belfry.Time {
	if _, bad := s.marks.Damaged()[collection]; !bad {
		return s.marks.At(collection)
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if list := s.files.byName[collection]; len(list) > 0 {
		return list[0].From
	}
	return 0
}

// Accepts returns the time before which rows of a collection are not stored.
func (s *Store) Accepts(collection string) belfry.Time { return s.marks.At(collection) }
