package duck

import (
	"testing"
	"time"

	"belfry"
	"belfry/store"
	"belfry/store/duck/summary"
)

// BenchmarkSummarise makes the hour of 100,000 objects with ten rows of five indicators each. It also reports how long
// a commit of 50,000 rows to another day takes alone and while an hour is being made.
func BenchmarkSummarise(b *testing.B) {
	const batches = 20
	s := open(b, b.TempDir())
	defer s.Close()
	rows := benchBatches(batches, benchRows)
	if err := store.AppendAll(b.Context(), s, rows...); err != nil {
		b.Fatal(err)
	}
	pos := belfry.Position(batches)
	commit := func() time.Duration {
		pos++
		batch := *rows[pos%batches]
		batch.Pos, batch.FirstID, batch.Times = pos, belfry.RowID(pos*benchRows+1), nil
		for _, t := range rows[pos%batches].Times {
			batch.Times = append(batch.Times, t+belfry.Day)
		}
		begun := time.Now()
		if err := store.AppendAll(b.Context(), s, &batch); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	d := s.trackers["objectdata"]
	hour := d.Raw.PeriodOf(rows[0].Times[0]).From
	var made, alone, beside time.Duration
	commits := 0
	for range b.N {
		alone += commit()
		done := make(chan time.Duration)
		go func() {
			begun := time.Now()
			q, err := s.engine.Connect()
			if err == nil {
				err = s.buildSummaries(b.Context(), q, d, &summary.Work{To: d.Hour, Spans: []belfry.Span{{From: hour, To: hour + belfry.Hour}}, Rows: batches * benchRows})
				q.Close()
			}
			if err != nil {
				b.Error(err)
			}
			done <- time.Since(begun)
		}()
		for waiting := true; waiting; {
			beside += commit()
			commits++
			select {
			case took := <-done:
				made += took
				waiting = false
			default:
			}
		}
	}
	b.ReportMetric(float64(made.Milliseconds())/float64(b.N), "ms/hour")
	b.ReportMetric(float64(alone.Milliseconds())/float64(b.N), "ms/commit-alone")
	b.ReportMetric(float64(beside.Milliseconds())/float64(commits), "ms/commit-beside")
}

// BenchmarkSummariseLarge makes an hour of 100,000 objects with 80 rows each: more than one statement may hold.
func BenchmarkSummariseLarge(b *testing.B) {
	const batches, rounds = 40, 4
	s := open(b, b.TempDir())
	defer s.Close()
	rows := benchBatches(batches, benchRows)
	pos := belfry.Position(0)
	for range rounds {
		for _, batch := range rows {
			pos++
			batch.Pos, batch.FirstID = pos, belfry.RowID(pos*benchRows+1)
			for i := range batch.Times {
				batch.Times[i] += batches * belfry.Time(time.Second/time.Microsecond)
			}
			if err := store.AppendAll(b.Context(), s, batch); err != nil {
				b.Fatal(err)
			}
		}
	}
	d := s.trackers["objectdata"]
	hour := d.Raw.PeriodOf(rows[0].Times[0]).From
	q, err := s.engine.Connect()
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	cpu := processor()
	b.ResetTimer()
	for range b.N {
		if err := s.buildSummaries(b.Context(), q, d, &summary.Work{To: d.Hour, Spans: []belfry.Span{{From: hour, To: hour + belfry.Hour}}, Rows: int64(pos) * benchRows}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processor()-cpu).Seconds()/float64(b.N), "cpu-s/hour")
}
