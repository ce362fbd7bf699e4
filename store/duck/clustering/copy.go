package clustering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"belfry/journal"
	"belfry/store/duck/copying"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/rowfile"
	"belfry/store/duck/rowwriter"
)

// runsTable has the number of rows of each run of a file, in their order. Files that were never copied have none.
const runsTable = "runs"

// rowsAndRuns returns the number of rows of an attached file, and its runs.
func rowsAndRuns(ctx context.Context, q *duckdb.Conn, alias string) (rows uint64, runs []uint64, err error) {
	if rows, err = count(ctx, q, alias); err != nil {
		return 0, nil, err
	}
	r, err := q.Query(ctx, "SELECT rows FROM "+alias+".main."+runsTable)
	if err != nil && strings.Contains(err.Error(), "Table with name "+runsTable+" does not exist") {
		return rows, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	runs, _ = r.Words(0)
	return rows, runs, nil
}

func count(ctx context.Context, q *duckdb.Conn, alias string) (uint64, error) {
	return q.Number(ctx, "SELECT count(*) FROM "+alias+".main.rows")
}

// Copy is a copy of a file in which rows are in order, while it is made.
type Copy struct {
	Sizes
	Path  string
	alias string
	saved bool
	kinds map[string]duckdb.Kind

	runs []uint64
	rest []step // to be done
	rows uint64 // of the file that steps have been planned for
}

// step is one statement: rows from and before two row numbers, of some items, or of all in the order of arrival.
type step struct {
	from, to uint64
	items    *span
	plan     bool // the statements of a run have not been planned yet
}

// ErrUnfit means that the rows of a file stay in the order of arrival.
var ErrUnfit = errors.New("its rows stay in the order of arrival")

// Source is an attached file that is copied.
type Source struct {
	Path, Alias string
	Kinds       map[string]duckdb.Kind // of its columns
	Changes     int                    // grows with each
	Over        bool                   // its day is over
}

func (f Source) table() string { return f.Alias + ".main.rows" }

// Begin begins a copy of a file in which rows that have been there for an age get an order; nil if that is not worth a copy. It is
// attached under an alias until Finish or Discard.
func (s Sizes) Begin(ctx context.Context, q *duckdb.Conn, f Source, st *State, now time.Time, age time.Duration, of folder.Identity) (*Copy, error) {
	all, runs, err := rowsAndRuns(ctx, q, f.Alias)
	if err != nil {
		return nil, err
	}
	rows := st.settled(all, now, age)
	stay, ok := s.due(runs, rows, f.Over)
	if !ok {
		if rows == all && f.Over {
			st.done = f.Changes + 1
		}
		return nil, nil
	}
	from := sum(stay)
	// Padding keeps long texts apart, and would have to be made again.
	if n, err := q.Number(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE item IS NULL AND rowid >= %d AND rowid < %d", f.table(), from, rows)); err != nil || n > 0 {
		return nil, cmp.Or(err, ErrUnfit)
	}
	if err := checkSpace(f.Path); err != nil {
		return nil, err
	}
	c := &Copy{Sizes: s, Path: f.Path + ".order" + journal.TempSuffix, alias: "order" + strconv.FormatInt(now.UnixNano(), 36), kinds: f.Kinds, runs: stay, rows: rows}
	c.asItIs(0, from)
	for _, n := range s.divide(rows - from) {
		c.rest = append(c.rest, step{from: from, to: from + n, plan: true})
		c.runs = append(c.runs, n)
		from += n
	}
	err = folder.Unlink(c.Path)
	if err == nil {
		err = q.Exec(ctx, "ATTACH "+duckdb.QuoteText(c.Path)+" AS "+c.alias)
	}
	if err == nil {
		err = rowfile.CreateTables(ctx, q, c.alias, rowwriter.ColumnsOf(f.Kinds), of)
	}
	if err != nil {
		return nil, errors.Join(err, c.Discard(ctx, q))
	}
	return c, nil
}

// checkSpace returns an error if a copy of a file could fill the disk. What is left then is for rows that arrive.
func checkSpace(path string) error {
	const spare = 512 << 20
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &fs); err != nil {
		return err
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < 2*info.Size()+spare {
		return fmt.Errorf("the disk has %d MB free, and a copy takes up to %d MB", free>>20, info.Size()>>20)
	}
	return nil
}

// asItIs plans to copy rows in their present order.
func (c *Copy) asItIs(from, to uint64) {
	for ; from < to; from = min(from+c.Piece, to) {
		c.rest = append(c.rest, step{from: from, to: min(from+c.Piece, to)})
	}
}

// Step does the next piece of work. more is false when all is done that can be done while rows are written to the file.
func (c *Copy) Step(ctx context.Context, q *duckdb.Conn, f Source) (more bool, err error) {
	if len(c.rest) > 0 {
		return true, c.next(ctx, q, f)
	}
	if err := c.CatchUp(ctx, q, f); err != nil {
		return false, err
	}
	if c.saved {
		return false, nil
	}
	c.saved = true
	return true, c.save(ctx, q, f)
}

// next runs the next statement.
func (c *Copy) next(ctx context.Context, q *duckdb.Conn, f Source) error {
	st := c.rest[0]
	if st.plan {
		planned, err := c.plan(ctx, q, f, st)
		c.rest = append(planned, c.rest[1:]...)
		return err
	}
	text := fmt.Sprintf("INSERT INTO %s.main.rows BY NAME SELECT * FROM %s WHERE rowid >= %d AND rowid < %d", c.alias, f.table(), st.from, st.to)
	if st.items != nil {
		text += fmt.Sprintf(" AND item >= %d AND item < %d ORDER BY item // %d, rowid", st.items.from, st.items.to, neighbours)
	}
	c.rest = c.rest[1:]
	return q.Exec(ctx, text)
}

// plan returns the statements that copy a run.
func (c *Copy) plan(ctx context.Context, q *duckdb.Conn, f Source, st step) (list []step, err error) {
	r, err := q.Query(ctx, fmt.Sprintf("SELECT item // %d AS items, count(*) FROM %s WHERE rowid >= %d AND rowid < %d GROUP BY items ORDER BY items", neighbours, f.table(), st.from, st.to))
	if err != nil {
		return nil, err
	}
	var parts []part
	for r.Next() {
		parts = append(parts, part{items: uint64(r.Int(0)), rows: uint64(r.Int(1))})
	}
	for _, items := range c.pieces(parts) {
		list = append(list, step{from: st.from, to: st.to, items: &items})
	}
	return list, nil
}

// fewRows are few enough for writers to wait until they are copied.
const fewRows = 20_000

// CatchUp copies rows that have arrived meanwhile, until there are few left.
func (c *Copy) CatchUp(ctx context.Context, q *duckdb.Conn, f Source) error {
	more, err := rowwriter.AddColumns(ctx, q, c.alias, c.kinds, rowwriter.ColumnsOf(f.Kinds))
	if err != nil {
		return err
	}
	if more != nil {
		c.kinds = more
	}
	for range 20 {
		now, err := count(ctx, q, f.Alias)
		if err != nil {
			return err
		}
		had := c.rows
		if c.rows = now; now < had {
			return fmt.Errorf("%s had %d rows, and has %d", f.Path, had, now)
		}
		c.asItIs(had, now)
		for len(c.rest) > 0 {
			if err := c.next(ctx, q, f); err != nil {
				return err
			}
		}
		if now-had <= fewRows {
			return nil
		}
	}
	return errors.New("rows arrive faster than they can be copied")
}

// save compares the copy with the file and makes it durable as it is, so that little is left to do for Finish.
func (c *Copy) save(ctx context.Context, q *duckdb.Conn, f Source) error {
	if err := c.compare(ctx, q, f, "sum(id % 1000000007)", fmt.Sprintf(" WHERE rowid < %d", c.rows)); err != nil {
		return err
	}
	if err := q.Exec(ctx, "CHECKPOINT "+c.alias); err != nil {
		return err
	}
	if err := rowfile.Sync(c.Path); err != nil {
		return err
	}
	return c.check(ctx, q, math.MaxInt64)
}

// check reads the copy back and compares its checksums, unless it is larger than most: the file whose place it takes is gone then.
func (c *Copy) check(ctx context.Context, q *duckdb.Conn, most int64) error {
	in, err := copying.Open(c.Path)
	if err != nil {
		return fmt.Errorf("read the copy back: %w", err)
	}
	defer in.Close()
	all := in.Copied("")
	if all.Size > most {
		return nil
	}
	if _, err := io.Copy(io.Discard, all.Content); err != nil {
		return fmt.Errorf("read the copy back: %w", err)
	}
	why := in.Damage(func(blocks []uint64) bool {
		used, err := damage.Uses(ctx, q, c.alias, blocks)
		return err != nil || used
	})
	if why != "" {
		return fmt.Errorf("the copy is damaged: %s", why)
	}
	return nil
}

// quickly is how much is read back while writers wait.
const quickly = 64 << 20

// Finish completes the copy and detaches it. It checks that the copy has as many rows as the file. Nothing may be written to the file until
// the copy has taken its place.
func (c *Copy) Finish(ctx context.Context, q *duckdb.Conn, f Source) error {
	if err := c.CatchUp(ctx, q, f); err != nil {
		return err
	}
	if err := c.compare(ctx, q, f, "count(*)", ""); err != nil {
		return err
	}
	values := make([]string, len(c.runs))
	for i, n := range c.runs {
		values[i] = fmt.Sprintf("(%d)", n)
	}
	for _, text := range []string{
		"INSERT INTO " + c.alias + ".main.position SELECT pos FROM " + f.Alias + ".main.position ORDER BY pos", // all of them; see summary.Origin
		"CREATE TABLE " + c.alias + ".main." + runsTable + " (rows UBIGINT)",
		"INSERT INTO " + c.alias + ".main." + runsTable + " VALUES " + strings.Join(values, ", "),
		"CHECKPOINT " + c.alias,
	} {
		if err := q.Exec(ctx, text); err != nil {
			return err
		}
	}
	if err := rowfile.Sync(c.Path); err != nil {
		return err
	}
	if err := c.check(ctx, q, quickly); err != nil {
		return err
	}
	return q.Exec(ctx, "DETACH "+c.alias)
}

// compare returns an error if an aggregate of the copy is not that of the file.
func (c *Copy) compare(ctx context.Context, q *duckdb.Conn, f Source, of, where string) error {
	text := "SELECT CAST(" + of + " AS UBIGINT) FROM "
	want, err := q.Number(ctx, text+f.table()+where)
	if err != nil {
		return err
	}
	got, err := q.Number(ctx, text+c.alias+".main.rows"+where)
	if err == nil && got != want {
		err = fmt.Errorf("the copy of %s has %s = %d and not %d", f.Path, of, got, want)
	}
	return err
}

// Saved reports whether only rows that have arrived since are missing.
func (c *Copy) Saved() bool { return c.saved }

// Discard detaches and removes the copy. A copy that has been detached, or whose engine is gone, is only removed.
func (c *Copy) Discard(ctx context.Context, q *duckdb.Conn) error {
	if q != nil {
		_ = q.Exec(context.WithoutCancel(ctx), "DETACH "+c.alias)
	}
	return folder.Unlink(c.Path)
}
