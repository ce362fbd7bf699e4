package duck

import (
	"context"
	"fmt"
	"strings"

	"belfry"

	"belfry/store/duck/duckdb"
)

// instanceTable says in each file to which instance its rows belong: customers and items are numbers, which mean something
// else in another instance. It gets a row when the file is made and with the first commit to each log, so that a log beside a
// file of another instance shows, too.
const instanceTable = "instance"

// sign writes the id of the instance into a file, if its log does not have it yet. It is part of a transaction.
func (fs *files) sign(ctx context.Context, c *duckdb.Conn, f *file) error {
	fs.mu.Lock()
	done := fs.instance == "" || f.dirty > 0
	fs.mu.Unlock()
	if done {
		return nil
	}
	return c.Exec(ctx, "INSERT INTO "+f.alias+".main."+instanceTable+" VALUES (?)", fs.instance)
}

// readPosition reads the position of a file, and checks whether it belongs to the instance.
func (f *file) readPosition(ctx context.Context, c *duckdb.Conn, instance string) (err error) {
	const position = "(SELECT max(pos) FROM %[1]s.main.position)"
	if instance == "" {
		pos, err := c.Number(ctx, fmt.Sprintf("SELECT "+position, f.alias))
		f.pos = belfry.Position(pos)
		return err
	}
	r, err := c.Query(ctx, fmt.Sprintf("SELECT "+position+", (SELECT min(id) FROM %[1]s.main."+instanceTable+"), (SELECT max(id) FROM %[1]s.main."+instanceTable+")", f.alias))
	if err != nil && strings.Contains(err.Error(), "Table with name "+instanceTable+" does not exist") {
		return fmt.Errorf("%w: it has no table that names its instance", errForeign)
	}
	if err != nil {
		return err
	}
	r.Next()
	if f.pos = 0; !r.Null(0) {
		f.pos = belfry.Position(r.Int(0))
	}
	if r.Null(1) {
		return fmt.Errorf("%w: it does not name its instance", errForeign)
	}
	for _, id := range []string{r.TextAt(1), r.TextAt(2)} {
		if id != instance {
			return fmt.Errorf("%w: it has rows of the instance %.40q", errForeign, id)
		}
	}
	return nil
}
