// Package rowfile knows the tables of a database file of rows or of summaries: it creates such files, and reads from them
// how far they have come, which columns they have and whose rows they hold.
package rowfile

import (
	"context"
	"errors"
	"fmt"
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
// else in another instance. A row is added when the file is created and with the first commit to each log, so that a
// log beside a file of another instance is detected, too.
const InstanceTable = "instance"

// Create writes a file without rows.
func Create(ctx context.Context, c *duckdb.Conn, path string, cols []duckdb.Column, instance string) error {
	const alias = "image"
	if err := c.Exec(ctx, "ATTACH "+duckdb.QuoteText(path)+" AS "+alias); err != nil {
		return err
	}
	defs := make([]string, len(cols))
	for i, col := range cols {
		defs[i] = duckdb.QuoteName(col.Name) + " " + col.Kind.SQL()
	}
	texts := []string{
		"CREATE TABLE " + alias + ".main.rows (" + strings.Join(defs, ", ") + ")",
		"CREATE TABLE " + alias + ".main.position (pos UBIGINT)",
	}
	if slices.Contains(cols, duckdb.Column{Name: summary.RowsColumn, Kind: duckdb.Int}) { // a file of summaries
		texts = append(texts, "CREATE TABLE "+alias+".main."+summary.MadeTable+" (timestamp BIGINT, rows BIGINT, origin BIGINT)")
	} else { // see summary.Origin
		texts = append(texts, "INSERT INTO "+alias+".main.position VALUES (0)")
	}
	if instance != "" {
		texts = append(texts, "CREATE TABLE "+alias+".main."+InstanceTable+" AS SELECT "+duckdb.QuoteText(instance)+" AS id")
	}
	var err error
	for _, text := range append(texts, "CHECKPOINT "+alias) {
		if err == nil {
			err = c.Exec(ctx, text)
		}
	}
	return errors.Join(err, c.Exec(context.WithoutCancel(ctx), "DETACH "+alias))
}

// Template returns the bytes of a database file without rows, which is made in a folder.
func Template(ctx context.Context, c *duckdb.Conn, dir string, cols []duckdb.Column, instance string) ([]byte, error) {
	path := filepath.Join(dir, "image"+folder.FileSuffix)
	if err := folder.Unlink(path); err != nil {
		return nil, err
	}
	err := Create(ctx, c, path, cols, instance)
	data, readErr := os.ReadFile(path)
	return data, errors.Join(err, readErr, folder.Unlink(path))
}

// Content is what a file says about itself.
type Content struct {
	Pos   belfry.Position        // highest position in it
	Kinds map[string]duckdb.Kind // of its columns
}

// Inspect reads the position and the columns of a file that has just been attached, and checks that its content belongs
// to its name, and to the instance; empty: any.
func Inspect(ctx context.Context, c *duckdb.Conn, f summary.File, instance string) (content Content, err error) {
	if content.Pos, err = readPosition(ctx, c, f.Alias, instance); err != nil {
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
	return content, damage.Belongs(f.Collection, f.Span, content.Kinds, first, any)
}

// readPosition reads the position of a file and checks that it belongs to the instance.
func readPosition(ctx context.Context, c *duckdb.Conn, alias, instance string) (belfry.Position, error) {
	const position = "(SELECT max(pos) FROM %[1]s.main.position)"
	if instance == "" {
		pos, err := c.Number(ctx, fmt.Sprintf("SELECT "+position, alias))
		return belfry.Position(pos), err
	}
	r, err := c.Query(ctx, fmt.Sprintf("SELECT "+position+", (SELECT min(id) FROM %[1]s.main."+InstanceTable+"), (SELECT max(id) FROM %[1]s.main."+InstanceTable+")", alias))
	if err != nil && strings.Contains(err.Error(), "Table with name "+InstanceTable+" does not exist") {
		return 0, fmt.Errorf("%w: it has no table that names its instance", damage.ErrForeign)
	}
	if err != nil {
		return 0, err
	}
	r.Next()
	var pos belfry.Position
	if !r.Null(0) {
		pos = belfry.Position(r.Int(0))
	}
	if r.Null(1) {
		return pos, fmt.Errorf("%w: it does not name its instance", damage.ErrForeign)
	}
	for _, id := range []string{r.TextAt(1), r.TextAt(2)} {
		if id != instance {
			return pos, fmt.Errorf("%w: it has rows of the instance %.40q", damage.ErrForeign, id)
		}
	}
	return pos, nil
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
