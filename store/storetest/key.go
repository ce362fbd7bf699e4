package storetest

import (
	"fmt"

	"belfry"
)

// testKey: of rows with the same key only the latest counts, in rows, counts and conditions, also after a restart and in pages.
func testKey(f *fixture) {
	trace := func(pos belfry.Position, first belfry.RowID, customer belfry.CustomerID, t belfry.Time, id string, spans ...int64) *belfry.Batch {
		b := batch("apptraceid", pos, first, t, len(spans), ints("spans", spans...))
		b.Customer = customer
		ids := make([]string, len(spans))
		for i := range ids {
			b.Times[i], ids[i] = t, id
		}
		b.Columns = append(b.Columns, texts("traceid", ids...))
		return b
	}
	f.append(trace(1, 1, 1, day0, "a", 1, 2), trace(1, 3, 1, day0, "b", 5), trace(1, 1, 2, day0, "a", 7))
	const byID = "SELECT traceid, spans FROM apptraceid WHERE " + all + " ORDER BY traceid"
	f.want(byID, "a 2", "b 5")
	f.append(trace(2, 4, 1, day0, "a", 3), trace(3, 5, 1, day0+second, "a", 9), trace(3, 6, 1, day0+day, "b", 8))
	check := func() {
		f.Helper()
		f.want(byID+", timestamp", "a 3", "a 9", "b 5", "b 8")
		f.want("SELECT COUNT(*), SUM(spans) FROM apptraceid WHERE "+all, "4 25")
		f.want("SELECT traceid FROM apptraceid WHERE spans < 3 AND " + all) // those rows have been replaced
		f.want("SELECT spans FROM apptraceid WHERE traceid = 'a' AND "+all+" ORDER BY spans", "3", "9")
		f.want("SELECT spans FROM apptraceid LIMIT 2", "8", "9")
		f.wantOf(2, byID, "a 7")
	}
	check()
	f.reopen()
	check()

	// Rows of a key that differ in a column that the file did not have.
	more := trace(4, 7, 1, day0+2*day, "c", 1)
	f.append(more)
	later := trace(5, 8, 1, day0+2*day, "c", 2)
	later.Columns = append(later.Columns, texts("service", "shop"))
	f.append(later)
	f.want("SELECT traceid, spans, service FROM apptraceid WHERE traceid = 'c' AND "+all, "c 2 shop")

	// By item, and with an absent part of the key.
	f.append(item(6, 5, "web01", "web01", "cpu", "host"), item(6, 6, "web01", "web01", "disk", "host"))
	level := func(pos belfry.Position, t belfry.Time, availability float64, item int64, period string) *belfry.Batch {
		return batch("objectsl", pos, belfry.RowID(pos), t, 1, ints(belfry.ItemColumn, item), texts("period", period), numbers("availability", availability))
	}
	f.append(level(7, day0, 90, 5, "day"), level(8, day0, 91, 6, "day"), level(9, day0, 92, 5, "hour"), level(10, day0, 93, 5, "day"), level(11, day0, 94, 6, ""), level(12, day0, 95, 6, ""))
	f.want("SELECT object, period, availability FROM objectsl WHERE "+all+" ORDER BY object, availability", "cpu hour 92", "cpu day 93", "disk day 91", "disk . 95")

	f.drop("apptraceid", day0+day)
	f.want(byID, "b 8", "c 2")
	f.keyInPages()
}

// keyInPages reads many rows while all of them are replaced: each key is there once, as it was when reading began.
func (f *fixture) keyInPages() {
	const count = 5000
	trace := func(pos belfry.Position, first belfry.RowID, spans int64) *belfry.Batch {
		b := batch("apptraceid", pos, first, day0+3*day, count)
		ids, numbers := make([]string, count), make([]int64, count)
		for i := range ids {
			ids[i], numbers[i] = fmt.Sprint("p", i), spans
		}
		b.Columns = []belfry.Column{texts("traceid", ids...), ints("spans", numbers...)}
		return b
	}
	f.append(trace(20, 100, 1))
	p := f.plan(fmt.Sprintf("SELECT traceid, spans FROM apptraceid WHERE timestamp >= '%s' LIMIT %d", day0+3*day, 2*count))
	r, err := f.store.Select(f.Context(), p)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	seen := map[string]int64{}
	for n := 0; ; n++ {
		row, err := r.Next()
		if err != nil {
			break
		}
		if _, twice := seen[row[0].Text]; twice {
			f.Fatalf("%s came twice", row[0].Text)
		}
		seen[row[0].Text] = row[1].Int
		if n == 10 {
			f.append(trace(21, 100+count, 2))
		}
	}
	for id, spans := range seen {
		if spans != 1 {
			f.Errorf("%s has %d spans, as it was stored after the reading began", id, spans)
			break
		}
	}
	if len(seen) != count {
		f.Errorf("%d keys of %d", len(seen), count)
	}
}
