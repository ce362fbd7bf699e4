package duck

import (
	"context"
	"time"

	"belfry/store/duck/index"
)

// A query for an item should find the filters of old days ready. So when the indexer is idle it goes through the files and lists
// the items of those that have got rows since, but none for some time.

const (
	quietInterval = 5 * time.Second
	quietRest     = 3 // how long it rests after each file, as a multiple of what that took
)

// indexQuietFiles makes missing filters of items until another filter is requested.
func (s *Store) indexQuietFiles(ctx context.Context, set *index.Set) {
	for _, f := range s.quietFiles() {
		if _, _, _, ok := s.itemBlock(f); ok {
			continue
		}
		begun := time.Now()
		_, err := s.work(ctx, indexJob{file: f, items: true}, set)
		if err != nil && ctx.Err() == nil && s.gaveUp(f) {
			s.cfg.Log.Warn("a list of items was not made, queries read more files than they need", "file", f.path, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(quietRest * time.Since(begun)):
		}
		if s.indexer.requested() {
			return
		}
	}
}

// quietFiles are those without new rows since the last time, newest first; the newest of a collection is never quiet.
func (s *Store) quietFiles() []*file {
	var list []*file
	fs := s.files
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, c := range s.cfg.Catalog.Kept() {
		all := fs.byName[c.Name]
		if !c.Item || len(all) < leastFiltered {
			continue
		}
		for i := len(all) - 2; i >= 0; i-- {
			f := all[i]
			quiet := f.writes == f.items.seen
			if quiet && !f.items.failed && (!f.items.known || f.items.writes != f.writes) {
				list = append(list, f)
			}
			f.items.seen, f.items.failed = f.writes, f.items.failed && quiet
		}
	}
	return list
}

// gaveUp says that the items of a file could not be listed, and tells whether that is the fault of the file. It is not
// when the engine is down.
func (s *Store) gaveUp(f *file) bool {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.usable() != nil {
		return false
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	f.items.failed = true
	return true
}
