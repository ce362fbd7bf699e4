package storetest

import (
	"fmt"
	"math"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/query"
)

func testOrder(f *fixture) {
	f.append(
		batch("objectdata", 1, 1, day0+10*second, 3, numbers("i1", 1, 2, 3)),
		batch("objectdata", 2, 4, day0+11*second, 2, numbers("i1", 4, 5)), // as late as the second and third row
		batch("objectdata", 3, 6, day0-day, 1, numbers("i1", 6)),
	)
	f.want("SELECT i1 FROM objectdata LIMIT 10", "5", "3", "4", "2", "1", "6")
	f.want("SELECT i1 FROM objectdata ORDER BY timestamp ASC LIMIT 10", "6", "1", "2", "4", "3", "5")
	f.want("SELECT i1 FROM objectdata WHERE "+all+" ORDER BY timestamp ASC LIMIT 2", "6", "1")
	f.want("SELECT i1 FROM objectdata ORDER BY timestamp ASC LIMIT 2", "3", "5") // without a span, of the most recent
	f.want("SELECT i1 FROM objectdata WHERE "+all+" ORDER BY i1 DESC LIMIT 3", "6", "5", "4")
	f.want("SELECT id, timestamp FROM objectdata LIMIT 1", "0000000000000005 2026-03-01T00:00:12.000000Z")
	f.want("SELECT COUNT(*) FROM objectdata WHERE "+all, "6")
}

// testTypes stores a value in every stored field of every historical collection.
func testTypes(f *fixture) {
	for i, c := range f.catalog.Collections() {
		if !c.Historical {
			continue
		}
		b := batch(c.Name, belfry.Position(i+1), 77, day0, 1)
		var names, want []string
		for _, field := range c.Fields {
			if field.Name == "id" || field.Name == "timestamp" || field.Name == "period" || field.Of != "" || field.Split != "" {
				continue
			}
			for _, n := range []int{1, field.Numbered}[:min(2, 1+field.Numbered)] {
				col, text := sample(field, n)
				b.Columns = append(b.Columns, col)
				names, want = append(names, field.Nth(n)), append(want, text)
			}
		}
		f.append(b)
		f.want("SELECT id, timestamp, "+strings.Join(names, ", ")+" FROM "+c.Name+" LIMIT 10",
			"000000000000004d 2026-03-01T00:00:00.000000Z "+strings.Join(want, " "))
	}
}

// sample returns a column with one extreme value of the type, and its text.
func sample(f catalog.Field, n int) (belfry.Column, string) {
	name := f.Nth(n)
	switch f.Type {
	case catalog.Number, catalog.Value:
		return numbers(name, -math.MaxFloat64), belfry.FormatNumber(-math.MaxFloat64)
	case catalog.Integer:
		return ints(name, math.MinInt64+1), "-9223372036854775807"
	case catalog.Bool:
		return ints(name, 1), "true"
	case catalog.Status:
		return ints(name, int64(belfry.Unavailable)), "-"
	case catalog.Time:
		return ints(name, int64(day0+1)), "2026-03-01T00:00:00.000001Z"
	}
	text := "a,\"b\"'c'\n\x01ü\U0001F514" + name
	return texts(name, text), text
}

func testAbsent(f *fixture) {
	nan := belfry.AbsentNumber()
	f.append(
		batch("objectdata", 1, 1, day0, 3, numbers("i1", 1, nan, 3), numbers("i2", nan, nan, 0), texts("s4", "", "a text", "")),
		batch("events", 2, 4, day0, 3, ints("status", belfry.AbsentInt, 0, 5), texts("info", "x", "", "y")),
	)
	f.want("SELECT i1, i2, i3, string4 FROM objectdata ORDER BY timestamp ASC LIMIT 10", "1 . . .", ". . . a text", "3 0 . .")
	f.want("SELECT i1 FROM objectdata WHERE i1 >= '0' ORDER BY timestamp ASC LIMIT 10", "1", "3")
	f.want("SELECT i2 FROM objectdata ORDER BY i2 ASC LIMIT 10", "0", ".", ".")
	f.want("SELECT status, info, user FROM events ORDER BY timestamp ASC LIMIT 10", ". x .", "? . .", "- y .")
	// A chunk of a batch may have no values at all.
	many := make([]float64, 5000)
	for i := range many {
		many[i] = nan
	}
	many[4999] = 7
	f.append(batch("objectdata", 3, 10, day0+hour, len(many), numbers("i9", many...)))
	f.want("SELECT COUNT(*) FROM objectdata WHERE i9 >= '0' AND "+all, "1")
	f.want("SELECT i9 FROM objectdata LIMIT 2", "7", ".")
}

