package duck

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry"
	"belfry/store"
	"belfry/store/duck/duckdb"
	"belfry/store/duck/folder"
)

// benchBatches makes batches of rows as agents send them: 100,000 objects in turn, and per row a walk with two
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
		b := &belfry.Batch{
			Collection: "objectdata", Customer: 1, Pos: belfry.Position(i + 1), FirstID: belfry.RowID(i*rows + 1),
			Times: make([]belfry.Time, rows),
		}
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

// BenchmarkAppend compares the store with the minimum of the engine: an appender into exactly the nine columns of such
// rows, a commit for each batch. The two take turns, so that both see the same machine.
func BenchmarkAppend(b *testing.B) {
	batches := benchBatches(40, benchRows)
	var numbers []duckdb.Column
	for n := 1; n <= 5; n++ {
		numbers = append(numbers, duckdb.Column{Name: belfry.IndicatorColumn(n), Kind: duckdb.Number})
	}
	bare, dir := newBenchBare(b, numbers...), b.TempDir()
	s := open(b, dir)
	var spent [2]time.Duration
	var used [2]time.Duration // of processor
	for i := range b.N {
		batch := *batches[i%len(batches)]
		batch.Pos, batch.FirstID = belfry.Position(i+1), belfry.RowID(i*benchRows+1)
		for j, add := range []func(*belfry.Batch) error{bare.add, func(batch *belfry.Batch) error { return store.AppendAll(b.Context(), s, batch) }} {
			start, cpu := time.Now(), processor()
			if err := add(&batch); err != nil {
				b.Fatal(err)
			}
			spent[j] += time.Since(start)
			used[j] += processor() - cpu
		}
	}
	b.StopTimer()
	rows := float64(b.N * benchRows)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(rows/spent[0].Seconds(), "bare-rows/s")
	b.ReportMetric(rows/spent[1].Seconds(), "store-rows/s")
	b.ReportMetric(100*spent[0].Seconds()/spent[1].Seconds(), "%-of-bare")
	b.ReportMetric(used[0].Seconds()*1e6/rows, "bare-cpu-µs/row")
	b.ReportMetric(used[1].Seconds()*1e6/rows, "store-cpu-µs/row")
	b.ReportMetric(bare.close(b)/rows/5, "bare-bytes/value")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "objectdata", "*"+folder.FileSuffix))
	if err != nil || len(files) != 1 {
		b.Fatal(files, err)
	}
	b.ReportMetric(fileSize(b, files[0])/rows/5, "store-bytes/value")
}

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// benchBare is a table of some columns and nothing else.
type benchBare struct {
	path   string
	engine *duckdb.Engine
	conn   *duckdb.Conn
	cols   []duckdb.Column
}

// benchKey are the columns that rows of every kind have.
var benchKey = []duckdb.Column{{Name: "customer", Kind: duckdb.Small}, {Name: "id", Kind: duckdb.ID}, {Name: "timestamp", Kind: duckdb.Int}, {Name: "item", Kind: duckdb.ID}}

func newBenchBare(b *testing.B, more ...duckdb.Column) *benchBare {
	e, err := duckdb.Open([]duckdb.Setting{{Name: "threads", Value: "2"}, {Name: "memory_limit", Value: "256MiB"}, {Name: "checkpoint_threshold", Value: "64MiB"}}, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	bare := &benchBare{path: filepath.Join(b.TempDir(), "bare.duckdb"), engine: e, cols: append(slices.Clone(benchKey), more...)}
	if bare.conn, err = e.Connect(); err != nil {
		b.Fatal(err)
	}
	var defs []string
	for _, c := range bare.cols {
		defs = append(defs, c.Name+" "+c.Kind.SQL())
	}
	err = errors.Join(
		bare.conn.Exec(b.Context(), "ATTACH "+duckdb.QuoteText(bare.path)+" AS bare"),
		bare.conn.Exec(b.Context(), "CREATE TABLE bare.rows ("+strings.Join(defs, ", ")+")"),
	)
	if err != nil {
		b.Fatal(err)
	}
	return bare
}

// add commits a batch: its item column, then the others, numbers or texts.
func (bare *benchBare) add(batch *belfry.Batch) error {
	ctx := context.Background()
	if err := bare.conn.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	a, err := bare.conn.NewAppender("bare", "rows", bare.cols)
	if err != nil {
		return err
	}
	for at, n := 0, 0; at < batch.Len(); at += n {
		n = min(a.Room(), batch.Len()-at)
		a.Fixed(0, n, 1)
		a.Count(1, n, uint64(batch.FirstID)+uint64(at))
		a.Times(2, batch.Times[at:at+n])
		a.Ints(3, batch.Columns[0].Ints[at:at+n])
		for j, c := range batch.Columns[1:] {
			if c.Texts != nil {
				a.Texts(4+j, c.Texts[at:at+n])
			} else {
				a.Numbers(4+j, c.Numbers[at:at+n])
			}
		}
		if err := a.Advance(n); err != nil {
			return err
		}
	}
	if err := a.Close(); err != nil {
		return err
	}
	return bare.conn.Exec(ctx, "COMMIT")
}

// close checkpoints everything and returns the size of the file.
func (bare *benchBare) close(b *testing.B) float64 {
	if err := bare.conn.Exec(b.Context(), "CHECKPOINT bare"); err != nil {
		b.Fatal(err)
	}
	bare.conn.Close()
	bare.engine.Close()
	return fileSize(b, bare.path)
}

func fileSize(b *testing.B, path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return float64(info.Size())
}
