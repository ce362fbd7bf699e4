package app

import (
	"context"
	"time"

	"belfry"
	"belfry/config"
	"belfry/journal"
	"belfry/meta/sqlite"
	"belfry/store"
	"belfry/store/duck"
)

// rowStore is the store of rows with the optional interfaces that it implements. This file is the only one that knows which engine it is.
// Whoever asks a store for other interfaces, as the Mover does, is given the Store inside: this struct does not have them.
type rowStore struct {
	store.Store
	summaries store.Summarizer // nil: the engine makes none
	files     store.FileStore  // nil: its files are not on this machine
	memory    store.MemoryUser // nil: it does not run in this process
}

func newRowStore(s store.Store) *rowStore {
	r := &rowStore{Store: s}
	r.summaries, _ = s.(store.Summarizer)
	r.files, _ = s.(store.FileStore)
	r.memory, _ = s.(store.MemoryUser)
	return r
}

// durable and sync are those of a FileStore. Other stores are durable when Append returns.
func (r *rowStore) durable(moved belfry.Position) error {
	if r.files == nil {
		return nil
	}
	return r.files.Durable(moved)
}

func (r *rowStore) sync() error {
	if r.files == nil {
		return nil
	}
	return r.files.SyncNotes()
}

// openRows opens the store that the configuration names.
func (s *service) openRows(ctx context.Context) (*rowStore, error) {
	cfg := s.cfg.Load()
	rows, err := duck.Open(ctx, duck.Config{
		Dir: cfg.Inside(cfg.Storage.DuckDB.Dir), Instance: s.Instance, Catalog: s.Catalog, Log: s.Log.With("part", "store"),
		MemoryLimit: int64(cfg.Storage.DuckDB.MemoryLimit), MemoryMost: s.budget.engineMost,
		Queries: cfg.Limits.Queries, Answer: s.budget.answer, Answers: s.budget.answers, Files: s.descriptors.files,
		Behind: queriesBehind, Quick: quickBehind, Workers: workersBehind,
		Items: s.Tree.Dimensions, Removed: func(add func(*belfry.Batch) error) error { return s.Tree.RemovedDimensions(ctx, add) }, RemovedAfter: s.removedAfter,
		Journal: s.Batches, JournalSince: s.Journal.Since, Changed: s.filesChanged, Told: s.faults.report,
	})
	if err != nil {
		return nil, err
	}
	return newRowStore(rows), nil
}

// removedAfter asks the metadata whether the names of removed items have to be rebuilt. That it cannot be told does not end a start, nor
// keep an engine from being started again: the service watches the metadata, and checks the whole database after each start.
func (s *service) removedAfter(pos belfry.Position) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // an engine may break down while we stop, too
	defer cancel()
	found, err := s.DB.RemovedAfter(ctx, pos)
	if err != nil {
		s.Log.Error("whether all names of removed items are there cannot be told", "err", err)
	}
	return found
}

// rowsMoved is the position up to which all records are in the store, as its folder has noted it. It need not be open.
func rowsMoved(cfg *config.Config) (pos belfry.Position, known bool) {
	return duck.Moved(cfg.Inside(cfg.Storage.DuckDB.Dir))
}

// verifyRows verifies a store that is not open.
func verifyRows(ctx context.Context, o Options, b *budget) (store.Verified, error) {
	dir := o.Config.Inside(o.Config.Storage.DuckDB.Dir)
	id, err := journal.ReadInstance(dir)
	if err != nil {
		id = "" // the verifier tells about it
	}
	return duck.Verify(ctx, duck.Config{
		Dir: dir, Instance: id, Catalog: o.Catalog, Log: o.Log,
		MemoryLimit: int64(o.Config.Storage.DuckDB.MemoryLimit), MemoryMost: b.engineMost,
		RemovedAfter: func(pos belfry.Position) bool {
			found, err := sqlite.ReadRemovedAfter(ctx, o.Config.Inside(o.Config.Meta.SQLite.Path), pos)
			return found && err == nil // metadata that cannot be read are told apart
		},
	})
}