func testManyIndicators(f *fixture) {
	const rows = 3000
	b := batch("objectdata", 1, 1, day0, rows)
	var names, want []string
	for n := 1; n <= belfry.MaxIndicators; n++ {
		v := make([]float64, rows)
		for i := range v {
			v[i] = float64(n) + float64(i)/1000
		}
		b.Columns = append(b.Columns, numbers(belfry.IndicatorColumn(n), v...))
		names, want = append(names, belfry.IndicatorColumn(n)), append(want, belfry.FormatNumber(float64(n)+float64(rows-1)/1000))
	}
	f.append(b)
	f.want("SELECT "+strings.Join(names, ", ")+" FROM objectdata LIMIT 1", strings.Join(want, " "))
	f.append(batch("objectdata", 2, rows+1, day0+hour, 1, numbers("i100", 5), texts("s1", "up")))
	f.want("SELECT i1, i99, i100, string1 FROM objectdata LIMIT 1", "up . 5 up")
	f.want("SELECT COUNT(*) FROM objectdata WHERE i50 >= '50' AND "+all, fmt.Sprint(rows))
}

func testTexts(f *fixture) {
	long := strings.Repeat("long line ", 10_000)
	lines := []string{"", "short", "exactly12byt", "thirteen byte", long, "'; DROP TABLE rows; --", "tab\there", "zero\x00inside", "Ünïcödé 🔔", "wrong \xff bytes"}
	f.append(batch("objectlog", 1, 1, day0, len(lines), texts("log", lines...)))
	var want []string
	for _, s := range lines {
		switch {
		case s == "":
			s = "."
		default:
			s = strings.ToValidUTF8(s, "\uFFFD")
		}
		want = append(want, s)
	}
	f.want("SELECT log FROM objectlog ORDER BY timestamp ASC LIMIT 100", want...)
	f.want("SELECT COUNT(*) FROM objectlog WHERE "+all+" AND log='''; DROP TABLE rows; --'", "1")
	f.want("SELECT c1, c2 FROM objectlog WHERE "+all+" AND log='tab\there'", "tab here")
}

func testSchemaChange(f *fixture) {
	f.append(batch("objectdata", 1, 1, day0, 1, numbers("i1", 1)))
	f.append(batch("objectdata", 2, 2, day0+day, 1, numbers("i2", 2)))
	f.append(batch("objectdata", 3, 3, day0+2*day, 1, numbers("i1", 3), texts("s2", "three")))
	f.append(batch("objectdata", 4, 4, day0+second, 1, numbers("i7", 4))) // a new column in the first file
	check := func() {
		f.Helper()
		f.want("SELECT i1, i2, i7 FROM objectdata WHERE "+all+" ORDER BY timestamp ASC LIMIT 10", "1 . .", ". . 4", ". 2 .", "3 three .")
		f.want("SELECT i2 FROM objectdata WHERE i1 >= '0' AND "+all+" ORDER BY timestamp ASC", ".", "three")
		f.want("SELECT COUNT(*) FROM objectdata WHERE "+all, "4")
	}
	check()
	f.reopen()
	check()
	f.append(batch("objectdata", 5, 5, day0+2*second, 2, numbers("i1", 5, 6), numbers("i3", 7, 8)))
	f.want("SELECT i1, i3, i7 FROM objectdata WHERE timestamp <= '2026-03-01T12:00:00Z' ORDER BY timestamp ASC LIMIT 10",
		"1 . .", ". . 4", "5 7 .", "6 8 .")
}

