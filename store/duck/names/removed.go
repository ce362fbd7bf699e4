package names

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"belfry"
	"belfry/journal"
	"belfry/store"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowwriter"
)

// removedNames has the names of removed items. There may be many more of them than of existing items, and queries
// seldom need them, so they are in a file:
//
//	items.main.live ─────────────┐
//	                             ├─► view items.main.item
//	removed.main.item, shown ────┘
//
// A removed item moves from one table to the other. The engine cannot write to two databases in one transaction, so its
// row in the file belongs to a batch that the view does not show yet; the transaction that deletes it from the other
// table shows the batch.
//
// The file is derived from the metadata. If it is missing, cannot be read, or lacks names (see mark), it is made
// again. If that fails, the names are kept in memory until the next start: problems of the folder are reported when
// rows are written.
type removedNames struct {
	path  string // memoryOnly: there is no file
	of    folder.Identity
	fill  func(add func(*belfry.Batch) error) error
	after func(pos belfry.Position) bool // see store.Config.RemovedAfter
	log   *slog.Logger
	batch int64 // the last one shown
	added int   // rows since the last checkpoint
	held  bool  // no checkpoint may be made; see Hold
	mark  mark

	written os.FileInfo // the file after the last change
	foreign bool        // another program has replaced it or written to it since it was attached
}

const (
	memoryOnly        = ":memory:"
	File              = "removed.duckdb"
	RemovedDatabase   = "removed"
	removedTable      = RemovedDatabase + ".main.item"
	shownTable        = itemDatabase + ".main.shown"
	batchColumn       = "batch"
	checkpointRemoved = 20_000 // rows in the log that trigger a checkpoint
)

func removedColumns() []duckdb.Column {
	return append(itemColumns(), duckdb.Column{Name: batchColumn, Kind: duckdb.ID})
}

// splitRemoved separates the items that exist from those that were removed.
func splitRemoved(pieces []rowwriter.Piece) (live, gone []rowwriter.Piece) {
	for _, p := range pieces {
		times := p.Batch.Column(belfry.RemovedColumn)
		if times == nil {
			live = append(live, p)
			continue
		}
		var is, was []int
		for _, row := range p.Rows {
			if times.Ints[row] == 0 {
				is = append(is, row)
			} else {
				was = append(was, row)
			}
		}
		if len(is) > 0 {
			live = append(live, rowwriter.Piece{Batch: p.Batch, Rows: is})
		}
		if len(was) > 0 {
			gone = append(gone, rowwriter.Piece{Batch: p.Batch, Rows: was})
		}
	}
	return live, gone
}

// open attaches the file, creates it if necessary, and creates the view of all items.
func (r *removedNames) open(ctx context.Context, c *duckdb.Conn) error {
	err := r.attach(ctx, c)
	if err == nil && r.after(r.mark.pos) {
		err = errBehind
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.log.Warn("the names of removed items cannot be read and are written again", "file", r.path, "err", err)
		_ = c.Exec(ctx, "DETACH "+RemovedDatabase) // it may not be attached
		if err := r.recreate(ctx, c); err != nil {
			return err
		}
	}
	var names []string
	for _, col := range itemColumns() {
		names = append(names, duckdb.QuoteName(col.Name))
	}
	list := strings.Join(names, ", ")
	for _, text := range []string{
		"CREATE TABLE " + shownTable + " AS SELECT coalesce(max(batch), 0)::BIGINT AS batch FROM " + removedTable,
		"CREATE VIEW " + Table + " AS SELECT " + list + " FROM " + liveTable + " UNION ALL SELECT " + list + " FROM " + removedTable +
			" WHERE batch <= (SELECT batch FROM " + shownTable + ")",
	} {
		if err := c.Exec(ctx, text); err != nil {
			return err
		}
	}
	batch, err := c.Number(ctx, "SELECT batch FROM "+shownTable)
	r.batch, r.added = int64(batch), 0
	return err
}

