package duck

import (
	"context"
	"slices"
	"sync"
	"time"

	"belfry/store/duck/duckdb"
	"belfry/store/duck/index"
)

// indexBuilder builds filters in the background: of blocks that have become full, and of blocks that a search found
// without one. It reads the rows back from the files, which costs about a sixth of storing them, and so works for any
// rows, whether stored yesterday, in a replay or before a crash. A block without a filter is simply read.
type indexBuilder struct {
	*index.Queue[indexJob]
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// indexJob is a file that lacks token filters or its item filter.
type indexJob struct {
	file  *file
	items bool
}

// indexStep is how many blocks are built at a time. The engine cannot be replaced meanwhile.
const indexStep = 16

func (s *Store) startIndexer() {
	ctx, cancel := context.WithCancel(context.Background())
	s.indexer.Queue, s.indexer.stop = index.NewQueue[indexJob](), cancel
	s.indexer.stopped.Go(func() { s.runIndexer(ctx) })
}

// close stops the indexer. Unfinished work is found again later.
func (l *indexBuilder) close() {
	l.stop()
	l.stopped.Wait()
}

// request queues a file that lacks token filters.
func (l *indexBuilder) request(f *file) { l.Add(indexJob{file: f}) }

func (s *Store) runIndexer(ctx context.Context) {
	set := index.NewSet()
	for ctx.Err() == nil {
		job, ok := s.indexer.Next()
		if !ok {
			select {
			case <-s.indexer.Wake:
			case <-ctx.Done():
			case <-time.After(quietInterval):
				s.indexQuietFiles(ctx, set)
			}
			continue
		}
		more, err := s.runIndexJob(ctx, job, set)
		switch {
		case err != nil && ctx.Err() == nil:
			s.cfg.Log.Warn("filters not built, queries read more rows than necessary", "file", job.file.path, "err", err)
		case more:
			s.indexer.Add(job)
		}
	}
}

// runIndexJob runs a job, or a part of it, and reports whether there is more to do.
func (s *Store) runIndexJob(ctx context.Context, j indexJob, set *index.Set) (more bool, err error) {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return false, err
	}
	if held, err := s.files.acquireOne(ctx, j.file); err != nil || !held {
		return false, err
	}
	defer func() { s.files.finish([]*file{j.file}, err) }()
	c, err := s.engine.Connect()
	if err != nil {
		return false, err
	}
	defer c.Close()
	if j.items {
		return false, s.buildItemFilter(ctx, c, j.file, set)
	}
	return s.buildTokenFilters(ctx, c, j.file, set)
}

// buildTokenFilters builds the next few token filters of a file, which the caller holds.
func (s *Store) buildTokenFilters(ctx context.Context, c *duckdb.Conn, f *file, set *index.Set) (more bool, err error) {
	old, err := s.blocksOf(ctx, c, f)
	if err != nil {
		return false, err
	}
	rows, err := c.Number(ctx, "SELECT count(*) FROM "+f.ref())
	if err != nil {
		return false, err
	}
	from, to := len(old), int(rows/index.BlockRows)
	end := min(to, from+indexStep)
	if from == end {
		return false, nil
	}
	built, err := index.Build(ctx, c, f.ref(), s.files.texts(f), set, from, end)
	if len(built) == 0 && duckdb.OutOfMemory(err) { // the texts are so long that a filter would not help
		built, err = index.Build(ctx, c, f.ref(), nil, set, from, from+1)
	}
	if len(built) == 0 {
		return false, err
	}
	return from+len(built) < to, f.extendFilters(old, built)
}

// texts returns the columns of the file that are searched by word.
func (fs *files) texts(f *file) []string {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.DeleteFunc(index.TextColumns(f.collection), func(name string) bool {
		k, ok := f.kinds[name]
		return !ok || k != duckdb.Text
	})
}

// A query for an item should find the filters of old days ready. So when the indexer is idle it goes through the files
// and lists the items of those that have new rows, but none for some time.

const (
	quietInterval = 5 * time.Second
	quietRest     = 3 // pause after each file, as a multiple of the time it took
)

// indexQuietFiles builds missing item filters until another filter is requested.
func (s *Store) indexQuietFiles(ctx context.Context, set *index.Set) {
	for _, f := range s.quietFiles() {
		if _, _, _, ok := s.itemBlock(f); ok {
			continue
		}
		begun := time.Now()
		_, err := s.runIndexJob(ctx, indexJob{file: f, items: true}, set)
		if err != nil && ctx.Err() == nil && s.markFailed(f) {
			s.cfg.Log.Warn("an item filter was not built, queries read more files than necessary", "file", f.path, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(quietRest * time.Since(begun)):
		}
		if s.indexer.Waiting() {
			return
		}
	}
}

// quietFiles returns the files without new rows since the last call that lack an item filter, newest first. The newest
// file of a collection is never quiet.
func (s *Store) quietFiles() []*file {
	var list []*file
	fs := s.files
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, c := range s.cfg.Catalog.Kept() {
		all := fs.byName[c.Name]
		if !c.Item || len(all) < index.LeastFiltered {
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

// markFailed records that the items of a file could not be listed, and reports whether the file is the cause. It is not
// if the engine is down.
func (s *Store) markFailed(f *file) bool {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if s.usable() != nil {
		return false
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	f.items.failed = true
	return true
}
