// Package rowfile knows the tables of a database file of rows or of summaries: it creates such files, and reads from them
// how far they have come, which columns they have and whose rows they hold.
package rowfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"belfry"
	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/summary"
)

// InstanceTable names in each file the instance its rows belong to: customers and items are numbers that mean something
// else in another instance. A row is added when the file is created and with the first commit to each log. The latter also names the
// file, and how often it had been checkpointed then: so a log beside another file, or beside an older or a newer state of its
// file, is detected, too. A checkpoint ends a log, so these numbers rise, and the file itself has a higher one than all of them,
// or the number of the last if its log has not been checkpointed. The last row has the branch in which the file was written last; the first
// commit of a start adds one if the log is that of an earlier start.
const InstanceTable = "instance"

// createInstance returns the statement that creates the table of instances in a new file.
func createInstance(alias string, of folder.Identity) string {
	return "CREATE TABLE " + alias + ".main." + InstanceTable + " AS SELECT " + duckdb.QuoteText(of.Instance) + " AS id, '' AS file, 0::UBIGINT AS checkpoints, " + duckdb.QuoteText(of.Branches.Current()) + " AS branch"
}

// Sign adds a row as part of a transaction: of a log that begins, or, without a state, of a start that writes to the log of an earlier one.
func Sign(ctx context.Context, c *duckdb.Conn, alias string, of folder.Identity, at State) error {
	return c.Exec(ctx, "INSERT INTO "+alias+".main."+InstanceTable+" VALUES (?, ?, ?, ?)", of.Instance, at.name(), at.Checkpoints, of.Branches.Current())
}

// State is that of a file before it is attached.
type State struct {
	Key         string // in the manifest
	Checkpoints uint64
}

// StateOf returns the state of a file with a name in the manifest. It fails if the engine would wait for ever for the file or its log.
// What is wrong with a file that is too short, the engine finds out.
func StateOf(path, key string) (State, error) {
	if info, err := os.Stat(path + ".wal"); err == nil && !info.Mode().IsRegular() {
		return State{}, fmt.Errorf("%s.wal: %w", path, damage.ErrNoFile)
	}
	n, err := damage.Checkpoints(path)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return State{key, n}, err
}

// name is the same for a late file, which becomes the file of its day if that is lost.
func (s State) name() string { return strings.TrimSuffix(s.Key, folder.LateSuffix) }

// checkLog checks that the log of an attached file belongs to the state that the file had. It reports whether there is one.
func checkLog(ctx context.Context, c *duckdb.Conn, alias string, was State) (any bool, err error) {
	r, err := c.Query(ctx, "SELECT file, checkpoints FROM "+alias+".main."+InstanceTable+" WHERE file <> '' ORDER BY rowid")
	if duckdb.IsKind(err, duckdb.BinderError) {
		return false, fmt.Errorf("%w: it does not say which logs it had in a way that this program knows", damage.ErrForeign)
	}
	if err != nil {
		return false, err
	}
	last := int64(-1)
	for r.Next() {
		name, n := r.TextAt(0), r.Int(1)
		switch {
		case name != was.name():
			return true, fmt.Errorf("%w: it is a log of %.200q", damage.ErrLog, name)
		case n <= last:
			return true, fmt.Errorf("%w: it was begun after %d checkpoints, and the file has rows of later logs", damage.ErrLog, n)
		case uint64(n) > was.Checkpoints:
			return true, fmt.Errorf("%w: it was begun after %d checkpoints, and the file is of %d", damage.ErrLog, n, was.Checkpoints)
		}
		last = n
	}
	return last >= 0 && uint64(last) == was.Checkpoints, nil
}

// Create writes a file without rows.
func Create(ctx context.Context, c *duckdb.Conn, path string, cols []duckdb.Column, of folder.Identity) error {
	const alias = "image"
	if err := c.Exec(ctx, "ATTACH "+duckdb.QuoteText(path)+" AS "+alias); err != nil {
		return err
	}
	err := CreateTables(ctx, c, alias, cols, of)
	if err == nil && !isSummary(cols) { // see summary.Origin
		err = c.Exec(ctx, "INSERT INTO "+alias+".main.position VALUES (0)")
	}
	if err == nil {
		err = c.Exec(ctx, "CHECKPOINT "+alias)
	}
	return errors.Join(err, c.Exec(context.WithoutCancel(ctx), "DETACH "+alias))
}

// isSummary reports whether the columns are those of a file of summaries.
func isSummary(cols []duckdb.Column) bool {
	return slices.Contains(cols, duckdb.Column{Name: summary.RowsColumn, Kind: duckdb.Int})
}

