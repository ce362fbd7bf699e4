package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"belfry"
)

// cpu is the processor time the process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchState(id belfry.ID, pos belfry.Position) StoredState {
	f := float64(id)
	return StoredState{Item: id, State: belfry.ItemState{
		Pos: pos, State: belfry.State{Status: belfry.OK, Since: 1700000000000000}, LastData: 1700000000000000 + belfry.Time(id),
		Numbers: []float64{f / 100, f, 7, f / 1000, f * 1000},
	}}
}

// BenchmarkLoad reads 1,000,000 objects with five values each, as a start does.
//
//	go test ./meta -run '^$' -bench Load -benchtime 1x
func BenchmarkLoad(b *testing.B) {
	const n, part = 1_000_000, 50_000
	db := openDB(b)
	began := time.Now()
	for from := 0; from < n; from += part {
		r := &belfry.Record{Pos: belfry.Position(from + 1)}
		var states []StoredState
		for i := from; i < from+part; i++ {
			id := belfry.ID(i + 1)
			r.Items = append(r.Items, belfry.Item{
				ID: id, Customer: 1, Kind: belfry.KindObject, Name: fmt.Sprintf("server-%06d cpu", i),
				Parent: belfry.ID(i/100*100 + 1), Resource: belfry.ID(i/100*100 + 1), Class: "Server CPU", Created: 1700000000000000,
			})
			states = append(states, benchState(id, r.Pos))
		}
		apply(b, db, states, r)
	}
	b.Logf("written in %.1f s", time.Since(began).Seconds())
	for b.Loop() {
		items, states := 0, 0
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		used := cpu(b)
		err := db.Load(context.Background(), Visitor{
			Item:  func(belfry.Item) { items++ },
			State: func(belfry.ID, *belfry.ItemState) { states++ },
		})
		if err != nil || items != n || states != n {
			b.Fatal(err, items, states)
		}
		b.ReportMetric((cpu(b) - used).Seconds(), "cpu-s/op")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc)/1e6-float64(before.HeapAlloc)/1e6, "kept-MB")
	}
}

// BenchmarkFlush writes 100,000 states that are in the database already, which a busy server does in every interval.
func BenchmarkFlush(b *testing.B) {
	const n = 100_000
	db := openDB(b)
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	pos := belfry.Position(0)
	m := NewMover(db, MoverOptions{Log: quiet(), States: func(ids []belfry.ID) []StoredState {
		states := make([]StoredState, len(ids))
		for i, id := range ids {
			states[i] = benchState(id, pos)
		}
		return states
	}})
	round := func() {
		for part := range slices.Chunk(ids, 10_000) {
			pos++
			m.Add(dataRecord(pos, part...))
		}
		if err := m.Drain(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	round()
	used := cpu(b)
	for b.Loop() {
		round()
	}
	b.ReportMetric((cpu(b)-used).Seconds()/float64(b.N), "cpu-s/op")
}

// BenchmarkAdd passes records of 10,000 rows by, over 1,000,000 items.
func BenchmarkAdd(b *testing.B) {
	db := openDB(b)
	m := NewMover(db, MoverOptions{Log: quiet(), States: newMemory().states})
	ids := make([]int64, 10_000)
	for i := range ids {
		ids[i] = int64(i*7919%1_000_000 + 1)
	}
	r := dataRecord(1, ids...)
	for b.Loop() {
		m.Add(r)
		r.Pos++
	}
	b.ReportMetric(float64(b.N)*float64(len(ids))/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
