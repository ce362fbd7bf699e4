package duck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/copying"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/names"
)

// CopyFiles implements store.Copier. It copies
//
//	the manifest, as it is at the beginning, so that its positions are never ahead of the copies
//	the day files, late files and files of summaries
//	the names of removed items
//	instance, watermarks and lists of kept periods
//	notes about incomplete days, as they are at the end, so that a day that was lost meanwhile is not silently shorter
//
// Filters are left out, because they are built again. So are damaged files that were set aside: nothing can read them, and
// a note that their day is incomplete takes their place.
//
// Logs are not copied: each file is checkpointed first, and again if rows arrive before it is held.
func (s *Store) CopyFiles(ctx context.Context, each func(store.CopiedFile) error) error {
	if !s.copying.TryLock() {
		return fmt.Errorf("copy the files of %s: they are being copied already", s.cfg.Dir)
	}
	defer s.copying.Unlock()
	s.orderEnd.Lock()
	defer s.orderEnd.Unlock()
	if err := s.files.checkFolder(); err != nil {
		return fmt.Errorf("copy the files of %s: %w", s.cfg.Dir, err)
	}
	if err := errors.Join(s.Watch(), s.Mend(ctx)); err != nil { // files that this concerns are reported below
		s.cfg.Log.Warn("files of rows are copied although not all could be repaired", "err", err)
	}
	c := copyRun{store: s, each: each, seen: map[*file]bool{}}
	list := s.files.others(nil)
	if err := each(s.files.copiedManifest()); err != nil {
		return err
	}
	for ; len(list) > 0; list = s.files.others(c.seen) {
		for _, f := range list {
			c.seen[f] = true
			if err := c.file(ctx, f); err != nil {
				return err
			}
		}
	}
	if err := c.names(ctx); err != nil {
		return err
	}
	return c.notes()
}

// EstimateFiles implements store.Copier. A file with a log will be another one by then.
func (s *Store) EstimateFiles() (list []store.CopiedFile) {
	for _, f := range s.files.others(nil) {
		in, err := copying.Open(f.path)
		if err != nil {
			continue
		}
		about := in.Copied(f.key())
		if in.Close(); s.files.hasLog(f) {
			about.State = ""
		}
		list = append(list, about)
	}
	return list
}

// FileOf implements store.Copier.
func (s *Store) FileOf(name string) (collection, period string, ok bool) {
	collection, file, _ := strings.Cut(name, "/")
	c := s.cfg.Catalog.KeptAs(collection)
	if c == nil {
		return "", "", false
	}
	p, ok := folder.ParseFileName(c, strings.TrimSuffix(file, folder.LateSuffix))
	if !ok {
		return "", "", false
	}
	return c.Name, p.From.Std().Format(folder.Layout(c)), true
}

// copiedManifest returns the manifest as it is now.
func (fs *files) copiedManifest() store.CopiedFile {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.manifest.Fault; err != nil {
		return store.CopiedFile{Name: folder.ManifestFile, Err: err}
	}
	return copying.Text(folder.ManifestFile, fs.manifest.Text())
}

// others returns the files that have not been seen, in order of their names.
func (fs *files) others(seen map[*file]bool) (list []*file) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, days := range fs.byName {
		for _, f := range days {
			if !seen[f] {
				list = append(list, f)
			}
		}
	}
	slices.SortFunc(list, func(a, b *file) int { return strings.Compare(a.key(), b.key()) })
	return list
}

// copyRun is one run of CopyFiles.
type copyRun struct {
	store *Store
	each  func(store.CopiedFile) error
	seen  map[*file]bool
}

// copyTries is how often a file is copied that changes meanwhile. That is rare: only the rescue of a lost log and an
// engine that has to be replaced make a checkpoint of a file that is held.
const copyTries = 3

// file copies a database file of the list.
func (c *copyRun) file(ctx context.Context, f *file) error {
	used := func(blocks []uint64) bool { return c.store.uses(ctx, f, blocks) }
	return c.tries(ctx, f.key(), used, func() (*copying.File, error) { return c.store.hold(ctx, f) }, func(in *copying.File) error { return c.store.files.letGo(f, in) })
}

// uses reports whether a file has rows, or what describes them, in one of some blocks. If that cannot be found out, it has.
func (s *Store) uses(ctx context.Context, f *file, blocks []uint64) bool {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if s.usable() != nil {
		return true
	}
	if held, err := s.files.acquireOne(ctx, f); err != nil || !held {
		return err != nil
	}
	defer s.files.release([]*file{f})
	return s.engineUses(ctx, f.alias, blocks)
}

// engineUses is uses for an attached database. The caller keeps the engine from being replaced.
func (s *Store) engineUses(ctx context.Context, alias string, blocks []uint64) bool {
	q, err := s.engine.Connect()
	if err != nil {
		return true
	}
	defer q.Close()
	yes, err := damage.Uses(ctx, q, alias, blocks)
	return err != nil || yes
}

