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
	"belfry/store/duck/index"
)

const (
	// maxCommit is how many rows go into one transaction if positions allow it. Above 122,880, the engine's row group,
	// it would write row groups straight into the file and leave a small one behind each time, to be merged later: half
	// as much work now, but a file of twice the size.
	maxCommit = 100_000

	// maxUncheckpointed is how many files may have rows that are only in their logs. Checkpointing a few rows costs ten
	// times as much as writing them, so late data over many days must not checkpoint each day each time.
	maxUncheckpointed = 256
)

// Names of the columns every file has.
const (
	customerColumn  = "customer"
	idColumn        = "id"
	timestampColumn = "timestamp"
)

// fewFiles is how many files get their rows before AppendSome calls enough.
const fewFiles = 8

// Append implements store.Store. If one file fails, the others still get their rows.
func (s *Store) Append(ctx context.Context, batches ...*belfry.Batch) error {
	_, err := s.AppendSome(ctx, func() bool { return false }, batches...)
	return err
}

// AppendSome implements store.Divided. The newest files come first, because queries wait for their rows.
func (s *Store) AppendSome(ctx context.Context, enough func() bool, batches ...*belfry.Batch) (left []*belfry.Batch, err error) {
	if err := s.lockWrite(ctx); err != nil {
		return nil, err
	}
	defer s.unlockWrite()
	left, err = s.append(ctx, batches, enough)
	if outOfMemory(err) {
		left, err = nil, s.appendAlone(ctx, batches, err)
	}
	if err == nil {
		s.arrivals.note(without(batches, left))
		return left, nil
	}
	if s.engineBroken(ctx) {
		err = errors.Join(err, s.restartEngine(ctx))
	}
	return nil, err
}

func without(batches, left []*belfry.Batch) []*belfry.Batch {
	if len(left) == 0 {
		return batches
	}
	return slices.DeleteFunc(slices.Clone(batches), func(b *belfry.Batch) bool { return slices.Contains(left, b) })
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
	if err := s.items.apply(ctx, s.writer, batches); err != nil {
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
		if i >= fewFiles && len(errs) == 0 && enough() {
			left = batchesOf(batches, loads[i:])
			break
		}
		if err := s.deliver(ctx, l); err != nil {
			errs = append(errs, err)
		}
		s.delivered[l.key()] = l.pieces[len(l.pieces)-1].batch.Pos
		if err := s.checkpointOverfull(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	if len(left) == 0 || len(errs) > 0 {
		clear(s.delivered)
	}
	if len(errs) == 0 { // otherwise the batches come again and are counted then
		for _, b := range without(batches, left) {
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
		l.pieces = slices.DeleteFunc(l.pieces, func(p piece) bool { return p.batch.Pos <= pos })
		return len(l.pieces) == 0
	})
}

// batchesOf returns the batches that have rows in the loads.
func batchesOf(batches []*belfry.Batch, loads []*load) (some []*belfry.Batch) {
	in := map[*belfry.Batch]bool{}
	for _, l := range loads {
		for _, p := range l.pieces {
			in[p.batch] = true
		}
	}
	for _, b := range batches {
		if in[b] {
			some = append(some, b)
		}
	}
	return some
}

// engineBroken reports whether the engine as a whole has failed.
func (s *Store) engineBroken(ctx context.Context) bool {
	s.engineMu.RLock()
	defer s.engineMu.RUnlock()
	if s.closed || ctx.Err() != nil {
		return false
	}
	return s.engine == nil || duckdb.IsKind(s.writer.Exec(ctx, "SELECT count(*) FROM "+itemTable), duckdb.FatalError, duckdb.InternalError)
}

// load is what is to be stored in one file.
type load struct {
	collection *catalog.Collection
	period     belfry.Span
	pieces     []piece
}

// loadKey identifies the file of a load.
type loadKey struct {
	collection *catalog.Collection
	from       belfry.Time
}

func (l *load) key() loadKey { return loadKey{l.collection, l.period.From} }

// piece is a batch, or the part of it that belongs to one period.
type piece struct {
	batch *belfry.Batch
	rows  []int // nil: all of them
}

func (p piece) len() int {
	if p.rows != nil {
		return len(p.rows)
	}
	return p.batch.Len()
}

// divide sorts rows by the file they belong to. It leaves out rows of dropped periods and counts them by batch.
func (s *Store) divide(batches []*belfry.Batch) (loads []*load, dropped map[*belfry.Batch]uint64, err error) {
	index := map[loadKey]*load{}
	dropped = map[*belfry.Batch]uint64{}
	add := func(c *catalog.Collection, p belfry.Span, part piece) {
		if !s.stores(c, p) || p.From >= endOfTime {
			dropped[part.batch] += uint64(part.len())
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
		split(c, b, func(p belfry.Span, rows []int) { add(c, p, piece{b, rows}) })
	}
	return loads, dropped, nil
}

// split calls each with the periods of a batch's rows; rows is nil if they all share one, which is the usual case.
func split(c *catalog.Collection, b *belfry.Batch, each func(p belfry.Span, rows []int)) {
	p := c.PeriodOf(b.Times[0])
	if !slices.ContainsFunc(b.Times, func(t belfry.Time) bool { return !p.Contains(t) }) {
		each(p, nil)
		return
	}
	parts := map[belfry.Span][]int{}
	for i, t := range b.Times {
		if !p.Contains(t) {
			p = c.PeriodOf(t)
		}
		parts[p] = append(parts[p], i)
	}
	order := make([]belfry.Span, 0, len(parts))
	for p := range parts {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b belfry.Span) int { return int(min(max(a.From-b.From, -1), 1)) })
	for _, p := range order {
		each(p, parts[p])
	}
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
			open, _ := s.queries.clear(ctx, true)
			open()
		}
		if err := s.restore(ctx, s.files.unrestored()); err != nil {
			return err
		}
	}
}

