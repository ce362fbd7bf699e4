// Package duck is the row store that lives inside the process, on DuckDB.
//
// Each collection has a folder, and each of its periods (a day, or a month where little happens) a file of its own in
// it, so that retention is an unlink and a query opens only the files of its span:
//
//	DIR/instance                             the id of the instance; written by whoever creates the folder
//	DIR/objectlog/2026-11-15.duckdb          tables rows, position (of each commit), instance and, once in order, runs
//	DIR/objectlog/2026-11-15.duckdb.late     rows that arrived while the day file could not be read; usually absent
//	DIR/objectlog/2026-11-15.duckdb.tokens   which blocks of rows have which words, where texts are searched by word
//	DIR/objectlog/2026-11-15.duckdb.items    which items have rows in it, for queries by item
//	DIR/objectlog/watermark                  everything before it has been dropped
//	DIR/objectlog/kept                       except these periods, with the arrival time of their rows and a checksum; usually absent
//	DIR/manifest                             which files must exist
//	DIR/objectdata.hour/2026-11.duckdb       summaries, where the collection has some: tables rows, made, position and instance
//	DIR/removed.duckdb                       the names of removed items, by id
//	DIR/removed.mark                         the id and the count of transactions that file must have
//	memory                                   table live: the names of the others; view item: of all
//
// One engine runs, with its main database in memory and the files attached to it as they are needed. Rows carry the
// ids of items; names come from the table item.
//
// Invariants:
//   - A file's position is written in the same transaction as the rows it covers. Rows at or below it are skipped, so
//     calling Append again stores exactly what is missing.
//   - A file under its final name has all of its tables: it is renamed when it is complete.
//   - After a failed write the file is detached and, when it is needed again, attached and its position is read again.
//   - A file that a query or a write is using is neither detached nor unlinked.
//   - The watermark of a collection is durable before the first file is unlinked, and nothing below it is ever stored, except
//     for the periods of a clock that is far behind; see Keep.
//   - Filters are built from committed rows only, and compared with them before use. They may be missing, outdated
//     or damaged; then a query reads more, but no row is missing from its answer.
//   - Nothing is deleted because of a file whose checksum is wrong, and nothing is written unless DIR belongs to this instance.
//   - Messages of the engine go to the log; clients never see them. No statement can reach a file outside DIR.
package duck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/clustering"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/names"
	"belfry/store/duck/rowwriter"
	"belfry/store/duck/slots"
	"belfry/store/duck/summary"
)

var (
	_ store.Copier     = (*Store)(nil)
	_ store.Embedded   = (*Store)(nil)
	_ store.Summarizer = (*Store)(nil)
)

// config is the configuration of a store, and what only tests change.
type config struct {
	store.Config

	logLimit       int64         // size at which a file's log is checkpointed; 64 MB
	summaryRows    int64         // rows summarised in one transaction unless they are of one hour or day, and summaries that a statement makes; 1 Mi
	eraseWait      time.Duration // for writers of rows; 10 s
	order          clustering.Sizes
	orderAge       time.Duration // how long rows are in their file before they are put in order; 1 min; negative: none
	noTokenFilters bool          // build no token filters
	noPadding      bool          // store rows without padding, which needs more memory
}

