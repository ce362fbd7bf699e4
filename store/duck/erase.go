package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/summary"
)

// Erase removes the rows of customers from the disk. Deleting rows inside a file would leave them readable in its
// blocks. So each file that has such rows is rewritten without them, and the copy replaces it:
//
//	2026-11-15.duckdb ── rows of others, in their order ──► 2026-11-15.duckdb.new ── rename ──► 2026-11-15.duckdb
//
// Writers and queries continue while the copy is made. After an interruption the next call does what is left: a file
// that still has such rows has not been rewritten. The caller makes sure that no more rows of these customers arrive.
func (s *Store) Erase(ctx context.Context, customers []belfry.CustomerID) error {
	if len(customers) == 0 {
		return nil
	}
	all := s.cfg.Catalog.Kept()
	for _, d := range s.trackers {
		all = append(all, d.Hour, d.Day)
	}
	defer s.stopOrder(ctx)()
	var errs []error
	if err := s.eraseNames(ctx, customers); err != nil {
		errs = append(errs, fmt.Errorf("erase names of removed items: %w", err))
	}
	for _, day := range s.files.unreadableDays() {
		errs = append(errs, fmt.Errorf("erase rows in %s: the file cannot be read for now", day))
	}
	for _, c := range all {
		for _, p := range s.files.periods(c, 0, folder.EndOfTime) {
			if err := s.eraseIn(ctx, c, p, customers); err != nil {
				errs = append(errs, fmt.Errorf("erase rows of %s of %s: %w", c.Name, p.From, err))
			}
			if ctx.Err() != nil {
				return errors.Join(errs...)
			}
		}
	}
	return errors.Join(errs...)
}

// eraseTries is how often a file is copied; all attempts but the last allow writes to the file.
const eraseTries = 3

func (s *Store) eraseIn(ctx context.Context, c *catalog.Collection, p belfry.Span, customers []belfry.CustomerID) error {
	if d := s.trackerFor(c); d != nil { // files of summaries have their own writer; the writer of rows may continue
		release, err := d.Acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return err
	}
	q, err := s.engine.ConnectBehind(s.cfg.Upkeep)
	if err != nil {
		return err
	}
	defer q.Close()
	for try := 1; ; try++ {
		done, err := s.eraseOnce(ctx, q, c, p, customers, try == eraseTries)
		if err != nil || done {
			return err
		}
	}
}

// trackerFor returns the tracker whose summaries are stored in collection c; nil if there is none.
func (s *Store) trackerFor(c *catalog.Collection) *summary.Tracker {
	for _, d := range s.trackers {
		if d.Hour.Name == c.Name || d.Day.Name == c.Name {
			return d
		}
	}
	return nil
}

// eraseOnce rewrites one file if it has rows of the customers. done is false if rows were added meanwhile.
func (s *Store) eraseOnce(ctx context.Context, q *duckdb.Conn, c *catalog.Collection, p belfry.Span, customers []belfry.CustomerID, exclusive bool) (done bool, err error) {
	files, err := s.files.acquireAll(ctx, s.files.list(c, []belfry.Span{p}))
	if err != nil || len(files) == 0 { // dropped meanwhile
		return true, err
	}
	f, held := files[0], true
	defer func() {
		if held {
			s.files.finish(files, err)
		}
	}()
	if exclusive {
		release, err := s.lockWriteFor(ctx, c)
		if err != nil {
			return false, err
		}
		defer release()
	}
	among := "customer IN (" + duckdb.IDList(customers) + ")"
	n, err := q.Number(ctx, "SELECT count(*) FROM "+f.ref()+" WHERE "+among)
	if err != nil || n == 0 {
		return true, err
	}
	pos, err := q.Number(ctx, "SELECT coalesce(max(pos), 0) FROM "+f.alias+".main.position")
	if err != nil {
		return false, err
	}
	copied := f.path + journal.TempSuffix
	if err := errors.Join(unlink(copied), rowfile.CopyWithout(ctx, q, f.attached(), copied, among, s.files.owner.Identity, s.trackerFor(c) != nil)); err != nil {
		return false, errors.Join(err, unlink(copied))
	}
	if !exclusive {
		release, err := s.lockWriteFor(ctx, c)
		if err != nil {
			return false, errors.Join(err, unlink(copied))
		}
		defer release()
	}
	now, err := q.Number(ctx, "SELECT coalesce(max(pos), 0) FROM "+f.alias+".main.position")
	if err != nil || now != pos {
		return false, errors.Join(err, unlink(copied))
	}
	if err := s.files.checkpoint(ctx, q, f); err != nil { // the log must not be replayed into the new file
		return false, errors.Join(err, unlink(copied))
	}
	held = false // swap releases it
	if err := s.files.swap(ctx, f, copied); err != nil {
		return false, errors.Join(err, unlink(copied))
	}
	s.invalidateRows(f)
	if d := s.trackerFor(c); d != nil {
		d.ForgetMade(f.attached())
	}
	return true, nil
}

// lockWriteFor waits for the right to write rows of a collection. A writer of summaries already has it and must not
// wait for write: Drop holds write and waits for the summaries. The wait is bounded, because the caller keeps the engine from
// being replaced, and a writer that has too little memory waits for just that.
func (s *Store) lockWriteFor(ctx context.Context, c *catalog.Collection) (release func(), err error) {
	if s.trackerFor(c) != nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.eraseWait, errors.New("rows are being written to it; the next attempt continues"))
	defer cancel()
	if s.lockWrite(ctx) != nil {
		return nil, context.Cause(ctx)
	}
	return s.unlockWrite, nil
}

// swap replaces f by another file once no one uses f, the caller included. The caller keeps writers away. Users that
// ask for the file meanwhile wait and get the new one.
func (fs *files) swap(ctx context.Context, f *file, path string) error {
	defer fs.wakeAfter(ctx)()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.blocked = true
	defer func() {
		f.blocked = false
		fs.freed.Broadcast()
	}()
	fs.releaseLocked([]*file{f})
	for f.refs > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		fs.freed.Wait()
	}
	if f.doomed {
		return unlink(path)
	}
	if err := fs.detach(f); err != nil {
		return err
	}
	if info, err := os.Stat(f.path + ".wal"); err == nil && info.Size() > 0 {
		return fmt.Errorf("%s.wal is not empty; try again later", f.path)
	}
	for _, suffix := range []string{index.Suffix, itemSuffix, ".wal"} { // filters also contain data of the erased rows
		if err := os.Remove(f.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	fs.itemListBytes -= f.items.list.Size()
	f.items, f.writes, f.grown = itemIndex{}, f.writes+2, 0
	f.filters.forget()
	if err := os.Rename(path, f.path); err != nil {
		return err
	}
	return journal.SyncDir(filepath.Dir(f.path))
}

// forget discards filters that no longer belong to the file.
func (t *filters) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alias, t.blocks = "", nil
}