func (s *Store) deliverTo(ctx context.Context, l *load) (err error) {
	cols, err := columns(l.collection, l.pieces)
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
	pieces := slices.DeleteFunc(slices.Clone(l.pieces), func(p piece) bool { return p.batch.Pos <= f.pos })
	for len(pieces) > 0 {
		n := commitSize(pieces)
		if err := s.commit(ctx, f, pieces[:n]); err != nil {
			s.files.markStale(f)
			s.invalidateRows(f)
			return fmt.Errorf("write %s: %w", f.path, err)
		}
		pieces = pieces[n:]
	}
	return nil
}

// commitSize returns how many pieces go into the next transaction. The pieces of one position stay together.
func commitSize(pieces []piece) int {
	rows := 0
	for i, p := range pieces {
		if i > 0 && rows+p.len() > maxCommit && p.batch.Pos != pieces[i-1].batch.Pos {
			return i
		}
		rows += p.len()
	}
	return len(pieces)
}

// columns returns the columns that the pieces need, starting with those that every file has.
func columns(c *catalog.Collection, pieces []piece) ([]duckdb.Column, error) {
	cols := []duckdb.Column{{Name: customerColumn, Kind: duckdb.Small}, {Name: idColumn, Kind: duckdb.ID}, {Name: timestampColumn, Kind: duckdb.Int}}
	if c.Item {
		cols = append(cols, duckdb.Column{Name: belfry.ItemColumn, Kind: duckdb.ID})
	}
	known := make(map[string]duckdb.Kind, 16)
	for _, col := range cols {
		known[col.Name] = col.Kind
	}
	for i, p := range pieces {
		if i > 0 && sameColumns(p.batch, pieces[i-1].batch) {
			continue
		}
		for j := range p.batch.Columns {
			col := columnOf(&p.batch.Columns[j])
			k, ok := known[col.Name]
			switch {
			case !ok:
				known[col.Name] = col.Kind
				cols = append(cols, col)
			case k != col.Kind || col.Name == idColumn || col.Name == timestampColumn:
				return nil, fmt.Errorf("column %q is %s, not %s: the type of a column never changes", col.Name, k.SQL(), col.Kind.SQL())
			}
		}
	}
	return cols, nil
}