func (c *config) setDefaults() error {
	c.MemoryLimit = cmp.Or(c.MemoryLimit, 256<<20)
	c.MemoryMost = cmp.Or(c.MemoryMost, memoryGrowth*c.MemoryLimit)
	c.Answer = cmp.Or(c.Answer, answerBytes)
	c.Answers = cmp.Or(c.Answers, 1<<30)
	c.Threads = cmp.Or(c.Threads, 2)
	if c.Queries == 0 || c.Queries > c.Threads {
		c.Queries = c.Threads
	}
	c.Quick = cmp.Or(c.Quick, c.Behind)
	c.Workers = cmp.Or(c.Workers, c.Behind)
	c.Upkeep = cmp.Or(c.Upkeep, c.Behind)
	c.logLimit = cmp.Or(c.logLimit, min(64<<20, c.MemoryLimit/4))
	c.summaryRows = cmp.Or(c.summaryRows, 1<<20)
	c.eraseWait = cmp.Or(c.eraseWait, 10*time.Second)
	c.order = cmp.Or(c.order, clustering.Usual)
	c.orderAge = cmp.Or(c.orderAge, time.Minute)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Items == nil {
		c.Items = func(func(*belfry.Batch) error) error { return nil }
	}
	if c.Journal == nil {
		c.Journal = func(func(*belfry.Batch) error) error { return nil }
	}
	if c.Changed == nil {
		c.Changed = func() {}
	}
	if c.Repaired == nil {
		c.Repaired = func(string) {}
	}
	if c.Removed == nil {
		c.Removed = func(func(*belfry.Batch) error) error { return nil }
	}
	if c.RemovedAfter == nil {
		c.RemovedAfter = func(belfry.Position) bool { return false }
	}
	var err error
	c.Dir, err = filepath.Abs(c.Dir)
	return err
}

// Store is a row store in a folder.
type Store struct {
	cfg     config
	slots   slots.Slots // of statements of queries
	queries slots.Evictable

	// Guarded by write.
	delivered  map[loadKey]belfry.Position // what files have stored of Append calls that left rows over
	lossesSeen int                         // number of lost files when delivered was last used

	// engineMu is read-locked while the engine is used and locked while it is replaced.
	engineMu sync.RWMutex
	engine   *duckdb.Engine
	files    *files
	memory   int64 // current memory limit of the engine

	orderMu   sync.Mutex    // held while rows are put in order or erased
	orderEnd  sync.Mutex    // held by CopyFiles, and while a file is replaced by one in order
	ordering  *ordering     // guarded by orderMu, like orderLook
	orderLook time.Time     // when files were last looked at
	copying   sync.Mutex    // held by CopyFiles
	write     chan struct{} // held by Append and Drop, one at a time
	writer    *duckdb.Conn
	marks     folder.Watermarks
	kept      folder.Kept
	items     *names.Names
	indexer   indexBuilder
	trackers  map[string]*summary.Tracker // by collection with summaries; never changed

	arrivals    rowwriter.Arrivals
	unreadBytes atomic.Int64 // bytes of answers that clients have not read yet
	skipped     atomic.Uint64
	expired     atomic.Uint64
	closed      bool
}

// Open opens the store in cfg.Dir, which is created if it does not exist.
func Open(ctx context.Context, cfg store.Config) (store.Store, error) {
	s, err := openStore(ctx, config{Config: cfg})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openStore(ctx context.Context, cfg config) (*Store, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, fmt.Errorf("open store %s: %w", cfg.Dir, err)
	}
	s := &Store{cfg: cfg, memory: cfg.MemoryLimit, slots: slots.Slots{Limit: cfg.Queries, Extra: cfg.Queries}, write: make(chan struct{}, 1), delivered: map[loadKey]belfry.Position{}}
	if err := s.open(ctx); err != nil {
		return nil, fmt.Errorf("open store %s: %w", cfg.Dir, err)
	}
	s.startIndexer()
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	temp := filepath.Join(s.cfg.Dir, "tmp")
	if err := os.RemoveAll(temp); err != nil { // spilled by an earlier process
		return err
	}
	if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
		return err
	}
	var all []*catalog.Collection
	all, s.trackers = summary.Collections(s.cfg.Catalog)
	s.loadKept(all)
	var err error
	if s.files, err = listFiles(s.cfg.Dir, folder.IdentityOf(s.cfg.Config), all, s.kept.Noted(), s.stores, s.dropped, s.cfg.Log); err != nil {
		return err
	}
	if s.files.maxFiles = s.cfg.Files; s.cfg.Files > 0 {
		s.files.maxIdle = min(maxAttached, s.cfg.Files/2)
	}
	s.files.onChange, s.files.onLoss, s.files.onRepair = s.cfg.Changed, s.lostRows, s.cfg.Repaired
	return s.start(ctx)
}

