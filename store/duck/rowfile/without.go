package rowfile

import (
	"context"
	"errors"
	"os"

	"belfry/store/duck/damage"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
	"belfry/store/duck/summary"
)

// CopyWithout copies the tables of an attached file to a new file, without the rows of a condition. In a file of summaries it
// recounts the rows that summaries were made of: counts of other customers do not change, and summaries whose count is now too low
// are made again.
func CopyWithout(ctx context.Context, q *duckdb.Conn, f summary.File, path, without string, of folder.Identity, summaries bool) (err error) {
	const alias = "erased"
	if err := q.Exec(ctx, "ATTACH "+duckdb.QuoteText(path)+" AS "+alias); err != nil {
		return err
	}
	texts := []string{
		"CREATE TABLE " + alias + ".main.rows AS SELECT * FROM " + f.Alias + ".main.rows WHERE (" + without + ") IS NOT TRUE", // keeps padding
		"CREATE TABLE " + alias + ".main.position AS SELECT pos FROM " + f.Alias + ".main.position ORDER BY pos",              // all of them; see summary.Origin
	}
	if of.Instance != "" {
		texts = append(texts, createInstance(alias, of))
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
	return Sync(path)
}

// Sync makes the content of a file durable.
func Sync(path string) error {
	f, err := damage.Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// MergeTexts returns the statements that insert the rows of one database into another that lacks them. Summaries replace those of the
// same time.
func MergeTexts(into, from string, summaries bool) []string {
	into, from = into+".main.", from+".main."
	if !summaries {
		return []string{"INSERT INTO " + into + "rows BY NAME SELECT * FROM " + from + "rows AS l WHERE NOT EXISTS (SELECT 1 FROM " + into + "rows AS m WHERE m.customer = l.customer AND m.id = l.id)"}
	}
	made := " WHERE timestamp IN (SELECT timestamp FROM " + from + summary.MadeTable + ")"
	return []string{
		"DELETE FROM " + into + "rows" + made, "DELETE FROM " + into + summary.MadeTable + made,
		"INSERT INTO " + into + "rows BY NAME SELECT * FROM " + from + "rows", "INSERT INTO " + into + summary.MadeTable + " BY NAME SELECT * FROM " + from + summary.MadeTable,
	}
}
