package duck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/journal"
	"belfry/store/duck/copying"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/rowwriter"
)

// Merge implements store.Copier. The copied file is copied again into the folder, because the engine reads nothing
// outside of it:
//
//	path ──► 2026-11-15.duckdb.merge.new ──► rows that 2026-11-15.duckdb lacks, some thousand at a time
//
// The rows get no position: they are older than whatever comes, and the position of the file stays as it is. After a
// crash the next start removes what was copied; rows that were added stay, and are recognised when the file is merged
// again. The marker of an incomplete day stays: neither file says up to where the day had rows when it was lost.
func (s *Store) Merge(ctx context.Context, path, name string, keep func(belfry.CustomerID) bool) (added int, err error) {
	fail := func(err error) (int, error) { return added, fmt.Errorf("merge %s into the rows: %w", path, err) }
	c, p, err := s.periodNamed(name)
	if err != nil {
		return fail(err)
	}
	m := merging{store: s, keep: keep, from: &file{Span: p, collection: c, alias: "merged", path: filepath.Join(s.cfg.Dir, c.Name, folder.FileName(c, p)+".merge"+journal.TempSuffix)}}
	defer func() { err = errors.Join(err, folder.Unlink(m.from.path)) }()
	if err := m.fetch(ctx, path); err != nil {
		return fail(err)
	}
	for more := true; more; {
		n := 0
		n, more, err = m.step(ctx)
		added += n
		if err != nil && (!duckdb.OutOfMemory(err) || !s.growMemoryFor(ctx)) {
			return fail(err)
		}
		more = more || err != nil
	}
	return added, nil
}

// periodNamed returns the collection and the period of the file with a name as in store.CopiedFile.
func (s *Store) periodNamed(name string) (*catalog.Collection, belfry.Span, error) {
	dir, base, _ := strings.Cut(name, "/")
	for _, c := range s.cfg.Catalog.Kept() {
		if p, ok := folder.ParseFileName(c, strings.TrimSuffix(base, folder.LateSuffix)); ok && c.Name == dir {
			return c, p, nil
		}
	}
	return nil, belfry.Span{}, fmt.Errorf("%.100q is not the name of a file of rows, such as objectdata/2026-11-15.duckdb; what is not rows is made again by the store", name)
}

// growMemoryFor is growMemory for a caller that does not hold write.
func (s *Store) growMemoryFor(ctx context.Context) bool {
	if s.lockWrite(ctx) != nil {
		return false
	}
	defer s.unlockWrite()
	return s.growMemory(ctx)
}

// merging is one run of Merge.
type merging struct {
	store *Store
	keep  func(belfry.CustomerID) bool
	from  *file           // the copied file
	cols  []duckdb.Column // of the copied file
	among string          // condition on the rows that are kept; empty: unknown yet
	at    uint64          // row number from which on rows have not been merged
	end   uint64
}

