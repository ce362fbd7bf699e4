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
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/rowwriter"
)

func (l *loss) unreadableMessage() string {
	name := filepath.Join(l.collection.Name, filepath.Base(l.marker))
	return fmt.Sprintf("rows of %s of %s cannot be read: %s: %s; %s. It is tried again by itself; rows of that day that come meanwhile are kept in %s%s",
		l.collection.Name, l.name(), l.marker, l.why, damage.Remedy(l.why), name, folder.LateSuffix)
}

// setUnreadable takes an unreadable file out of use until it can be read. The mutex is held.
func (fs *files) setUnreadable(f *file, why string) {
	if f.doomed {
		return
	}
	if f.late {
		fs.setAside(f, why) // a late file has no late file
		return
	}
	fs.log.Error("a file of rows cannot be read", "file", f.path, "why", why)
	fs.unlist(f)
	f.doomed = true
	f.loss = fs.addUnreadable(f, why)
	fs.onLoss(f)
	if f.refs == 0 {
		fs.detach(f)
	}
}

// unlist removes a file from the list. The mutex is held.
func (fs *files) unlist(f *file) {
	if i, known := fs.find(f.collection, f.Span); known == f {
		fs.byName[f.collection.Name] = slices.Delete(slices.Clone(fs.byName[f.collection.Name]), i, i+1)
	}
	fs.itemListBytes -= f.items.list.Size()
	f.items.list = nil
}

func (fs *files) addUnreadable(f *file, why string) *loss {
	l := &loss{
		Span: f.Span, collection: f.collection, marker: f.path, since: fs.now().UTC().Truncate(time.Second), why: why, restored: true,
		unreadable: damage.NewRetry(fs.now(), damage.FirstRetry),
	}
	fs.lose(l)
	return l
}

// unreadableAt returns the loss of a period whose file cannot be read for now. The mutex is held.
func (fs *files) unreadableAt(c *catalog.Collection, p belfry.Span) *loss {
	for _, l := range fs.lost[c.Name] {
		if l.From == p.From && l.unreadable != nil {
			return l
		}
	}
	return nil
}

// unreadableDays returns the paths of the files that cannot be read for now.
func (fs *files) unreadableDays() (paths []string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, days := range fs.lost {
		for _, l := range days {
			if l.unreadable != nil {
				paths = append(paths, l.marker)
			}
		}
	}
	return paths
}

// addLate adds the late files found at the start. If the day file no longer exists, the late file takes its place;
// checkManifest has reported that loss.
func (fs *files) addLate(found []*file) error {
	for _, late := range found {
		_, f := fs.find(late.collection, late.Span)
		if f != nil {
			fs.unlist(f)
			l := fs.addUnreadable(f, "rows that came while it could not be read wait in a second file")
			l.unreadable = damage.NewRetry(fs.now(), 0)
			fs.insert(late)
			continue
		}
		f = fs.newFile(late.collection, late.Span)
		for _, suffix := range []string{".wal", ""} {
			if err := os.Rename(late.path+suffix, f.path+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		if err := errors.Join(fs.manifest.Add(f.key()), fs.manifest.Remove(late.key())); err != nil {
			fs.log.Warn("the list of files of rows could not be written", "err", err)
		}
		fs.insert(f)
	}
	return nil
}

// tryAgain returns the days whose file is due to be tried again. The mutex is held.
func (fs *files) tryAgain() (list []*loss) {
	for _, days := range fs.lost {
		for _, l := range days {
			if l.unreadable != nil && l.unreadable.Due(fs.now()) {
				list = append(list, l)
			}
		}
	}
	return list
}

// probe reads the unreadable files that are due. That may take a while, so it does not hold the mutex meanwhile.
func (fs *files) probe() error {
	fs.mu.Lock()
	due := fs.tryAgain()
	fs.mu.Unlock()
	var errs []error
	for _, l := range due {
		err := damage.ReadThrough(l.marker)
		switch {
		case err == nil:
			fs.readable(l)
		case errors.Is(err, os.ErrNotExist):
			errs = append(errs, fs.markDeleted(l))
		default:
			fs.stillUnreadable(l, folder.Cause(err).Error())
		}
	}
	return errors.Join(errs...)
}

func (fs *files) readable(l *loss) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	l.unreadable.Ready = true
}

// retryUnreadable uses files again that have become readable. The caller holds write and engineMu.
func (s *Store) retryUnreadable(ctx context.Context) error {
	s.files.mu.Lock()
	ready := s.files.readyAgain()
	s.files.mu.Unlock()
	var errs []error
	for _, l := range ready {
		if err := s.reopenFile(ctx, l); err != nil {
			s.files.stillUnreadable(l, damage.ReasonAtOpen(l.marker, err))
			errs = append(errs, fmt.Errorf("use %s again: %w", l.marker, err))
		}
	}
	return errors.Join(errs...)
}

// readyAgain returns the days whose file can be read again. The mutex is held.
func (fs *files) readyAgain() (list []*loss) {
	for _, days := range fs.lost {
		for _, l := range days {
			if l.unreadable != nil && l.unreadable.Ready {
				list = append(list, l)
			}
		}
	}
	return list
}

func (fs *files) stillUnreadable(l *loss, why string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if l.unreadable == nil { // it turned out to be damaged
		return
	}
	l.why = why
	l.unreadable.Again(fs.now())
}

// markDeleted records that an unreadable file has been deleted. The late file continues as it is; the next start gives
// it the name of the day.
func (fs *files) markDeleted(l *loss) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.owner.Check(); err != nil {
		return err
	}
	fs.log.Error("a file of rows is gone", "file", l.marker)
	now := fs.now().UTC().Truncate(time.Second)
	note := folder.FreeMarker(l.marker+folder.MissingMark, now)
	if err := folder.WriteNote(note, reasonDeleted); err != nil {
		return err
	}
	key := l.collection.Name + "/" + filepath.Base(l.marker)
	l.marker, l.why, l.unreadable, l.restored = note, reasonDeleted, nil, false
	fs.onChange()
	return fs.manifest.Remove(key)
}

