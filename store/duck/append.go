package duck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
	"belfry/store/duck/names"
	"belfry/store/duck/rowwriter"
)

// maxUncheckpointed is how many files may have rows that are only in their logs. Checkpointing a few rows costs ten
// times as much as writing them, so late data over many days must not checkpoint each day each time.
const maxUncheckpointed = 256

// fewFiles is how many files get their rows before Append calls enough.
const fewFiles = 8

// Append implements store.Store. If one file fails, the others still get their rows. The newest files come first, because
// queries wait for their rows.
func (s *Store) Append(ctx context.Context, enough func() bool, batches ...*belfry.Batch) (left []*belfry.Batch, err error) {
	if err := s.lockWrite(ctx); err != nil {
		return nil, err
	}
	defer s.unlockWrite()
	left, err = s.append(ctx, batches, enough)
	if duckdb.OutOfMemory(err) {
		left, err = nil, s.appendAlone(ctx, batches, err)
	}
	if err == nil {
		s.arrivals.Note(rowwriter.Without(batches, left))
		return left, nil
	}
	if s.engineBroken(ctx) {
		err = errors.Join(err, s.restartEngine(ctx))
	}
	return nil, err
}

func (s *Store) append(ctx context.Context, batches []*belfry.Batch, enough func() bool) (left []*belfry.Batch, err error) {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	if err := s.restore(ctx, s.files.unrestored()); err != nil {
		return nil, err
	}
	loads, dropped, err := s.divide(batches)
	if err != nil {
		return nil, err
	}
	if err := s.items.Apply(ctx, s.writer, batches); err != nil {
		return nil, fmt.Errorf("store items: %w", err)
	}
	if len(loads) > 0 { // item names are not stored in the folder
		if err := s.files.checkFolder(); err != nil {
			return nil, err
		}
	}
	loads = s.undelivered(loads)
	slices.SortStableFunc(loads, func(a, b *load) int { return cmp.Compare(b.period.From, a.period.From) })
	var errs []error
	for i, l := range loads {
		if i >= fewFiles && len(errs) == 0 && enough != nil && enough() {
			var later []rowwriter.Piece
			for _, l := range loads[i:] {
				later = append(later, l.pieces...)
			}
			left = rowwriter.BatchesOf(batches, later)
			break
		}
		if err := s.deliver(ctx, l); err != nil {
			errs = append(errs, err)
		}
		s.delivered[l.key()] = l.pieces[len(l.pieces)-1].Batch.Pos
		if err := s.checkpointOverfull(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	if len(left) == 0 || len(errs) > 0 {
		clear(s.delivered)
	}
	if len(errs) == 0 { // otherwise the batches are repeated, and counted then
		for _, b := range rowwriter.Without(batches, left) {
			s.skipped.Add(dropped[b])
		}
	}
	return left, errors.Join(errs...)
}

// undelivered removes the pieces that files already have from earlier calls that left rows over. Looking into each of
// those files again could use up all the time of a call.
func (s *Store) undelivered(loads []*load) []*load {
	if losses := s.files.losses(); losses != s.lossesSeen {
		clear(s.delivered) // a file may have lost what it had
		s.lossesSeen = losses
	}
	return slices.DeleteFunc(loads, func(l *load) bool {
		pos := s.delivered[l.key()]
		l.pieces = slices.DeleteFunc(l.pieces, func(p rowwriter.Piece) bool { return p.Batch.Pos <= pos })
		return len(l.pieces) == 0
	})
}

// engineBroken reports whether the engine as a whole has failed.
func (s *Store) engineBroken(ctx context.Context) bool {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if s.closed || ctx.Err() != nil {
		return false
	}
	return s.engine == nil || duckdb.IsKind(s.writer.Exec(ctx, "SELECT count(*) FROM "+names.Table), duckdb.FatalError, duckdb.InternalError)
}

// load is what is to be stored in one file.
type load struct {
	collection *catalog.Collection
	period     belfry.Span
	pieces     []rowwriter.Piece
}

// loadKey identifies the file of a load.
type loadKey struct {
	collection *catalog.Collection
	from       belfry.Time
}

func (l *load) key() loadKey { return loadKey{l.collection, l.period.From} }

// divide sorts rows by the file they belong to. It leaves out rows of dropped periods and counts them by batch.
func (s *Store) divide(batches []*belfry.Batch) (loads []*load, dropped map[*belfry.Batch]uint64, err error) {
	index := map[loadKey]*load{}
	dropped = map[*belfry.Batch]uint64{}
	add := func(c *catalog.Collection, p belfry.Span, part rowwriter.Piece) {
		if !s.stores(c, p) || p.From >= folder.EndOfTime {
			dropped[part.Batch] += uint64(part.Len())
			return
		}
		l := index[loadKey{c, p.From}]
		if l == nil {
			l = &load{collection: c, period: p}
			index[l.key()] = l
			loads = append(loads, l)
		}
		l.pieces = append(l.pieces, part)
	}
	for _, b := range batches {
		if b.Collection == belfry.Dimension || b.Len() == 0 {
			continue
		}
		c := s.cfg.Catalog.KeptAs(b.Collection)
		if c == nil {
			return nil, nil, fmt.Errorf("store rows of %q: the catalog has no such historical collection", b.Collection)
		}
		rowwriter.Split(c, b, func(p belfry.Span, rows []int) { add(c, p, rowwriter.Piece{Batch: b, Rows: rows}) })
	}
	return loads, dropped, nil
}

// deliver brings one file up to date. If the file turns out to be damaged it is set aside, and a new one takes its
// place.
func (s *Store) deliver(ctx context.Context, l *load) error {
	for {
		losses := s.files.losses()
		err := s.deliverTo(ctx, l)
		if err == nil || s.files.losses() == losses {
			return err
		}
		if s.files.isLeaving(l.collection, l.period) { // running queries would keep it in use
			open, _ := s.queries.Clear(ctx, true)
			open()
		}
		if err := s.restore(ctx, s.files.unrestored()); err != nil {
			return err
		}
	}
}

func (s *Store) deliverTo(ctx context.Context, l *load) (err error) {
	cols, err := rowwriter.Columns(l.collection, l.pieces)
	if err != nil {
		return fmt.Errorf("store rows of %s: %w", l.collection.Name, err)
	}
	f, err := s.files.acquireForWriting(ctx, l.collection, l.period, cols)
	if err != nil {
		return err
	}
	defer func() { s.files.finish([]*file{f}, err) }()
	if err := s.files.checkPresent(f); err != nil {
		return err
	}
	pieces := slices.DeleteFunc(slices.Clone(l.pieces), func(p rowwriter.Piece) bool { return p.Batch.Pos <= f.pos })
	for len(pieces) > 0 {
		n := rowwriter.CommitSize(pieces)
		if err := s.commit(ctx, f, pieces[:n]); err != nil {
			s.files.markStale(f)
			s.invalidateRows(f)
			return fmt.Errorf("write %s: %w", f.path, err)
		}
		pieces = pieces[n:]
	}
	return nil
}

// commit writes pieces and their position in one transaction.
func (s *Store) commit(ctx context.Context, f *file, pieces []rowwriter.Piece) error {
	cols, err := rowwriter.Columns(f.collection, pieces)
	if err != nil {
		return err
	}
	s.files.countWrite(f)
	defer s.files.countWrite(f)
	pos := pieces[len(pieces)-1].Batch.Pos
	kinds, err := s.files.transact(ctx, s.writer, f, cols, func() (err error) {
		if err = s.countFill(ctx, f); err == nil {
			f.fill, err = rowwriter.Write(s.writer, f.alias, f.fill, cols, pieces, s.cfg.noPadding)
		}
		if err == nil {
			err = rowwriter.InsertPosition(ctx, s.writer, f.alias, pos)
		}
		return err
	})
	if err != nil {
		return err
	}
	s.noteGrowth(f, pieces)
	s.noteRows(f, pos, pieces)
	return s.files.wrote(f, pos, kinds)
}

// transact writes to a file in one transaction. It adds the columns that the file lacks; kinds are all its columns then, or nil
// if none were added.
func (fs *files) transact(ctx context.Context, c *duckdb.Conn, f *file, cols []duckdb.Column, write func() error) (kinds map[string]duckdb.Kind, err error) {
	fs.beginChange(f)
	defer func() { fs.endTransaction(f, err) }()
	if err := c.Exec(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	kinds, err = rowwriter.AddColumns(ctx, c, f.alias, f.kinds, cols)
	if err == nil {
		err = fs.sign(ctx, c, f)
	}
	if err == nil {
		err = write()
	}
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = c.Exec(ctx, "COMMIT")
	}
	if err != nil {
		_ = c.Exec(ctx, "ROLLBACK") // fails if the failed statement has already rolled back
		return nil, err
	}
	return kinds, nil
}

// noteGrowth requests token filters once the file has another full block of rows.
func (s *Store) noteGrowth(f *file, pieces []rowwriter.Piece) {
	if s.cfg.noTokenFilters || len(index.TextColumns(f.collection)) == 0 {
		return
	}
	for _, p := range pieces {
		f.grown += p.Len()
	}
	if f.grown >= index.BlockRows {
		f.grown = 0
		s.indexer.request(f)
	}
}

// countFill counts the rows of the last vector of a file, unless they are known.
func (s *Store) countFill(ctx context.Context, f *file) (err error) {
	if f.fill.Alias != f.alias {
		f.fill, err = rowwriter.CountFill(ctx, s.writer, f.alias)
	}
	return err
}