// fetch copies the file, and its log if it has one, into the folder.
func (m *merging) fetch(ctx context.Context, path string) error {
	if err := m.store.files.checkFolder(); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Dir(m.from.path), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := folder.Unlink(m.from.path); err != nil {
		return err
	}
	if err := copying.To(ctx, path, m.from.path); err != nil {
		return err
	}
	if err := copying.To(ctx, path+".wal", m.from.path+".wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// mergeRows is how many rows of the copied file are looked at in one step. Their texts are in memory: at most
// rowwriter.VectorBytes for each rowwriter.VectorRows.
const mergeRows = 4 * rowwriter.VectorRows

// step adds the missing ones of the next rows, and reports whether there are more. Append waits for it.
func (m *merging) step(ctx context.Context) (added int, more bool, err error) {
	s := m.store
	release, err := s.beginWrite(ctx)
	if err != nil {
		return 0, false, err
	}
	defer release()
	if c, p := m.from.collection, m.from.Span; !s.stores(c, p) {
		return 0, false, fmt.Errorf("retention has deleted the rows of %s of %s, and everything before %s; they are not stored again", c.Name, p.From.Std().Format(folder.Layout(c)), s.marks.At(c.Name))
	}
	if err := s.restore(ctx, s.files.unrestored()); err != nil { // first: it would not recognise rows that are there already
		return 0, false, err
	}
	if err := s.writer.Exec(ctx, "ATTACH "+duckdb.QuoteText(m.from.path)+" AS "+m.from.alias+" (READ_ONLY)"); err != nil {
		return 0, false, err
	}
	defer func() {
		err = errors.Join(err, s.writer.Exec(context.WithoutCancel(ctx), "DETACH "+m.from.alias))
	}()
	if m.among == "" {
		if err := m.inspect(ctx); err != nil {
			return 0, false, err
		}
	}
	if m.at >= m.end {
		return 0, false, nil
	}
	if added, err = m.addMissing(ctx); err != nil {
		return 0, false, err
	}
	m.at += mergeRows
	return added, m.at < m.end, s.checkpointOverfull(ctx)
}

// inspect checks that the copied file is an earlier one of this store, and finds the rows that are kept.
func (m *merging) inspect(ctx context.Context) error {
	s, from := m.store, m.from
	was, err := rowfile.StateOf(from.path, folder.ManifestKey(from.collection, from.Span))
	if err != nil {
		return err
	}
	content, err := rowfile.Inspect(ctx, s.writer, from.attached(), s.files.owner.Identity, was)
	if err != nil {
		return err
	}
	m.cols = rowwriter.ColumnsOf(content.Kinds)
	if last := s.files.highest(); content.Pos > last {
		return fmt.Errorf("the file has rows up to position %d, and this store has come only to %d: it is not an earlier copy of this store, and ids of its rows may have been given again", content.Pos, last)
	}
	if m.end, err = s.writer.Number(ctx, "SELECT coalesce(max(rowid) + 1, 0) FROM "+from.ref()); err != nil {
		return err
	}
	r, err := s.writer.Query(ctx, "SELECT DISTINCT customer FROM "+from.ref()+" WHERE customer IS NOT NULL")
	if err != nil {
		return err
	}
	kept := []belfry.CustomerID{}
	for r.Next() {
		if id := belfry.CustomerID(r.Int(0)); m.keep(id) {
			kept = append(kept, id)
		}
	}
	if len(kept) == 0 {
		m.end = 0
	}
	m.among = fmt.Sprintf("customer IN (%s) AND timestamp >= %d AND timestamp < %d", duckdb.IDList(kept), from.From, from.To)
	return nil
}

// highest returns the highest position that the store has reached.
func (fs *files) highest() (pos belfry.Position) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	pos = max(fs.manifest.Moved, fs.manifest.Reached())
	for _, list := range fs.byName {
		for _, f := range list {
			pos = max(pos, f.pos)
		}
	}
	return pos
}

// addMissing adds those of the next rows that the file of the day lacks. The same row has the same time, so only rows of
// that time are compared.
func (m *merging) addMissing(ctx context.Context) (added int, err error) {
	s, from := m.store, m.from
	rows := fmt.Sprintf("rowid >= %d AND rowid < %d AND %s", m.at, m.at+mergeRows, m.among)
	r, err := s.writer.Query(ctx, "SELECT min(timestamp), max(timestamp) FROM "+from.ref()+" WHERE "+rows)
	if err != nil || !r.Next() || r.Null(0) {
		return 0, err
	}
	first, last := r.Int(0), r.Int(1)
	f, err := s.files.acquireForWriting(ctx, from.collection, from.Span, m.cols)
	if err != nil {
		return 0, err
	}
	defer func() { s.files.finish([]*file{f}, err) }()
	if err := s.files.checkPresent(f); err != nil {
		return 0, err
	}
	var names []string
	for _, col := range m.cols {
		names = append(names, duckdb.QuoteName(col.Name))
	}
	r, err = s.writer.Query(ctx, fmt.Sprintf("SELECT %s FROM %s AS m WHERE %s AND NOT EXISTS (SELECT 1 FROM %s AS l WHERE l.timestamp >= %d AND l.timestamp <= %d AND l.customer = m.customer AND l.id = m.id) ORDER BY rowid",
		strings.Join(names, ", "), from.ref(), rows, f.ref(), first, last))
	if err != nil || r.Rows == 0 {
		return 0, err
	}
	piece := rowwriter.PieceOf(r, m.cols)
	piece.Batch.Collection, piece.Batch.Pos = f.collection.Name, f.pos
	if err := s.commit(ctx, f, []rowwriter.Piece{piece}); err != nil {
		s.files.markStale(f)
		s.invalidateRows(f)
		return 0, fmt.Errorf("write %s: %w", f.path, err)
	}
	s.invalidateRows(f) // its position does not tell the commits apart
	return r.Rows, nil
}
