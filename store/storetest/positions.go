package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"belfry"
	"belfry/store"
)

// one returns a batch of one row at a position, with the position as its value.
func one(pos belfry.Position, t belfry.Time) *belfry.Batch {
	return batch("objectdata", pos, belfry.RowID(pos), t, 1, numbers("i1", float64(pos)))
}

func span(from, to belfry.Position) []*belfry.Batch {
	var list []*belfry.Batch
	for pos := from; pos <= to; pos++ {
		list = append(list, one(pos, day0+belfry.Time(pos)*second))
	}
	return list
}

func (f *fixture) wantCount(collection string, n int) {
	f.Helper()
	f.want("SELECT COUNT(*) FROM "+collection+" WHERE "+all, strconv.Itoa(n))
}

func testRepeatedPositions(f *fixture) {
	f.append(span(1, 10)...)
	f.append(span(1, 10)...)
	f.append(span(5, 7)...)
	f.wantCount("objectdata", 10)
	f.reopen()
	f.append(span(1, 10)...)
	f.wantCount("objectdata", 10)
	f.append(span(11, 11)...)
	f.wantCount("objectdata", 11)
}

func testRegroupedPositions(f *fixture) {
	f.append(span(1, 10)...)
	f.append(span(1, 20)...)
	f.wantCount("objectdata", 20)
	f.reopen()
	f.append(append(span(15, 25), batch("events", 25, 1, day0, 1, texts("info", "x")))...)
	f.append(span(26, 26)...)
	f.wantCount("objectdata", 26)
	f.wantCount("events", 1)
	// Positions have gaps, and a new period has no position yet.
	f.append(one(26, day0+5*day), one(1<<32|1, day0+5*day), one(1<<32|2, day0))
	f.append(one(26, day0+5*day), one(1<<32|1, day0+5*day), one(1<<32|2, day0))
	f.wantCount("objectdata", 29)
}

func testSeveralBatches(f *fixture) {
	round := []*belfry.Batch{
		batch("objectdata", 1, 1, day0, 2, numbers("i1", 1, 2)),
		batch("objectdata", 1, 3, day0, 2, texts("s1", "a", "b")),
		batch("events", 1, 5, day0, 1, texts("info", "x")),
		batch("objectdata", 1, 6, day0+day, 1, numbers("i2", 5)),
	}
	f.append(round...)
	f.append(round...)
	f.append(append(round, batch("objectdata", 2, 7, day0, 1, numbers("i1", 6)))...)
	f.wantCount("objectdata", 6)
	f.wantCount("events", 1)
	f.want("SELECT i1 FROM objectdata WHERE timestamp <= '2026-03-01T12:00:00Z' ORDER BY id ASC LIMIT 10", "1", "2", "a", "b", "6")
}

// testLateData stores rows of many days in one call, in one batch and in many.
func testLateData(f *fixture) {
	days := 400
	if testing.Short() {
		days = 40
	}
	whole := batch("objectdata", 1, 1, 0, 0)
	var v []float64
	for i := range 3 * days {
		whole.Times = append(whole.Times, day0-belfry.Time(i%days)*day+belfry.Time(i))
		v = append(v, float64(i))
	}
	whole.Columns = []belfry.Column{numbers("i1", v...), texts("s1", make([]string, 3*days)...)}
	round := []*belfry.Batch{whole}
	for i := range days {
		round = append(round, one(belfry.Position(i+2), day0-belfry.Time(i)*day+hour))
	}
	f.append(round...)
	f.wantCount("objectdata", 4*days)
	f.append(round...)
	f.wantCount("objectdata", 4*days)
	f.want("SELECT i1, id FROM objectdata WHERE "+all+" ORDER BY timestamp ASC LIMIT 3",
		fmt.Sprintf("%d %016x", days-1, days), fmt.Sprintf("%d %016x", 2*days-1, 2*days), fmt.Sprintf("%d %016x", 3*days-1, 3*days))
	f.want("SELECT i1 FROM objectdata LIMIT 3", "2", fmt.Sprint(2*days), fmt.Sprint(days))
	f.reopen()
	f.append(round...)
	f.wantCount("objectdata", 4*days)
}

// testConcurrentReaders reads while rows are written: a reader sees only whole positions, and never fewer than before.
func testConcurrentReaders(f *fixture) {
	const rounds, rows = 60, 500
	done := make(chan struct{})
	var readers sync.WaitGroup
	plan := f.plan("SELECT COUNT(*) FROM objectdata WHERE " + all)
	latest := f.plan("SELECT i1, i2 FROM objectdata LIMIT 5")
	for range 3 {
		readers.Go(func() {
			before := 0
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true // read once more
				default:
				}
				got, err := read(f.store, plan)
				if err != nil {
					f.Error(err)
					return
				}
				n, _ := strconv.Atoi(got[0])
				if n < before || n%rows != 0 {
					f.Errorf("a reader saw %d rows after %d; commits have %d", n, before, rows)
					return
				}
				before = n
				if _, err := read(f.store, latest); err != nil {
					f.Error(err)
					return
				}
			}
			if before != rounds*rows {
				f.Errorf("at the end a reader saw %d rows of %d", before, rounds*rows)
			}
		})
	}
	for i := range rounds {
		v := make([]float64, rows)
		for j := range v {
			v[j] = float64(j)
		}
		col := "i" + strconv.Itoa(1+i%20) // a new column now and then
		f.append(batch("objectdata", belfry.Position(i+1), belfry.RowID(i*rows+1), day0+belfry.Time(i%3)*day, rows, numbers(col, v...)))
	}
	close(done)
	readers.Wait()
}