func testCustomers(f *fixture) {
	a, b := batch("objectdata", 1, 1, day0, 2, numbers("i1", 1, 2)), batch("objectdata", 2, 1, day0, 2, numbers("i1", 3, 4))
	b.Customer = 2
	f.append(a, b)
	f.want("SELECT i1 FROM objectdata LIMIT 10", "2", "1")
	f.wantOf(2, "SELECT i1 FROM objectdata LIMIT 10", "4", "3")
	f.wantOf(3, "SELECT i1 FROM objectdata LIMIT 10")
	f.wantOf(2, "SELECT COUNT(*) FROM objectdata WHERE "+all, "2")
	f.wantOf(3, "SELECT COUNT(*) FROM objectdata WHERE "+all, "0")
}

// item returns the batch that names one item.
func item(pos belfry.Position, id int64, resource, view, object, class string) *belfry.Batch {
	return batch(belfry.Dimension, pos, 0, day0, 1, ints(belfry.ItemColumn, id), ints("kind", int64(belfry.KindObject)),
		texts("resource", resource), texts("view", view), texts("object", object), texts("class", class))
}

func testItems(f *fixture) {
	rows := batch("objectdata", 2, 1, day0, 3, ints(belfry.ItemColumn, 5, 6, 7), numbers("i1", 1, 2, 3))
	f.append(rows, item(1, 5, "web01", "MAIN", "cpu", "host"), item(1, 6, "web01", "Disks", "disk", "disk"))
	const names = "SELECT resource, view, object, class, i1 FROM objectdata ORDER BY timestamp ASC LIMIT 10"
	f.want(names, "web01 MAIN cpu host 1", "web01 Disks disk disk 2", ". . . . 3")
	f.append(item(3, 6, "web01", "MAIN", "disk", "disk"), item(3, 7, "web02", "MAIN", "x", "y"), item(4, 7, "web02", "MAIN", "net", "net"))
	f.want(names, "web01 MAIN cpu host 1", "web01 MAIN disk disk 2", "web02 MAIN net net 3")
	// The source of data is a field of the item too, and its present value applies to all rows.
	from := item(4, 6, "web01", "MAIN", "disk", "disk")
	from.Columns = append(from.Columns, texts("ip", "192.0.2.7"), texts("host", "h1"))
	f.append(from)
	f.want("SELECT ip, host, i1 FROM objectdata ORDER BY timestamp ASC LIMIT 10", ". . 1", "192.0.2.7 h1 2", ". . 3")
	f.want("SELECT i1 FROM objectdata WHERE ip='192.0.2.7' LIMIT 10", "2")
	f.want("SELECT i1 FROM objectdata WHERE host IS NULL LIMIT 10", "3", "1")
	f.want("SELECT i1 FROM objectdata WHERE object='disk' AND host='h1' AND ip<>'192.0.2.8' LIMIT 10", "2")
	moved := item(4, 6, "web01", "MAIN", "disk", "disk")
	moved.Columns = append(moved.Columns, texts("ip", "192.0.2.8"))
	f.append(moved)
	f.want("SELECT ip, host FROM objectdata WHERE object='disk' LIMIT 10", "192.0.2.8 .")
	// A row may have its own, which stays. A file that had no such rows gets the columns.
	f.append(batch("objectdata", 5, 10, day0+day, 2, ints(belfry.ItemColumn, 6, 6), numbers("i1", 10, 11), texts("ip", "192.0.2.9", ""), texts("host", "", "h9")))
	f.append(batch("objectdata", 6, 12, day0+second, 1, ints(belfry.ItemColumn, 6), numbers("i1", 12), texts("ip", "192.0.2.8")))
	const disk = "objectdata WHERE object='disk' AND "
	f.want("SELECT i1, ip, host FROM "+disk+all+" ORDER BY i1 ASC LIMIT 10", "2 192.0.2.8 .", "10 192.0.2.9 .", "11 192.0.2.8 h9", "12 192.0.2.8 .")
	f.want("SELECT ip, i1 FROM "+disk+all+" ORDER BY ip DESC, i1 ASC LIMIT 10", "192.0.2.9 10", "192.0.2.8 2", "192.0.2.8 11", "192.0.2.8 12")
	f.want("SELECT i1 FROM "+disk+"ip='192.0.2.8' ORDER BY i1 ASC LIMIT 10", "2", "11", "12")
	f.want("SELECT i1 FROM "+disk+"ip='192.0.2.9' LIMIT 10", "10")
	f.want("SELECT i1 FROM "+disk+"host IS NOT NULL LIMIT 10", "11")
	f.want("SELECT i1 FROM "+disk+"NOT host='h9' ORDER BY i1 ASC LIMIT 10", "2", "10", "12")
	f.want("SELECT ip, COUNT(*), MAX(i1) FROM "+disk+all+" GROUP BY ip ORDER BY ip ASC", "192.0.2.8 3 12", "192.0.2.9 1 10")
	f.want("SELECT ip, COUNT(DISTINCT host) FROM "+disk+all+" GROUP BY ip ORDER BY ip ASC", "192.0.2.8 1", "192.0.2.9 0")
	f.want("SELECT ip, i1 FROM "+disk+"period='day' AND "+all+" ORDER BY timestamp ASC LIMIT 10", "192.0.2.8 7", "192.0.2.8 10.5")
	// Item 7 is removed and another takes its name; the rows of both are found by it.
	f.append(item(7, 8, "web02", "MAIN", "net", "net"), batch("objectdata", 7, 4, day0+hour, 1, ints(belfry.ItemColumn, 8), numbers("i1", 4)))
	f.want("SELECT i1 FROM objectdata WHERE object='net' LIMIT 10", "4", "3")
	p := f.plan("SELECT i1 FROM objectdata WHERE object='net' LIMIT 10")
	p.Items, p.ItemsKnown = []belfry.ID{7, 8}, true
	if got := strings.Join(f.rows(p), ","); got != "4,3" {
		f.Errorf("with resolved items: got %s, want 4,3", got)
	}
	// The names of one customer are not visible to another.
	foreign := batch("objectdata", 8, 1, day0, 1, ints(belfry.ItemColumn, 5), numbers("i1", 9))
	foreign.Customer = 2
	f.append(foreign)
	f.wantOf(2, "SELECT object, i1 FROM objectdata LIMIT 10", ". 9")
}