// start starts an engine with no files attached and no items.
func (s *Store) start(ctx context.Context) (err error) {
	if s.engine, err = duckdb.Open(s.cfg.options(s.memory).Settings(), s.cfg.Workers, s.cfg.Quick); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if s.writer, err = s.engine.Connect(); err != nil {
		return err
	}
	if err := duckdb.AddSearch(s.writer); err != nil {
		return err
	}
	if err := duckdb.LockDown(ctx, s.writer, s.cfg.Dir); err != nil {
		return err
	}
	if s.files.conn, err = s.engine.Connect(); err != nil {
		return err
	}
	if s.files.holder, err = s.engine.Connect(); err != nil {
		return err
	}
	s.items, err = names.Open(ctx, s.writer, s.cfg.Config)
	return err
}

// options returns the limits of an engine that may use this much memory.
func (c *config) options(memory int64) duckdb.Options {
	return duckdb.Options{Dir: c.Dir, Memory: memory, Threads: c.Threads, LogLimit: c.logLimit}
}

// stop closes the engine, whatever its state.
func (s *Store) stop() {
	if s.files.conn != nil {
		s.files.conn.Close()
	}
	if s.files.holder != nil {
		s.files.holder.Close()
	}
	if s.writer != nil {
		s.writer.Close()
	}
	if s.engine != nil {
		s.engine.Close()
	}
	s.engine, s.files.conn, s.files.holder, s.writer = nil, nil, nil, nil
}

var (
	errClosed = errors.New("the store is closed")
	errDown   = errors.New("the engine is down")
)

// usable returns an error if the engine cannot be used. The caller holds engineMu.
func (s *Store) usable() error {
	switch {
	case s.closed:
		return errClosed
	case s.engine == nil:
		return errDown
	}
	return nil
}

// Stats implements store.Store.
func (s *Store) Stats() store.Stats {
	return store.Stats{Skipped: s.skipped.Load(), Expired: s.expired.Load(), Running: s.slots.Count()}
}

// Newest returns the end of the period of the newest file of any collection; 0 if there are no files.
func (s *Store) Newest() (end belfry.Time) {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	for _, list := range s.files.byName {
		if len(list) > 0 {
			end = max(end, list[len(list)-1].To)
		}
	}
	return end
}

// Close checkpoints everything and closes the engine. It waits for running queries.
func (s *Store) Close() error {
	s.indexer.close()
	defer s.stopOrder(context.Background())()
	s.write <- struct{}{}
	defer func() { <-s.write }()
	s.engineMu.Lock()
	defer s.engineMu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := errors.Join(s.Watch(), s.files.detachAll(context.Background()))
	s.files.manifest.Close()
	if s.writer != nil {
		err = errors.Join(err, s.items.Checkpoint(context.Background(), s.writer))
	}
	s.stop()
	if err != nil {
		return fmt.Errorf("close store %s: %w", s.cfg.Dir, err)
	}
	return nil
}

// restartEngine replaces an engine that broke down. Files know their positions, so only the items are lost, and Items
// delivers them again.
func (s *Store) restartEngine(ctx context.Context) error {
	s.engineMu.Lock()
	defer s.engineMu.Unlock()
	if s.closed {
		return errClosed
	}
	s.cfg.Log.Warn("engine broke down, restarting it")
	s.files.forget()
	for _, d := range s.trackers {
		d.Forget()
	}
	s.stop()
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("restart the engine: %w", err)
	}
	return s.cfg.Items(func(b *belfry.Batch) error { return s.items.Apply(ctx, s.writer, []*belfry.Batch{b}) })
}
