package duck

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/store"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// benchLines makes batches of log lines of 150 bytes: common words and numbers that hardly repeat.
func benchLines(n, rows int) []*belfry.Batch {
	const objects = 1000
	words := strings.Fields("request served from cache after retry slow upstream answered with stale session token renewed connection reused by worker queue")
	rng := rand.New(rand.NewPCG(3, 4))
	start := belfry.Time(1_700_000_000_000_000) / 86_400_000_000 * 86_400_000_000
	batches := make([]*belfry.Batch, n)
	for i := range batches {
		b := &belfry.Batch{Collection: belfry.ObjectLog, Customer: 1, Times: make([]belfry.Time, rows)}
		items, lines := make([]int64, rows), make([]string, rows)
		var line []byte
		for r := range rows {
			b.Times[r] = start + belfry.Time(i)*1_000_000
			items[r] = int64(1000 + r%objects)
			line = fmt.Appendf(line[:0], "2026-11-15T%02d:%02d:%02d.%03dZ INFO 10.1.%d.%d GET /shop/cart/%06d status=200 took=%dms id=%x", i/3600, i/60%60, i%60,
				rng.IntN(1000), rng.IntN(256), rng.IntN(256), rng.IntN(1_000_000), rng.IntN(900), rng.Uint32())
			for len(line) < 150 {
				line = append(append(line, ' '), words[rng.IntN(len(words))]...)
			}
			lines[r] = string(line[:150])
		}
		b.Columns = []belfry.Column{{Name: belfry.ItemColumn, Ints: items}, {Name: "log", Texts: lines}}
		batches[i] = b
	}
	return batches
}

// BenchmarkAppendLog does for log lines what BenchmarkAppend does for data: it compares the store with a bare table.
func BenchmarkAppendLog(b *testing.B) {
	batches := benchLines(10, benchRows)
	bare, dir := newBenchBare(b, duckdb.Column{Name: "log", Kind: duckdb.Text}), b.TempDir()
	s := open(b, dir)
	var spent [2]time.Duration
	for i := range b.N {
		batch := *batches[i%len(batches)]
		batch.Pos, batch.FirstID = belfry.Position(i+1), belfry.RowID(i*benchRows+1)
		for j, add := range []func(*belfry.Batch) error{bare.add, func(batch *belfry.Batch) error { return store.AppendAll(b.Context(), s, batch) }} {
			start := time.Now()
			if err := add(&batch); err != nil {
				b.Fatal(err)
			}
			spent[j] += time.Since(start)
		}
	}
	b.StopTimer()
	lines := float64(b.N * benchRows)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(lines/spent[0].Seconds(), "bare-lines/s")
	b.ReportMetric(lines/spent[1].Seconds(), "store-lines/s")
	b.ReportMetric(bare.close(b)/lines, "bare-bytes/line")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, belfry.ObjectLog, "*"+folder.FileSuffix))
	if err != nil || len(files) != 1 {
		b.Fatal(files, err)
	}
	b.ReportMetric(fileSize(b, files[0])/lines, "store-bytes/line")
}
