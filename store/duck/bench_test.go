package duck

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"belfry"
)

// benchBatches makes ready batches of rows as agents send them: 100,000 objects in turn, and per row a walk with two
// decimals, a whole number from 0 to 100, a constant, a number with three decimals and a rising counter.
func benchBatches(n, rows int) []*belfry.Batch {
	const objects = 100_000
	rng := rand.New(rand.NewPCG(1, 2))
	walk, counter := make([]float64, objects), make([]float64, objects)
	for i := range walk {
		walk[i], counter[i] = math.Round(rng.Float64()*10000)/100, float64(rng.IntN(1_000_000))
	}
	start := belfry.Time(1_700_000_000_000_000) / 86_400_000_000 * 86_400_000_000
	batches, object := make([]*belfry.Batch, n), 0
	for i := range batches {
		b := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: uint64(i + 1), FirstID: belfry.RowID(i*rows + 1),
			Times: make([]belfry.Time, rows)}
		items := make([]int64, rows)
		var v [5][]float64
		for j := range v {
			v[j] = make([]float64, rows)
		}
		for r := range rows {
			b.Times[r] = start + belfry.Time(i)*1_000_000
			items[r] = int64(1000 + object)
			walk[object] = math.Round((walk[object]+rng.Float64()*2-1)*100) / 100
			counter[object] += float64(rng.IntN(1500))
			v[0][r], v[1][r], v[2][r] = walk[object], float64(rng.IntN(101)), 42
			v[3][r], v[4][r] = math.Round(rng.Float64()*100_000)/1000, counter[object]
			object = (object + 1) % objects
		}
		b.Columns = append(b.Columns, belfry.Column{Name: belfry.ItemColumn, Ints: items})
		for j := range v {
			b.Columns = append(b.Columns, belfry.Column{Name: belfry.IndicatorColumn(j + 1), Numbers: v[j]})
		}
		batches[i] = b
	}
	return batches
}

const benchRows = 50_000

// BenchmarkAppend compares the store with the least that the engine can be asked to do: an appender into exactly the
// nine columns of such rows, a commit for each batch.
func BenchmarkAppend(b *testing.B) {
	batches := benchBatches(40, benchRows)
	b.Run("bare", func(b *testing.B) { benchBare(b, batches) })
	b.Run("store", func(b *testing.B) { benchStore(b, batches) })
}

func benchStore(b *testing.B, batches []*belfry.Batch) {
	dir := b.TempDir()
	s := open(b, dir)
	for i := range b.N {
		batch := *batches[i%len(batches)]
		batch.Pos, batch.FirstID = uint64(i+1), belfry.RowID(i*benchRows+1)
		if err := s.Append(b.Context(), &batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*benchRows)/b.Elapsed().Seconds(), "rows/s")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "objectdata", "*"+fileSuffix))
	if err != nil || len(files) != 1 {
		b.Fatal(files, err)
	}
	reportSize(b, files[0])
}

func benchBare(b *testing.B, batches []*belfry.Batch) {
	path := filepath.Join(b.TempDir(), "bare.duckdb")
	e, err := openEngine([]setting{{"threads", "2"}, {"memory_limit", "256MiB"}, {"checkpoint_threshold", "64MiB"}})
	if err != nil {
		b.Fatal(err)
	}
	defer e.close()
	c, err := e.connect()
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	must := func(text string) {
		b.Helper()
		if err := c.exec(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	must("ATTACH " + quoteText(path) + " AS bare")
	must("CREATE TABLE bare.rows (customer UINTEGER, id UBIGINT, timestamp BIGINT, item UBIGINT, i1 DOUBLE, i2 DOUBLE, i3 DOUBLE, i4 DOUBLE, i5 DOUBLE)")
	cols := []column{{"customer", kindSmall}, {"id", kindID}, {"timestamp", kindInt}, {"item", kindID}}
	for n := 1; n <= 5; n++ {
		cols = append(cols, column{belfry.IndicatorColumn(n), kindNumber})
	}
	b.ResetTimer()
	for i := range b.N {
		must("BEGIN")
		a, err := c.newAppender("bare", "rows", cols)
		if err != nil {
			b.Fatal(err)
		}
		if err := benchFill(a, batches[i%len(batches)], uint64(i*benchRows+1)); err != nil {
			b.Fatal(err)
		}
		must("COMMIT")
	}
	b.ReportMetric(float64(b.N*benchRows)/b.Elapsed().Seconds(), "rows/s")
	must("CHECKPOINT bare")
	reportSize(b, path)
}

func benchFill(a *appender, batch *belfry.Batch, first uint64) error {
	for at, n := 0, 0; at < batch.Len(); at += n {
		n = min(a.room(), batch.Len()-at)
		a.fixed(0, n, 1)
		a.count(1, n, first+uint64(at))
		a.times(2, batch.Times[at:at+n])
		a.ints(3, batch.Columns[0].Ints[at:at+n])
		for j := range 5 {
			a.numbers(4+j, batch.Columns[1+j].Numbers[at:at+n])
		}
		if err := a.advance(n); err != nil {
			return err
		}
	}
	return a.close()
}

func reportSize(b *testing.B, path string) {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(b.N*benchRows*5), "bytes/value")
}