func testReopen(f *fixture) {
	f.reopen() // an empty one
	f.append(item(1, 5, "web01", "MAIN", "cpu", "host"), batch("objectdata", 1, 1, day0, 2, ints(belfry.ItemColumn, 5, 5), numbers("i1", 1, 2)))
	f.reopen()
	f.append(item(1, 5, "web01", "MAIN", "cpu", "host")) // names are loaded again at each start
	f.want("SELECT object, i1 FROM objectdata LIMIT 10", "cpu 2", "cpu 1")
	f.append(batch("objectdata", 2, 3, day0, 1, numbers("i1", 3)))
	f.reopen()
	f.want("SELECT i1 FROM objectdata LIMIT 10", "2", "3", "1")
	if err := f.store.Close(); err != nil {
		f.Fatal(err)
	}
	if err := store.AppendAll(context.Background(), f.store, one(9, day0)); err == nil {
		f.Error("a closed store took a batch")
	}
	if _, err := f.store.Select(context.Background(), f.plan("SELECT i1 FROM objectdata LIMIT 1")); err == nil {
		f.Error("a closed store answered")
	}
}

func testDrop(f *fixture) {
	for i := range 10 {
		f.append(one(belfry.Position(i+1), day0+belfry.Time(i)*day+hour))
	}
	f.append(batch("events", 11, 11, day0, 1, texts("info", "kept")))
	f.drop("objectdata", day0+3*day+2*hour) // in the middle of a day, which is kept
	f.want("SELECT i1 FROM objectdata WHERE "+all+" ORDER BY timestamp ASC LIMIT 2", "4", "5")
	f.wantCount("objectdata", 7)
	f.wantCount("events", 1)
	f.drop("objectdata", day0) // going back changes nothing
	f.wantCount("objectdata", 7)
	f.drop("objectdata", day0+100*day)
	f.wantCount("objectdata", 0)
	f.append(one(12, day0+200*day))
	f.wantCount("objectdata", 1)
	f.drop("syslog", day0) // nothing was ever stored
	f.drop("objectml", day0+45*day)
	f.append(batch("objectml", 13, 1, day0+29*day, 1, numbers("value", 1)), batch("objectml", 14, 2, day0+31*day, 1, numbers("value", 2)))
	f.want("SELECT value FROM objectml LIMIT 10", "2") // April was kept, March was not
}

func testDropIsForGood(f *fixture) {
	f.append(span(1, 5)...)
	f.append(one(6, day0+10*day))
	f.drop("objectdata", day0+5*day)
	check := func() {
		f.Helper()
		f.append(append(span(1, 5), one(6, day0+10*day))...)                   // replay
		f.append(one(7, day0+hour), one(8, day0+10*day))                       // late data
		mixed := batch("objectdata", 9, 9, day0+hour, 2, numbers("i1", 9, 10)) // late and current rows in one batch
		mixed.Times[1] = day0 + 10*day
		f.append(mixed)
		f.want("SELECT i1 FROM objectdata ORDER BY id ASC LIMIT 10", "6", "8", "10")
	}
	check()
	f.reopen()
	check()
}

func testCancelled(f *fixture) {
	f.append(span(1, 10)...)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.store.Select(ctx, f.plan("SELECT i1 FROM objectdata LIMIT 1")); !errors.Is(err, context.Canceled) {
		f.Errorf("a cancelled query: got %v", err)
	}
	if err := store.AppendAll(ctx, f.store, span(11, 12)...); err == nil {
		f.Log("the store took a batch under a cancelled context, which it may")
	}
	f.append(span(11, 12)...)
	f.wantCount("objectdata", 12)
}

// testLargeBatches stores more rows at once than engines usually commit, of several kinds in turn.
func testLargeBatches(f *fixture) {
	const rows = 70_000
	var round []*belfry.Batch
	for i := range 4 {
		v := make([]float64, rows)
		for j := range v {
			v[j] = float64(j)
		}
		b := batch("objectdata", belfry.Position(i/2+1), belfry.RowID(i*rows+1), day0, rows, numbers("i"+strconv.Itoa(i%2+1), v...))
		for j := range b.Times {
			b.Times[j] = day0 + belfry.Time(j)
		}
		round = append(round, b)
	}
	f.append(round...)
	f.append(round...)
	f.wantCount("objectdata", 4*rows)
	f.want("SELECT COUNT(*) FROM objectdata WHERE i2 >= '0' AND "+all, fmt.Sprint(2*rows))
	f.want("SELECT id, i1, i2 FROM objectdata LIMIT 2", "00000000000445c0 . 69999", "0000000000033450 69999 .")
}
