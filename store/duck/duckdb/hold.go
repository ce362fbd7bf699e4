package duckdb

import "context"

// HoldCheckpoints keeps the engine from making checkpoints of a database, also those that it makes by itself, until
// AllowCheckpoints is called on the same connection. Others may read and write meanwhile.
//
// It leaves open a transaction that changes the catalog: the engine makes no checkpoint while there is one. Transactions
// that insert or delete rows do not have that effect.
func (c *Conn) HoldCheckpoints(ctx context.Context, alias string) error {
	if err := c.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	err := c.Exec(ctx, "CREATE VIEW "+alias+".main.held AS SELECT 1")
	if err != nil {
		c.AllowCheckpoints()
	}
	return err
}

// AllowCheckpoints ends HoldCheckpoints.
func (c *Conn) AllowCheckpoints() {
	_ = c.Exec(context.Background(), "ROLLBACK") // fails if the database is broken, and then it makes no checkpoints
}
