package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
	"belfry/store"
	"belfry/store/duck/damage"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
)

// loss is an incomplete day (or month, if a file has a month). The mutex of files guards its fields.
type loss struct {
	belfry.Span
	collection *catalog.Collection
	marker     string // path of the renamed file, or of the note that one is missing
	since      time.Time
	why        string
	shortened  bool          // the file exists, but has lost its last rows
	restored   bool          // what the journal has of the day has been stored
	unreadable *damage.Retry // set if the file keeps its name because it only cannot be read for now; marker is its path
	leaving    *file         // the damaged file while it is in use under its old name; nil: it has moved
}

// errLost means that a file was found damaged or gone, and that its day is now listed as incomplete.
var errLost = errors.New("a file of rows is damaged or gone")

// Incomplete returns the days whose rows cannot be read.
func (s *Store) Incomplete() []store.Incomplete {
	fs := s.files
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var list []store.Incomplete
	for _, days := range fs.lost {
		for _, l := range days {
			list = append(list, store.Incomplete{Collection: l.collection.Name, Day: l.name(), Since: l.since, Message: l.message()})
		}
	}
	slices.SortFunc(list, func(a, b store.Incomplete) int { return strings.Compare(a.Collection+a.Day, b.Collection+b.Day) })
	return list
}

func (l *loss) name() string { return l.From.Std().Format(folder.Layout(l.collection)) }

// kept reports whether the damaged file was kept.
func (l *loss) kept() bool { return strings.Contains(filepath.Base(l.marker), folder.DamagedMark) }

func (l *loss) message() string {
	if l.unreadable != nil {
		return l.unreadableMessage()
	}
	what := "its file was damaged (" + l.why + ") and is kept as "
	if !l.kept() {
		what = "its file " + l.why + "; this is noted in "
	}
	return fmt.Sprintf("rows of %s of %s cannot be read: %s%s; belfry verify says what to do",
		l.collection.Name, l.name(), what, filepath.Join(l.collection.Name, filepath.Base(l.marker)))
}

// lossAt returns an incomplete day; the last one if several files of it were damaged. The mutex is held.
func (fs *files) lossAt(c *catalog.Collection, p belfry.Span) *loss {
	for _, l := range slices.Backward(fs.lost[c.Name]) {
		if l.From == p.From {
			return l
		}
	}
	return nil
}

// losses returns how often a day was found incomplete, so that a caller that failed knows whether to try again without
// it.
func (fs *files) losses() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.lossCount
}

// lose adds an incomplete day. The mutex is held.
func (fs *files) lose(l *loss) {
	fs.lossCount++
	fs.lost[l.collection.Name] = append(fs.lost[l.collection.Name], l)
	fs.onChange()
}

// setAside takes a file out of use because it is damaged or gone. It is moved once no one uses it. The mutex is held.
func (fs *files) setAside(f *file, why string) {
	if f.doomed {
		return
	}
	fs.log.Error("a file of rows is damaged and set aside", "file", f.path, "why", why)
	fs.unlist(f)
	fs.loseFile(f, why)
	if f.refs == 0 {
		if err := fs.remove(f); err != nil {
			fs.log.Error("a damaged file of rows could not be moved", "file", f.path, "err", err)
		}
	}
}

// loseFile records that the day of a file is incomplete until the file is back. The mutex is held.
func (fs *files) loseFile(f *file, why string) {
	now := fs.now().UTC().Truncate(time.Second)
	f.doomed = true
	f.loss = &loss{Span: f.Span, collection: f.collection, marker: folder.FreeMarker(f.path+folder.DamagedMark, now), since: now, why: why, leaving: f}
	fs.lose(f.loss)
	fs.onLoss(f)
}