// CreateTables creates the tables of a file in an attached database.
func CreateTables(ctx context.Context, c *duckdb.Conn, alias string, cols []duckdb.Column, of folder.Identity) error {
	defs := make([]string, len(cols))
	for i, col := range cols {
		defs[i] = duckdb.QuoteName(col.Name) + " " + col.Kind.SQL()
	}
	texts := []string{
		"CREATE TABLE " + alias + ".main.rows (" + strings.Join(defs, ", ") + ")",
		"CREATE TABLE " + alias + ".main.position (pos UBIGINT)",
	}
	if isSummary(cols) {
		texts = append(texts, "CREATE TABLE "+alias+".main."+summary.MadeTable+" (timestamp BIGINT, rows BIGINT, origin BIGINT)")
	}
	if of.Instance != "" {
		texts = append(texts, createInstance(alias, of))
	}
	for _, text := range texts {
		if err := c.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// Template returns the bytes of a database file without rows, which is made in a folder.
func Template(ctx context.Context, c *duckdb.Conn, dir string, cols []duckdb.Column, of folder.Identity) ([]byte, error) {
	path := filepath.Join(dir, "image"+folder.FileSuffix)
	if err := folder.Unlink(path); err != nil {
		return nil, err
	}
	err := Create(ctx, c, path, cols, of)
	data, readErr := os.ReadFile(path)
	return data, errors.Join(err, readErr, folder.Unlink(path))
}

// Content is what a file says about itself.
type Content struct {
	Pos    belfry.Position        // highest position in it
	Branch string                 // in which it was written last
	Kinds  map[string]duckdb.Kind // of its columns
}

// Inspect reads the position and the columns of a file that has just been attached, and checks that its content belongs
// to its name, to the instance, and to the state it had before it was attached.
func Inspect(ctx context.Context, c *duckdb.Conn, f summary.File, of folder.Identity, was State) (content Content, err error) {
	if content.Pos, content.Branch, err = readPosition(ctx, c, f.Alias, of); err != nil {
		return content, err
	}
	if content.Kinds, err = Kinds(ctx, c, f.Alias); err != nil {
		return content, err
	}
	first, any, err := firstTime(ctx, c, f.Alias)
	if err != nil {
		return content, err
	}
	if len(f.Collection.Fields) == 0 { // a file of summaries
		err := summary.Check(ctx, c, f)
		if duckdb.IsKind(err, duckdb.BinderError, duckdb.CatalogError) {
			return content, fmt.Errorf("%w: it does not say what its summaries were made of in a way that this program knows", damage.ErrForeign)
		}
		if err != nil {
			return content, err
		}
	}
	if err := damage.Belongs(f.Collection, f.Span, content.Kinds, first, any); err != nil || of.Instance == "" {
		return content, err
	}
	log, err := checkLog(ctx, c, f.Alias, was)
	if err != nil {
		return content, err
	}
	err = of.Branches.Check(content.Branch, content.Pos)
	switch {
	case err == nil:
		return content, nil
	case log: // what the file is without it, the next attempt finds out
		return content, fmt.Errorf("%w: %w", damage.ErrLog, err)
	}
	return content, fmt.Errorf("%w: %w", damage.ErrForeign, err)
}

// readPosition reads the position and the branch of a file and checks that it belongs to the instance.
func readPosition(ctx context.Context, c *duckdb.Conn, alias string, of folder.Identity) (pos belfry.Position, branch string, err error) {
	const position = "(SELECT max(pos) FROM %[1]s.main.position)"
	if of.Instance == "" {
		pos, err := c.Number(ctx, fmt.Sprintf("SELECT "+position, alias))
		return belfry.Position(pos), "", err
	}
	const from = " FROM %[1]s.main." + InstanceTable + ")"
	r, err := c.Query(ctx, fmt.Sprintf("SELECT "+position+", (SELECT min(id)"+from+", (SELECT max(id)"+from+", (SELECT arg_max(branch, rowid)"+from, alias))
	if err != nil && strings.Contains(err.Error(), "Table with name "+InstanceTable+" does not exist") {
		return 0, "", fmt.Errorf("%w: it has no table that names its instance", damage.ErrForeign)
	}
	if duckdb.IsKind(err, duckdb.BinderError) {
		return 0, "", fmt.Errorf("%w: it does not say when it was written in a way that this program knows", damage.ErrForeign)
	}
	if err != nil {
		return 0, "", err
	}
	r.Next()
	if !r.Null(0) {
		pos = belfry.Position(r.Int(0))
	}
	if r.Null(1) {
		return pos, "", fmt.Errorf("%w: it does not name its instance", damage.ErrForeign)
	}
	for _, id := range []string{r.TextAt(1), r.TextAt(2)} {
		if id != of.Instance {
			return pos, "", fmt.Errorf("%w: it has rows of the instance %.40q", damage.ErrForeign, id)
		}
	}
	return pos, r.TextAt(3), nil
}

// firstTime returns the time of a row of the file, if it has any.
func firstTime(ctx context.Context, c *duckdb.Conn, alias string) (t belfry.Time, any bool, err error) {
	r, err := c.Query(ctx, "SELECT timestamp FROM "+alias+".main.rows WHERE timestamp IS NOT NULL LIMIT 1") // padding has none
	if err != nil || !r.Next() {
		return 0, false, err
	}
	return belfry.Time(r.Int(0)), true, nil
}

// Kinds returns the columns of a file.
func Kinds(ctx context.Context, c *duckdb.Conn, alias string) (map[string]duckdb.Kind, error) {
	r, err := c.Query(ctx, "SELECT name, type FROM pragma_table_info("+duckdb.QuoteText(alias+".main.rows")+")")
	if err != nil {
		return nil, err
	}
	kinds := map[string]duckdb.Kind{}
	for r.Next() {
		k, ok := duckdb.KindOf(r.TextAt(1))
		if !ok {
			return nil, fmt.Errorf("column %s has type %s, which this version does not know", r.TextAt(0), r.TextAt(1))
		}
		kinds[r.TextAt(0)] = k
	}
	return kinds, nil
}

// InMemory estimates the memory that the engine holds for rows that are only in a file's log. If the log was lost while the engine had
// it, that is what it was before.
func InMemory(path string, columns int, lost bool, before int64) (int64, error) {
	const least = 16 << 10 // per column
	info, err := os.Stat(path + ".wal")
	switch {
	case lost && err != nil:
		return max(before, int64(columns)*least), nil
	case errors.Is(err, os.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return max(info.Size(), int64(columns)*least), nil
}
