package summary

import (
	"testing"

	"belfry/store/duck/duckdb"
)

// TestParts: an hour is divided by the number of its items, as each part reads all rows.
func TestParts(t *testing.T) {
	e, err := duckdb.Open(nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	q, err := e.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	f := func(rows, items string, low, high int64) {
		t.Helper()
		by := HoursOfRows([]Table{{Text: "SELECT 1 AS customer, 0 AS timestamp, i % " + items + " AS item FROM range(" + rows + ") AS r(i)"}})
		n, err := q.Number(t.Context(), "SELECT "+rows)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parts(t.Context(), q, by, int64(n), 1000); got < low || got > high || err != nil {
			t.Errorf("%s rows of %s items: %d parts, %v, want %d to %d", rows, items, got, err, low, high)
		}
	}
	f("1000", "1000", 1, 1)
	f("100_000", "10", 1, 1)
	f("100_000", "500", 1, 1)
	f("100_000", "10_000", 6, 20)
	f("100_000", "NULL", 1, 1)
}
