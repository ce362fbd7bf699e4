package storetest

import (
	"context"
	"fmt"
	"slices"

	"belfry"
	"belfry/store"
)

// testWatermark: rows that Drop deleted are not there and not stored again, which Accepts, Oldest and Stats show, also after
// a restart; Keep makes an exception for a period.
func testWatermark(f *fixture) {
	const name = "objectdata"
	c := f.catalog.Collection(name)
	check := func(mark belfry.Time, skipped, expired uint64) {
		f.Helper()
		if a, o := f.store.Accepts(name), f.store.Oldest(name); a != mark || o != mark {
			f.Errorf("accepts rows from %s and has them from %s, want %s", a, o, mark)
		}
		if s := f.store.Stats(); s.Skipped != skipped || s.Expired != expired || s.Running != 0 {
			f.Errorf("%+v, want %d skipped and %d expired rows", s, skipped, expired)
		}
	}
	check(0, 0, 0)
	if t := f.store.Newest(); t != 0 {
		f.Errorf("an empty store has rows up to %s", t)
	}
	f.append(one(1, day0), one(2, day0+day), one(3, day0+2*day))
	if t := f.store.Newest(); t <= day0+2*day {
		f.Errorf("newest rows before %s", t)
	}
	f.drop(name, day0+2*day)
	check(day0+2*day, 0, 2)
	f.append(one(4, day0), one(5, day0+2*day))
	check(day0+2*day, 1, 2)
	f.wantCount(name, 2)

	keep := func(t belfry.Time, want bool) {
		f.Helper()
		if added, err := f.store.Keep(c, t, day0+2*day); added != want || err != nil {
			f.Errorf("keep %s: %t, %v", t, added, err)
		}
	}
	keep(day0+hour, true)
	keep(day0+2*hour, false)
	keep(day0+3*day, false)
	f.append(one(6, day0), one(7, day0+day))
	check(day0+2*day, 2, 2)
	f.wantCount(name, 3)
	f.reopen()
	check(day0+2*day, 0, 0)
	f.append(one(8, day0), one(9, day0+day))
	check(day0+2*day, 1, 0)
	f.wantCount(name, 4)
}

// testReached: Reached is the highest position, whichever collection got the last rows.
func testReached(f *fixture) {
	check := func(want belfry.Position) {
		f.Helper()
		if pos, err := f.store.Reached(context.Background()); pos != want || err != nil {
			f.Errorf("reached %d, %v; want %d", pos, err, want)
		}
	}
	check(0)
	f.append(span(1, 10)...)
	check(10)
	f.append(batch("events", 12, 1, day0, 1, texts("info", "x")))
	check(12)
	f.append(one(13, day0+day), item(20, 5, "web01", "MAIN", "cpu", "host"))
	check(13) // names have no rows
	f.reopen()
	check(13)
}

// testErase: the rows of some customers are removed, those of others stay unchanged, and their customers can get new ones.
func testErase(f *fixture) {
	const count = 500
	of := func(customer belfry.CustomerID, pos belfry.Position, t belfry.Time) *belfry.Batch {
		v := make([]float64, count)
		for i := range v {
			v[i] = float64(customer)
		}
		b := batch("objectdata", pos, belfry.RowID(pos*count), t, count, numbers("i1", v...))
		b.Customer = customer
		return b
	}
	check := func(counts ...int) {
		f.Helper()
		for i, want := range counts {
			f.wantOf(belfry.CustomerID(i+1), "SELECT COUNT(*), SUM(i1) FROM objectdata WHERE "+all, sumOf(want, i+1))
		}
	}
	pos := belfry.Position(0)
	for d := range belfry.Time(3) {
		for c := range belfry.CustomerID(3) {
			pos++
			f.append(of(c+1, pos, day0+d*day))
		}
	}
	check(3*count, 3*count, 3*count)
	erase := func(customers ...belfry.CustomerID) {
		f.Helper()
		if err := f.store.Erase(context.Background(), customers); err != nil {
			f.Fatal(err)
		}
	}
	erase()
	erase(2)
	check(3*count, 0, 3*count)
	f.reopen()
	check(3*count, 0, 3*count)
	f.append(of(2, 5, day0+day)) // a repeat of what the store had
	f.append(of(2, 10, day0))
	check(3*count, count, 3*count)
	erase(1, 3)
	erase(1, 3)
	check(0, count, 0)
}

