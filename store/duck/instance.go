package duck

import (
	"context"
	"fmt"
	"strings"

	"belfry/store/duck/duckdb"
)

// instanceTable says in each file to which instance its rows belong: customers and items are numbers, which mean something
// else in another instance. It gets a row when the file is made and with the first commit to each log, so that a log beside a
// file of another instance shows, too. Files of earlier versions have none and get one with the next commit.
const instanceTable = "instance"

// sign writes the id of the instance into a file, if its log does not have it yet. It is part of a transaction.
func (fs *files) sign(ctx context.Context, c *duckdb.Conn, f *file) error {
	fs.mu.Lock()
	done, signed := fs.instance == "" || f.signed && f.dirty > 0, f.signed
	fs.mu.Unlock()
	if done {
		return nil
	}
	if !signed {
		if err := c.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+f.alias+".main."+instanceTable+" (id VARCHAR)"); err != nil {
			return err
		}
	}
	return c.Exec(ctx, "INSERT INTO "+f.alias+".main."+instanceTable+" VALUES (?)", fs.instance)
}

// readPosition reads the position of a file, and checks whether it belongs to the instance.
func (f *file) readPosition(ctx context.Context, c *duckdb.Conn, instance string) (err error) {
	const position = "(SELECT max(pos) FROM %[1]s.main.position)"
	if instance == "" {
		f.pos, err = c.Number(ctx, fmt.Sprintf("SELECT "+position, f.alias))
		return err
	}
	r, err := c.Query(ctx, fmt.Sprintf("SELECT "+position+", (SELECT min(id) FROM %[1]s.main."+instanceTable+"), (SELECT max(id) FROM %[1]s.main."+instanceTable+")", f.alias))
	if err != nil && strings.Contains(err.Error(), "Table with name "+instanceTable+" does not exist") { // of an earlier version
		f.signed = false
		return f.readPosition(ctx, c, "")
	}
	if err != nil {
		return err
	}
	r.Next()
	if f.pos = 0; !r.Null(0) {
		f.pos = uint64(r.Int(0))
	}
	if f.signed = !r.Null(1); !f.signed {
		return nil
	}
	for _, id := range []string{r.TextAt(1), r.TextAt(2)} {
		if id != instance {
			return fmt.Errorf("%w: it has rows of the instance %.40q", errForeign, id)
		}
	}
	return nil
}