// recreate creates the file again, or a database in memory if that fails.
func (r *removedNames) recreate(ctx context.Context, c *duckdb.Conn) error {
	err := folder.Unlink(r.path)
	if err == nil {
		err = r.attach(ctx, c)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	r.log.Warn("the names of removed items cannot be stored and are kept in memory until the next start", "file", r.path, "err", err)
	_ = c.Exec(ctx, "DETACH "+RemovedDatabase)
	r.path = memoryOnly
	return r.attach(ctx, c)
}

func (r *removedNames) attach(ctx context.Context, c *duckdb.Conn) error {
	if err := c.Exec(ctx, "ATTACH "+duckdb.QuoteText(r.path)+" AS "+RemovedDatabase); err != nil {
		return err
	}
	if r.path != memoryOnly {
		if err := os.Chmod(r.path, 0o600); err != nil {
			return err
		}
	}
	mark, err := inspect(ctx, c, RemovedDatabase)
	if err != nil {
		return err
	}
	if mark != nil {
		err := mark.check(filepath.Dir(r.path), r.of)
		r.mark = *mark
		r.mark.branch = r.of.Branches.Current()
		return err
	}
	r.mark = newMark(r.of)
	err = transact(ctx, c, func() error { // the table has all its rows, or does not exist
		if err := c.Exec(ctx, createRemoved(removedTable)); err != nil {
			return err
		}
		err := r.fill(func(b *belfry.Batch) error {
			rows := make([]int, b.Len())
			for i := range rows {
				rows[i] = i
			}
			r.mark.pos = max(r.mark.pos, b.Pos)
			return addItemsTo(c, RemovedDatabase, "item", removedColumns(), []rowwriter.Piece{{Batch: b, Rows: rows}}, 1)
		})
		if err != nil {
			return err
		}
		return r.mark.create(ctx, c)
	})
	if err == nil {
		err = c.Exec(ctx, "CHECKPOINT "+RemovedDatabase)
	}
	if err == nil {
		err = r.writeMark()
	}
	return err
}

// inspect returns the mark of an attached file; nil if the file has no tables yet. If it has tables, those of the
// names must be among them.
func inspect(ctx context.Context, c *duckdb.Conn, alias string) (*mark, error) {
	text := "SELECT count(*) FROM duckdb_tables() WHERE database_name = '" + alias + "'"
	tables, err := c.Number(ctx, text)
	if err != nil || tables == 0 {
		return nil, err
	}
	if n, err := c.Number(ctx, text+" AND table_name IN ('item', 'mark')"); err != nil || n != 2 {
		return nil, cmp.Or(err, ErrNames)
	}
	if _, err := c.Number(ctx, "SELECT coalesce(max(batch), 0) FROM "+alias+".main.item"); err != nil {
		return nil, err
	}
	return readMark(ctx, c, alias)
}

func createRemoved(table string) string {
	var defs []string
	for _, col := range removedColumns() {
		defs = append(defs, duckdb.QuoteName(col.Name)+" "+col.Kind.SQL())
	}
	return "CREATE TABLE " + table + " (" + strings.Join(defs, ", ") + ")"
}

// add stores items in the next batch, which is not shown yet.
func (r *removedNames) add(ctx context.Context, c *duckdb.Conn, pieces []rowwriter.Piece) error {
	var ids []int64
	next := r.mark.next()
	for _, p := range pieces {
		ids = append(ids, rowwriter.Gather(nil, p.Batch.Column(belfry.ItemColumn).Ints, p.Rows)...)
		next.pos = max(next.pos, p.Batch.Pos)
	}
	err := transact(ctx, c, func() error {
		if err := deleteItems(ctx, c, removedTable, ids); err != nil { // left by a failed attempt, or from before a restart
			return err
		}
		if err := addItemsTo(c, RemovedDatabase, "item", removedColumns(), pieces, r.batch+1); err != nil {
			return err
		}
		return next.update(ctx, c)
	})
	if err == nil {
		r.mark = next
		err = r.writeMark()
	}
	if r.added += len(ids); err == nil && r.added >= checkpointRemoved {
		err = r.checkpoint(ctx, c)
	}
	return err
}

// show makes the last added batch visible to queries, in the transaction of the caller.
func (r *removedNames) show(ctx context.Context, c *duckdb.Conn) error {
	return c.Exec(ctx, fmt.Sprintf("UPDATE %s SET batch = %d", shownTable, r.batch+1))
}

// checkpoint moves the log into the file.
func (r *removedNames) checkpoint(ctx context.Context, c *duckdb.Conn) error {
	if r.added == 0 || r.held {
		return nil
	}
	r.added = 0
	return c.Exec(ctx, "CHECKPOINT "+RemovedDatabase)
}

// changing begins a change of the file; call what it returns at the end. It notices what other programs have done to the file before.
func (r *removedNames) changing() (done func()) {
	if r.path == memoryOnly {
		return func() {}
	}
	info, err := os.Stat(r.path)
	if was := r.written; err == nil && was != nil && (!os.SameFile(was, info) || was.Size() != info.Size() || !was.ModTime().Equal(info.ModTime())) {
		r.foreign = true
	}
	return func() {
		if info, err := os.Stat(r.path); err == nil {
			r.written = info
		}
	}
}

// Hold checkpoints the file of removed names and keeps it as it then is, for a copy, until LetGo. The connection c is for
// these two alone.
func (d *Names) Hold(ctx context.Context, c *duckdb.Conn) error {
	r := &d.removed
	if r.path == memoryOnly {
		return errors.New("the names of removed items are only in memory until the next start")
	}
	defer r.changing()()
	if r.foreign {
		return errors.New("another program has replaced it or written to it; the next start of the service checks it, and creates it again if it is not the right one")
	}
	r.added = 0
	err := c.Exec(ctx, "CHECKPOINT "+RemovedDatabase)
	if err == nil {
		err = c.HoldCheckpoints(ctx, RemovedDatabase)
	}
	r.held = err == nil
	return err
}

// LetGo ends Hold.
func (d *Names) LetGo(c *duckdb.Conn) {
	if d.removed.held {
		c.AllowCheckpoints()
		d.removed.held = false
	}
}

var (
	// ErrNames marks a readable file that is not the right one.
	ErrNames = errors.New("it does not hold the names of removed items")
	// errBehind marks a file that is older than the metadata, together with its mark.
	errBehind = fmt.Errorf("%w as a whole: the metadata have more, so it is an older copy", ErrNames)
)

// Page is how many removed items are read at once: there may be millions.
const Page = 20_000

// Removed calls each with the items that the file has as removed: their customer, kind and own name. It reads them by row
// number, which finds a page without reading the others. No one else writes meanwhile, so row numbers do not change.
func (d *Names) Removed(ctx context.Context, c *duckdb.Conn, each func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string)) error {
	end, err := c.Number(ctx, "SELECT coalesce(max(rowid) + 1, 0) FROM "+removedTable)
	if err != nil {
		return fmt.Errorf("read removed items: %w", err)
	}
	for from := uint64(0); from < end; from += Page {
		r, err := c.Query(ctx, fmt.Sprintf("SELECT id, customer, kind, CASE kind WHEN %d THEN object WHEN %d THEN resource ELSE view END FROM %s WHERE rowid >= %d AND rowid < %d",
			belfry.KindObject, belfry.KindResource, removedTable, from, from+Page))
		if err != nil {
			return fmt.Errorf("read removed items: %w", err)
		}
		for r.Next() {
			each(belfry.ID(r.Int(0)), belfry.CustomerID(r.Int(1)), belfry.Kind(r.Int(2)), r.TextAt(3))
		}
	}
	return nil
}

