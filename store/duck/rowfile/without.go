package rowfile

import (
	"context"
	"errors"
	"os"

	"belfry/store/duck/duckdb"
	"belfry/store/duck/summary"
)

// CopyWithout copies the tables of an attached file to a new file, without the rows of a condition. In a file of summaries it
// recounts the rows that summaries were made of: counts of other customers do not change, and summaries whose count is now too low
// are made again.
func CopyWithout(ctx context.Context, q *duckdb.Conn, f summary.File, path, without, instance string, summaries bool) (err error) {
	const alias = "erased"
	if err := q.Exec(ctx, "ATTACH "+duckdb.QuoteText(path)+" AS "+alias); err != nil {
		return err
	}
	texts := []string{
		"CREATE TABLE " + alias + ".main.rows AS SELECT * FROM " + f.Alias + ".main.rows WHERE (" + without + ") IS NOT TRUE", // keeps padding
		"CREATE TABLE " + alias + ".main.position AS SELECT pos FROM " + f.Alias + ".main.position ORDER BY pos",              // all of them; see summary.Origin
	}
	if instance != "" {
		texts = append(texts, "CREATE TABLE "+alias+".main."+InstanceTable+" AS SELECT "+duckdb.QuoteText(instance)+" AS id")
	}
	if summaries {
		texts = append(texts, "CREATE TABLE "+alias+".main."+summary.MadeTable+" AS SELECT timestamp, CAST(sum(r.rows) AS BIGINT) AS rows, any_value(m.origin) AS origin FROM "+
			alias+".main.rows AS r LEFT JOIN "+f.Made()+" AS m USING (timestamp) GROUP BY timestamp")
	}
	for _, text := range append(texts, "CHECKPOINT "+alias) {
		if err == nil {
			err = q.Exec(ctx, text)
		}
	}
	if err = errors.Join(err, q.Exec(context.WithoutCancel(ctx), "DETACH "+alias)); err != nil {
		return err
	}
	return syncFile(path)
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