// moveAside renames a detached file that was set aside. The log goes first: without the file it is never read.
func (fs *files) moveAside(f *file) error {
	l := f.loss
	aside := l.marker
	damage.RemoveOdd(f.path, f.path+".wal")
	if _, err := os.Lstat(f.path); errors.Is(err, os.ErrNotExist) {
		note := strings.Replace(aside, folder.DamagedMark, folder.MissingMark, 1)
		if err := folder.WriteNote(note, l.why); err != nil {
			return err
		}
		l.marker = note
	}
	for _, suffix := range []string{".wal", ""} {
		if err := os.Rename(f.path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, suffix := range []string{index.Suffix, itemSuffix} { // they are built again from rows
		_ = os.Remove(f.path + suffix)
	}
	if err := journal.SyncDir(filepath.Dir(f.path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l.leaving = nil
	fs.freed.Broadcast()
	fs.onChange()
	return fs.manifest.Remove(f.key())
}

// loseRows records that a readable file has lost its last rows. The mutex is held.
func (fs *files) loseRows(f *file, had belfry.Position) error {
	now := fs.now().UTC().Truncate(time.Second)
	l := &loss{
		Span: f.Span, collection: f.collection, shortened: true, since: now, marker: folder.FreeMarker(f.path+folder.MissingMark, now),
		why: fmt.Sprintf("has lost its last rows (it ends at position %d and had %d)", f.pos, had),
	}
	fs.log.Error("a file of rows has lost its last rows", "file", f.path, "position", f.pos, "had", had)
	if err := folder.WriteNote(l.marker, l.why); err != nil {
		return err
	}
	fs.lose(l)
	fs.onLoss(f)
	return fs.manifest.Note(map[string]uint64{f.key(): uint64(f.pos)}, 0)
}

// waitMovedAside waits until a damaged file of the period has been moved, so that its name is free. The mutex is held.
func (fs *files) waitMovedAside(ctx context.Context, c *catalog.Collection, p belfry.Span) error {
	defer fs.wakeAfter(ctx)()
	for {
		l := fs.lossAt(c, p)
		if l == nil || l.leaving == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.leaving.refs == 0 { // an earlier attempt to move it failed
			if err := fs.remove(l.leaving); err != nil {
				return fmt.Errorf("set %s aside: %w", l.leaving.path, err)
			}
			continue
		}
		fs.freed.Wait()
	}
}

// isLeaving reports whether a damaged file of the period is still in use.
func (fs *files) isLeaving(c *catalog.Collection, p belfry.Span) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	l := fs.lossAt(c, p)
	return l != nil && l.leaving != nil && l.leaving.refs > 0
}

// isLost reports whether a day is incomplete.
func (fs *files) isLost(c *catalog.Collection, p belfry.Span) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.lossAt(c, p) != nil
}

// lostIn returns the incomplete days that overlap the span, oldest first.
func (fs *files) lostIn(c *catalog.Collection, from, to belfry.Time) []belfry.Span {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var list []belfry.Span
	for _, l := range fs.lost[c.Name] {
		if l.Overlaps(from, to) {
			list = append(list, l.Span)
		}
	}
	slices.SortFunc(list, func(a, b belfry.Span) int { return int(min(max(a.From-b.From, -1), 1)) })
	return slices.Compact(list)
}

// unrestored returns the incomplete days for which the journal has not been read yet.
func (fs *files) unrestored() (list []*loss) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, days := range fs.lost {
		for _, l := range days {
			if !l.restored && l.leaving == nil {
				list = append(list, l)
			}
		}
	}
	return list
}

// Watch detects outside changes to the folder: files that were deleted or replaced, and markers that an operator has
// removed. It also brings the manifest up to date.
func (s *Store) Watch() error {
	if s.marks.ClearRemoved() {
		s.cfg.Changed()
	}
	fs := s.files
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.owner.Check(); err != nil {
		return err
	}
	if err := fs.repairManifest(); err != nil {
		return err
	}
	for _, list := range fs.byName {
		for _, f := range slices.Clone(list) {
			fs.checkFile(f)
			fs.checkLog(f, false)
		}
	}
	for _, days := range fs.lost {
		for _, l := range slices.Clone(days) {
			if _, err := os.Lstat(l.marker); l.leaving == nil && l.unreadable == nil && errors.Is(err, os.ErrNotExist) {
				fs.forgetLoss(l)
			}
		}
	}
	return fs.manifest.Note(fs.reached(), 0)
}

// forgetLoss ends an incomplete day: it is complete, or its rows are no longer expected. A file that was put back is
// used. The mutex is held.
func (fs *files) forgetLoss(l *loss) {
	f := fs.newFile(l.collection, l.Span)
	if _, known := fs.find(l.collection, l.Span); known == nil {
		if _, err := os.Stat(f.path); err == nil {
			fs.insert(f)
		}
	}
	fs.removeLoss(l)
}

// checkFile checks that a file still exists and is the one that is attached. The mutex is held.
func (fs *files) checkFile(f *file) {
	info, err := os.Stat(f.path)
	fs.noteForeign(f)
	switch {
	case errors.Is(err, os.ErrNotExist) && fs.owner.Check() == nil:
		fs.setAside(f, reasonDeleted)
	case err == nil && f.alias != "" && !f.stale && (!os.SameFile(info, f.inode) || f.foreign):
		fs.replaced(f)
	}
}

// replaced makes sure that a file is attached again before it is used. The mutex is held.
func (fs *files) replaced(f *file) {
	f.stale = true
	fs.onLoss(f) // it may have other rows
	if f.refs == 0 {
		fs.detach(f)
	}
}

const reasonDeleted = "was deleted"