// Forget deletes the names of removed items.
func (d *Names) Forget(ctx context.Context, c *duckdb.Conn, ids []belfry.ID) error {
	defer d.removed.changing()()
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	if err := deleteItems(ctx, c, removedTable, numbers); err != nil {
		return fmt.Errorf("forget removed items: %w", err)
	}
	d.removed.added += len(ids)
	if d.removed.added < checkpointRemoved {
		return nil
	}
	return d.removed.checkpoint(ctx, c)
}

// Erase removes the names of items of customers, and rewrites the file if it has some. No query may read it meanwhile.
func (d *Names) Erase(ctx context.Context, c *duckdb.Conn, customers []belfry.CustomerID) error {
	among := "customer IN (" + duckdb.IDList(customers) + ")"
	if err := c.Exec(ctx, "DELETE FROM "+liveTable+" WHERE "+among); err != nil {
		return err
	}
	n, err := c.Number(ctx, "SELECT count(*) FROM "+removedTable+" WHERE "+among)
	if err != nil || n == 0 {
		return err
	}
	defer d.removed.changing()()
	path := d.removed.path
	if path == memoryOnly {
		return c.Exec(ctx, "DELETE FROM "+removedTable+" WHERE "+among)
	}
	copied := path + journal.TempSuffix
	if err := folder.Unlink(copied); err != nil { // left by a crash
		return err
	}
	const other = "removed_copy"
	for _, text := range []string{
		"ATTACH " + duckdb.QuoteText(copied) + " AS " + other,
		"CREATE TABLE " + other + ".main.item AS SELECT * FROM " + removedTable + " WHERE NOT (" + among + ")",
		"CREATE TABLE " + other + ".main.mark AS SELECT * FROM " + removedMark,
		"CHECKPOINT " + other, "DETACH " + other, "CHECKPOINT " + RemovedDatabase,
	} {
		if err := c.Exec(ctx, text); err != nil {
			_ = c.Exec(ctx, "DETACH "+other)
			return errors.Join(err, folder.Unlink(copied))
		}
	}
	ctx = context.WithoutCancel(ctx)
	if err := c.Exec(ctx, "DETACH "+RemovedDatabase); err != nil {
		return errors.Join(err, folder.Unlink(copied))
	}
	err = os.Rename(copied, path)
	return errors.Join(err, c.Exec(ctx, "ATTACH "+duckdb.QuoteText(path)+" AS "+RemovedDatabase))
}

// ReadAll makes the engine read all names, and then calls check with the attached file. If that fails, atStart reports whether a start would find the same
// and write the names again.
func ReadAll(ctx context.Context, c *duckdb.Conn, cfg store.Config, check func(path, alias string) error) (atStart bool, err error) {
	const alias = "f"
	path := filepath.Join(cfg.Dir, File)
	if err := c.Exec(ctx, "ATTACH "+duckdb.QuoteText(path)+" AS "+alias); err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, c.Exec(context.WithoutCancel(ctx), "DETACH "+alias)) }()
	mark, err := inspect(ctx, c, alias)
	if err == nil && mark != nil {
		err = mark.check(cfg.Dir, folder.IdentityOf(cfg))
	}
	if err == nil && mark != nil && cfg.RemovedAfter(mark.pos) {
		err = errBehind
	}
	if err != nil || mark == nil {
		return true, err
	}
	var sums []string
	for _, col := range removedColumns() {
		sums = append(sums, "bit_xor(hash("+duckdb.QuoteName(col.Name)+"))")
	}
	if err := c.Exec(ctx, "SELECT "+strings.Join(sums, ", ")+" FROM "+alias+".main.item"); err != nil {
		return false, err
	}
	return false, check(path, alias)
}