// reopenFile uses a file again that could not be read, and merges the rows of the late file into it. The caller holds
// write and engineMu.
func (s *Store) reopenFile(ctx context.Context, l *loss) error {
	d := s.trackerFor(l.collection)
	if d != nil {
		release, err := d.Acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	f, late, err := s.files.openBoth(ctx, l)
	if err != nil {
		return err
	}
	if late != nil {
		if err := s.merge(ctx, f, late, d != nil); err != nil {
			s.files.closeBoth(f, late)
			return err
		}
	}
	s.invalidateRows(f)
	if d != nil {
		d.ForgetMade(f.attached())
	}
	s.cfg.Log.Info("a file of rows can be read again", "file", f.path)
	return s.files.replaceLate(l, f, late)
}

// openBoth attaches the file of a day that could not be read, and the late file if there is one.
func (fs *files) openBoth(ctx context.Context, l *loss) (f, late *file, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f = &file{Span: l.Span, collection: l.collection, path: l.marker}
	if err := fs.attach(ctx, f); err != nil {
		if why := damage.AtOpen(f.path, err); why != "" && !errors.Is(err, errLost) {
			fs.markDamaged(l, f, why)
			return nil, nil, errLost
		}
		return nil, nil, err
	}
	f.refs++
	if _, late = fs.find(l.collection, l.Span); late != nil {
		if err := fs.use(ctx, late); err != nil {
			fs.releaseLocked([]*file{f})
			fs.detach(f)
			return nil, nil, err
		}
	}
	return f, late, nil
}

// markDamaged sets aside a file that can be read again but is damaged. The mutex is held.
func (fs *files) markDamaged(l *loss, f *file, why string) {
	fs.removeLoss(l)
	l.unreadable = nil
	fs.loseFile(f, why)
	if err := fs.moveAside(f); err != nil {
		fs.log.Error("a damaged file of rows could not be moved", "file", f.path, "err", err)
	}
}

func (fs *files) closeBoth(f, late *file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.releaseLocked([]*file{f, late})
	fs.detach(f)
}

// replaceLate puts the file in the place of the late one, which is removed once no one reads it.
func (fs *files) replaceLate(l *loss, f, late *file) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.removeLoss(l)
	if late != nil {
		fs.unlist(late)
		late.doomed = true
		fs.releaseLocked([]*file{late})
	}
	fs.insert(f)
	fs.releaseLocked([]*file{f})
	return fs.manifest.Note(fs.reached(), 0)
}

// removeLoss removes a day from the list of incomplete ones. The mutex is held.
func (fs *files) removeLoss(l *loss) {
	fs.lost[l.collection.Name] = slices.DeleteFunc(slices.Clone(fs.lost[l.collection.Name]), func(o *loss) bool { return o == l })
	fs.onChange()
}

// merge inserts the rows of late into f, in one transaction. Summaries in late replace those of the same time.
func (s *Store) merge(ctx context.Context, f, late *file, summaries bool) error {
	var cols []duckdb.Column
	for name, k := range late.kinds {
		cols = append(cols, duckdb.Column{Name: name, Kind: k})
	}
	slices.SortFunc(cols, func(a, b duckdb.Column) int { return strings.Compare(a.Name, b.Name) })
	s.files.countWrite(f)
	defer s.files.countWrite(f)
	f.fill = rowwriter.Fill{} // counted again at the next write
	pos := max(f.pos, late.pos)
	kinds, err := s.files.transact(ctx, s.writer, f, cols, func() error {
		for _, text := range rowfile.MergeTexts(f.alias, late.alias, summaries) {
			if err := s.writer.Exec(ctx, text); err != nil {
				return err
			}
		}
		return rowwriter.InsertPosition(ctx, s.writer, f.alias, pos)
	})
	if err != nil {
		return err
	}
	return s.files.wrote(f, pos, kinds)
}