func testLimitsAndSpans(f *fixture) {
	for i := range 40 {
		f.append(batch("objectdata", belfry.Position(i+1), belfry.RowID(3*i+1), day0+belfry.Time(i)*day, 3, numbers("i1", float64(3*i), float64(3*i+1), float64(3*i+2))))
	}
	f.want("SELECT i1 FROM objectdata LIMIT 2", "119", "118")
	f.want("SELECT i1 FROM objectdata LIMIT 2 OFFSET 4", "115", "114")
	f.want("SELECT i1 FROM objectdata WHERE i1 = '1' LIMIT 10", "1") // far from where the search begins
	f.want("SELECT i1 FROM objectdata WHERE timestamp >= '2026-03-02T00:00:01Z' AND timestamp <= '2026-03-03T00:00:00Z' LIMIT 10", "6", "5", "4")
	f.want("SELECT COUNT(*) FROM objectdata WHERE timestamp >= '2026-03-02T00:00:00Z' AND timestamp <= '2026-03-03T00:00:00Z'", "4")
	f.want("SELECT COUNT(*) FROM objectdata WHERE timestamp >= '2030-01-01T00:00:00Z'", "0")
	f.want("SELECT i1 FROM objectlog, objectdata"[:0] + "SELECT log FROM objectlog LIMIT 10")
	rows, err := f.store.Select(f.Context(), f.plan("SELECT i1 FROM objectdata LIMIT 100"))
	if err != nil {
		f.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for _, err := rows.Next(); err == nil; _, err = rows.Next() {
		n++
	}
	if n != 101 {
		f.Errorf("LIMIT 100 of 120 rows: got %d rows, want one more than the limit", n)
	}
	if cols := rows.Columns(); len(cols) != 1 || cols[0].Name != "i1" || cols[0].Column.From == query.Grouped {
		f.Errorf("columns: got %v", cols)
	}
}
