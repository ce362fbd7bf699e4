package app

import (
	"context"
	"fmt"
	"time"

	"belfry"
	"belfry/config"
	"belfry/folder"
	"belfry/journal"
	"belfry/meta/sqlite"
	"belfry/store"
	"belfry/store/duck"
)

// storageEngine is a kind of row store.
type storageEngine struct {
	open   func(context.Context, store.Config) (store.Store, error)
	verify func(context.Context, store.Config) (store.Verified, error) // of a store that is not open
	noted  func(store.Config) store.Noted                              // by the folder; the store need not be open
	files  []string                                                    // patterns of the files that a folder with rows has
}

// storageEngines are the storage engines by name. No other code depends on a particular engine.
var storageEngines = map[string]storageEngine{
	"duck": {duck.Open, duck.Verify, duck.Noted, duck.Files},
}

// usedEngine is the engine that every service uses.
const usedEngine = "duck"

// OpenStore opens a store of the named engine.
func OpenStore(ctx context.Context, engine string, cfg store.Config) (store.Store, error) {
	e, ok := storageEngines[engine]
	if !ok {
		return nil, fmt.Errorf("there is no storage engine %q", engine)
	}
	return e.open(ctx, cfg)
}

// rowStore is a store with the optional interfaces that it implements. The Mover gets the Store field itself, because it checks
// for an optional interface too.
type rowStore struct {
	store.Store
	summaries store.Summarizer // nil: no summaries
	embedded  store.Embedded   // nil: does not run in this process
	copier    store.Copier     // nil: has no files to copy
}

func newRowStore(s store.Store) *rowStore {
	r := &rowStore{Store: s}
	r.summaries, _ = s.(store.Summarizer)
	r.embedded, _ = s.(store.Embedded)
	r.copier, _ = s.(store.Copier)
	return r
}

// durable and sync call the embedded store. Other stores are durable when Append returns.
func (r *rowStore) durable(moved belfry.Position) error {
	if r.embedded == nil {
		return nil
	}
	return r.embedded.Durable(moved)
}

func (r *rowStore) sync() error {
	if r.embedded == nil {
		return nil
	}
	return r.embedded.SyncNotes()
}

// openRows opens the configured store.
func (s *service) openRows(ctx context.Context) (*rowStore, error) {
	cfg := s.cfg.Load()
	rows, err := OpenStore(ctx, usedEngine, store.Config{
		Dir: cfg.RowsDir(), Instance: s.Instance, Branches: s.Branches, Catalog: s.Catalog, Log: s.Log.With("part", "store"),
		MemoryLimit: int64(*cfg.EngineMemory()), MemoryMost: s.budget.engineMost,
		Queries: cfg.Limits.Queries, Answer: s.budget.answer, Answers: s.budget.answers, Files: s.descriptors.files,
		Behind: queriesBehind, Quick: quickBehind, Workers: workersBehind, Upkeep: upkeepBehind,
		Items: s.Tree.History().Dimensions, Removed: func(add func(*belfry.Batch) error) error { return s.Tree.History().RemovedDimensions(ctx, add) }, RemovedAfter: s.removedAfter,
		Journal: s.Batches, JournalSince: s.Journal.Since, Changed: s.filesChanged, Repaired: s.faults.report,
	})
	if err != nil {
		return nil, err
	}
	return newRowStore(rows), nil
}

// removedAfter reports whether the metadata database has removed items after pos, so that their names must be rebuilt. If it
// cannot be read, the start continues: the service watches the database and verifies it after each start.
func (s *service) removedAfter(pos belfry.Position) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // also called when the engine fails, which may be during a stop
	defer cancel()
	found, err := s.DB.RemovedAfter(ctx, pos)
	if err != nil {
		s.Log.Error("some names of removed items may be missing", "err", err)
	}
	return found
}

// rowsNoted returns what the store's folder says about it. The store need not be open.
func rowsNoted(cfg *config.Config) store.Noted {
	return storageEngines[usedEngine].noted(store.Config{Dir: cfg.RowsDir()})
}

// verifyRows verifies a store that is not open.
func verifyRows(ctx context.Context, o Options, b *budget) (store.Verified, error) {
	dir := o.Config.RowsDir()
	id, err := journal.ReadInstance(dir)
	if err != nil {
		id = "" // the verifier reports it
	}
	list := folder.KnownBranches(ctx, o.Config) // the folder reports a damaged one
	return storageEngines[usedEngine].verify(ctx, store.Config{
		Dir: dir, Instance: id, Branches: belfry.NewBranches(list), Catalog: o.Catalog, Log: o.Log,
		MemoryLimit: int64(*o.Config.EngineMemory()), MemoryMost: b.engineMost,
		RemovedAfter: func(pos belfry.Position) bool {
			found, err := sqlite.ReadRemovedAfter(ctx, o.Config.Inside(o.Config.Meta.SQLite.Path), pos)
			return found && err == nil // unreadable metadata are reported elsewhere
		},
	})
}