func sameColumns(a, b *belfry.Batch) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(a, b belfry.Column) bool { return columnOf(&a) == columnOf(&b) })
}

func columnOf(c *belfry.Column) duckdb.Column {
	switch {
	case c.Numbers != nil:
		return duckdb.Column{Name: c.Name, Kind: duckdb.Number}
	case c.Texts != nil:
		return duckdb.Column{Name: c.Name, Kind: duckdb.Text}
	case c.Name == belfry.ItemColumn:
		return duckdb.Column{Name: c.Name, Kind: duckdb.ID}
	}
	return duckdb.Column{Name: c.Name, Kind: duckdb.Int}
}

// commit writes pieces and their position in one transaction.
func (s *Store) commit(ctx context.Context, f *file, pieces []piece) error {
	cols, err := columns(f.collection, pieces)
	if err != nil {
		return err
	}
	s.files.countWrite(f)
	defer s.files.countWrite(f)
	if err := s.writer.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	kinds, err := extend(ctx, s.writer, f, cols)
	if err == nil {
		err = s.files.sign(ctx, s.writer, f)
	}
	if err == nil {
		err = s.loadFill(ctx, f)
	}
	if err == nil {
		err = s.appendRows(f, cols, pieces)
	}
	pos := pieces[len(pieces)-1].batch.Pos
	if err == nil {
		err = s.writer.Exec(ctx, "INSERT INTO "+f.alias+".main.position VALUES (?)", uint64(pos))
	}
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		err = s.files.commit(ctx, s.writer, f)
	}
	if err != nil {
		_ = s.writer.Exec(ctx, "ROLLBACK") // fails if the failed statement has already rolled back
		return err
	}
	s.noteGrowth(f, pieces)
	s.noteRows(f, pos, pieces)
	return s.files.wrote(f, pos, kinds)
}

// noteGrowth requests token filters once the file has another full block of rows.
func (s *Store) noteGrowth(f *file, pieces []piece) {
	if s.cfg.noTokenFilters || len(index.TextColumns(f.collection)) == 0 {
		return
	}
	for _, p := range pieces {
		f.grown += p.len()
	}
	if f.grown >= index.BlockRows {
		f.grown = 0
		s.indexer.request(f)
	}
}

// extend adds the columns that the file lacks. It returns all its columns, or nil if none were added.
func extend(ctx context.Context, c *duckdb.Conn, f *file, cols []duckdb.Column) (map[string]duckdb.Kind, error) {
	var kinds map[string]duckdb.Kind
	for _, col := range cols {
		k, ok := f.kinds[col.Name]
		if ok && k != col.Kind {
			return nil, fmt.Errorf("column %q is %s, not %s: the type of a column never changes", col.Name, k.SQL(), col.Kind.SQL())
		}
		if ok {
			continue
		}
		if err := c.Exec(ctx, "ALTER TABLE "+f.alias+".main.rows ADD COLUMN "+duckdb.QuoteName(col.Name)+" "+col.Kind.SQL()); err != nil {
			return nil, err
		}
		if kinds == nil {
			kinds = make(map[string]duckdb.Kind, len(f.kinds)+1)
			for name, k := range f.kinds {
				kinds[name] = k
			}
		}
		kinds[col.Name] = col.Kind
	}
	return kinds, nil
}

func (s *Store) appendRows(f *file, cols []duckdb.Column, pieces []piece) error {
	a, err := s.writer.NewAppender(f.alias, "rows", cols)
	if err != nil {
		return err
	}
	w := rowWriter{Appender: a, from: make([]*belfry.Column, len(cols)), fill: f.fill, overflow: make([]bool, len(cols)), noPadding: s.cfg.noPadding}
	for _, p := range pieces {
		if err := w.write(p); err != nil {
			a.Discard()
			return err
		}
	}
	if err := w.padAtEnd(); err != nil {
		a.Discard()
		return err
	}
	f.fill = w.fill
	return a.Close()
}