// tries copies a file until it did not change meanwhile. A file that has been dropped is left out.
func (c *copyRun) tries(ctx context.Context, name string, used func([]uint64) bool, hold func() (*copying.File, error), letGo func(*copying.File) error) error {
	for try := 1; ; try++ {
		in, why := hold()
		if why == nil {
			err := c.each(in.Copied(name))
			damaged := ""
			if err == nil {
				damaged = in.Damage(used)
			}
			if why = letGo(in); why == nil && damaged != "" {
				return c.each(store.CopiedFile{Name: name, Damaged: damaged})
			}
			if why == nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(why, errGone):
			return nil
		case errors.Is(why, errClosed), errors.Is(why, errDown):
			return fmt.Errorf("copy %s: %w", name, why)
		case !errors.Is(why, copying.ErrChanged) || try == copyTries:
			return c.each(store.CopiedFile{Name: name, Err: why})
		}
	}
}

// hold checkpoints a file if it has a log, and holds it.
func (s *Store) hold(ctx context.Context, f *file) (in *copying.File, err error) {
	release, err := s.lockRows(ctx, f.collection)
	if err != nil {
		return nil, err
	}
	defer release()
	in, err = s.checkpointAndHold(ctx, f)
	for s.trackerFor(f.collection) == nil && duckdb.OutOfMemory(err) && s.growMemory(ctx) {
		in, err = s.checkpointAndHold(ctx, f)
	}
	return in, err
}

// lockRows waits for the right to write the files of a collection: of rows, or of summaries, which have their own
// writer.
func (s *Store) lockRows(ctx context.Context, c *catalog.Collection) (release func(), err error) {
	if d := s.trackerFor(c); d != nil {
		return d.Acquire(ctx)
	}
	return s.unlockWrite, s.lockWrite(ctx)
}

// checkpointAndHold holds a file. One that has a log, or may have been replaced, is attached before.
func (s *Store) checkpointAndHold(ctx context.Context, f *file) (in *copying.File, err error) {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	if !s.files.hasLog(f) {
		if in, err := s.files.hold(ctx, f); !errors.Is(err, errUnchecked) {
			return in, err
		}
	}
	if held, err := s.files.acquireOne(ctx, f); err != nil || !held {
		return nil, cmp.Or(err, errGone)
	}
	if s.files.hasLog(f) {
		if err = s.files.checkpoint(ctx, s.files.holder, f); err != nil {
			s.files.markStale(f)
			err = fmt.Errorf("checkpoint %s: %w", f.path, err)
		}
	}
	if err == nil {
		in, err = s.files.hold(ctx, f) // before finish, which may detach it
	}
	s.files.finish([]*file{f}, err)
	return in, err
}

// names copies the file with the names of removed items and, before it, the mark that says how far it must have come.
func (c *copyRun) names(ctx context.Context) error {
	s := c.store
	release, err := s.beginWrite(ctx)
	if err != nil {
		return err
	}
	mark := s.items.MarkText()
	if release(); mark != "" {
		if err := c.each(copying.Text(names.MarkFile, mark)); err != nil {
			return err
		}
	}
	path := filepath.Join(s.cfg.Dir, names.File)
	used := func(blocks []uint64) bool { return s.engineUses(ctx, names.RemovedDatabase, blocks) }
	return c.tries(ctx, names.File, used, func() (*copying.File, error) {
		release, err := s.beginWrite(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
		err = s.items.Hold(ctx, s.files.holder)
		if err != nil {
			return nil, err
		}
		in, err := copying.Open(path)
		if err != nil {
			s.items.LetGo(s.files.holder)
		}
		return in, err
	}, func(in *copying.File) error {
		release, err := s.beginWrite(ctx)
		if err != nil {
			return err
		}
		defer release()
		s.items.LetGo(s.files.holder)
		return in.Check(path)
	})
}

// notes copies what is not a database.
func (c *copyRun) notes() error {
	fs := c.store.files
	for _, f := range copying.Notes(fs.owner.Dir, fs.collections, &c.store.marks, &c.store.kept) {
		if err := c.each(f); err != nil {
			return err
		}
	}
	if fs.owner.Instance != "" { // the file may have been damaged since
		if err := c.each(copying.Text(folder.InstanceFile, fs.owner.Instance+"\n")); err != nil {
			return err
		}
	}
	for _, f := range fs.incomplete() {
		if err := c.each(f); err != nil {
			return err
		}
	}
	return nil
}

// incomplete returns a note for each incomplete day. A file that cannot be read for now may be whole: it is in the
// manifest, so that whoever opens the copy finds that it is missing.
func (fs *files) incomplete() (list []store.CopiedFile) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, days := range fs.lost {
		for _, l := range days {
			name := l.collection.Name + "/" + filepath.Base(l.marker)
			if l.unreadable != nil {
				list = append(list, store.CopiedFile{Name: name, Err: errors.New(l.why)})
				continue
			}
			why := l.why
			if l.kept() {
				why = "was damaged (" + l.why + ") before it was copied"
			}
			note := copying.Text(strings.Replace(name, folder.DamagedMark, folder.MissingMark, 1), folder.Note(why))
			note.Lost = "the file of the day " + why
			list = append(list, note)
		}
	}
	return list
}