// sumOf returns the answer of testErase for that many rows of a customer.
func sumOf(rows, customer int) string {
	if rows == 0 {
		return "0 ."
	}
	return fmt.Sprint(rows, " ", rows*customer)
}

// testRemovedNames: the names of removed items stay until they are forgotten.
func testRemovedNames(f *fixture) {
	removed := func(pos belfry.Position, id int64, object string) *belfry.Batch {
		b := item(pos, id, "web01", "MAIN", object, "host")
		b.Columns = append(b.Columns, ints(belfry.RemovedColumn, int64(day0)))
		return b
	}
	check := func(want ...string) {
		f.Helper()
		var got []string
		err := f.store.RemovedItems(context.Background(), func(id belfry.ID, c belfry.CustomerID, k belfry.Kind, name string) {
			got = append(got, fmt.Sprint(id, " ", c, " ", k, " ", name))
		})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			f.Errorf("removed items %q, %v; want %q", got, err, want)
		}
	}
	check()
	f.append(item(1, 5, "web01", "MAIN", "cpu", "host"), item(1, 6, "web01", "MAIN", "disk", "host"),
		batch("objectdata", 1, 1, day0, 2, ints(belfry.ItemColumn, 5, 6), numbers("i1", 1, 2)))
	f.append(removed(2, 5, "cpu"), removed(2, 6, "disk"))
	if err := f.store.NamesUpTo(context.Background(), 2); err != nil {
		f.Fatal(err)
	}
	check("5 1 object cpu", "6 1 object disk")
	f.reopen()
	check("5 1 object cpu", "6 1 object disk")
	const names = "SELECT object, i1 FROM objectdata ORDER BY timestamp ASC LIMIT 10"
	f.want(names, "cpu 1", "disk 2")
	if err := f.store.ForgetItems(context.Background(), []belfry.ID{5}); err != nil {
		f.Fatal(err)
	}
	check("6 1 object disk")
	f.want(names, ". 1", "disk 2")
}

// testSummaries: summaries result in the same answers as rows, also after late rows, and outlive the rows until they are dropped themselves.
func testSummaries(f *fixture) {
	sums, ok := f.store.(store.Summarizer)
	if !ok {
		f.Skip("the store makes no summaries")
	}
	settle := func() {
		f.Helper()
		for more := true; more; {
			var err error
			if more, err = sums.Summarise(context.Background(), day0+30*day); err != nil {
				f.Fatal(err)
			}
		}
		if n := sums.SummariesBehind(); n != 0 {
			f.Errorf("%d hours behind", n)
		}
	}
	data := func(pos belfry.Position, t belfry.Time, v ...float64) *belfry.Batch {
		items := make([]int64, len(v))
		for i := range items {
			items[i] = 5
		}
		return batch("objectdata", pos, belfry.RowID(pos*100), t, len(v), ints(belfry.ItemColumn, items...), numbers("i1", v...))
	}
	const hours = "SELECT timestamp, i1, i1_min, i1_max, i1_count FROM objectdata WHERE period='hour' AND " + all + " ORDER BY timestamp ASC LIMIT 10"
	f.append(item(1, 5, "web01", "MAIN", "cpu", "host"), data(1, day0+hour, 1, 2, 6), data(2, day0+3*hour, 5))
	settle()
	f.want(hours, "2026-03-01T01:00:00.000000Z 3 1 6 3", "2026-03-01T03:00:00.000000Z 5 5 5 1")
	f.append(data(3, day0+hour+60*second, 11))
	settle()
	f.want(hours, "2026-03-01T01:00:00.000000Z 5 1 11 4", "2026-03-01T03:00:00.000000Z 5 5 5 1")
	f.drop("objectdata", day0+2*day)
	f.wantCount("objectdata", 0)
	f.want(hours, "2026-03-01T01:00:00.000000Z 5 1 11 4", "2026-03-01T03:00:00.000000Z 5 5 5 1")
	if err := sums.DropSummaries(context.Background(), f.catalog.Collection("objectdata"), "hour", day0+62*day); err != nil {
		f.Fatal(err)
	}
	f.want(hours)
}
