package duck

import (
	"runtime"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/store"
	"belfry/store/duck/index"
)

// BenchmarkAppendLogFilters compares a store that builds token filters with one that does not. The two take turns, and
// the one with filters must finish them before the other continues.
func BenchmarkAppendLogFilters(b *testing.B) {
	cat, err := catalog.Load()
	if err != nil {
		b.Fatal(err)
	}
	batches := benchLines(20, benchRows)
	var stores [2]*Store
	for i := range stores {
		if stores[i], err = openStore(b.Context(), config{Config: store.Config{Dir: b.TempDir(), Catalog: cat}, noTokenFilters: i == 0}); err != nil {
			b.Fatal(err)
		}
		defer stores[i].Close()
	}
	var spent, used [2]time.Duration
	for i := range b.N {
		for j, s := range stores {
			start, cpu := time.Now(), processor()
			for k := range 5 {
				batch := *batches[(5*i+k)%len(batches)]
				batch.Pos, batch.FirstID = belfry.Position(5*i+k+1), belfry.RowID((5*i+k)*benchRows+1)
				if err := store.AppendAll(b.Context(), s, &batch); err != nil {
					b.Fatal(err)
				}
			}
			if j == 1 {
				waitForFilters(s, (i+1)*5*benchRows/index.BlockRows)
			}
			spent[j] += time.Since(start)
			used[j] += processor() - cpu
		}
	}
	lines := float64(b.N * 5 * benchRows)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(lines/spent[0].Seconds(), "plain-lines/s")
	b.ReportMetric(lines/spent[1].Seconds(), "filtered-lines/s")
	b.ReportMetric(100*spent[0].Seconds()/spent[1].Seconds(), "%-kept")
	b.ReportMetric(used[0].Seconds()*1e6/lines, "plain-cpu-µs/line")
	b.ReportMetric(used[1].Seconds()*1e6/lines, "filtered-cpu-µs/line")
	f := stores[1].files.byName[belfry.ObjectLog][0]
	b.ReportMetric(fileSize(b, f.path+index.Suffix)/lines, "filter-bytes/line")
}

func waitForFilters(s *Store, blocks int) {
	s.files.mu.Lock()
	f := s.files.byName[belfry.ObjectLog][0]
	s.files.mu.Unlock()
	for {
		f.filters.mu.Lock()
		n := len(f.filters.blocks)
		f.filters.mu.Unlock()
		if n >= blocks {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
}
