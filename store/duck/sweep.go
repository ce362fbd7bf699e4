package duck

import (
	"context"
	"time"

	"belfry/store/duck/index"
)

// Whoever looks for an item should find the filters of old days made. So when it has nothing else to do the filler goes
// through the files, and lists the items of those that have got new rows, but for some time have not got any.

const (
	sweepEvery = 5 * time.Second
	sweepRest  = 3 // how long it rests after each file, in times of what that took
)

// sweep makes the filters of items that are missing, until somebody asks for another.
func (s *Store) sweep(ctx context.Context, set *index.Set) {
	for _, f := range s.quietFiles() {
		if _, _, _, ok := s.itemBlock(f); ok {
			continue
		}
		begun := time.Now()
		_, err := s.work(ctx, fillJob{file: f, items: true}, set)
		if err != nil && ctx.Err() == nil && s.gaveUp(f) {
			s.cfg.Log.Warn("a list of items was not made, queries read more files than they need", "file", f.path, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepRest * time.Since(begun)):
		}
		if s.filler.asked() {
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
			quiet := f.writes == f.items.swept
			if quiet && !f.items.failed && (!f.items.known || f.items.writes != f.writes) {
				list = append(list, f)
			}
			f.items.swept, f.items.failed = f.writes, f.items.failed && quiet
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
