package main

import (
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkShare measures what bulk sends keep of their rate while eight clients ask one query after the other. Both are
// measured in turns, so that what else the machine does falls on both. Run it with -benchtime 1x.
func BenchmarkShare(b *testing.B) {
	const rounds, phase = 3, 3 * time.Second
	var with, without, queries float64
	for range b.N {
		b.StopTimer()
		p := limited(b, "")
		key := p.customer("share")
		load := body(10_000)
		asked := []string{
			"SELECT COUNT(*) FROM objectdata WHERE timestamp >= '2020-01-01' AND i1 > 5000",
			"SELECT timestamp, i1 FROM objectdata WHERE object='o07' LIMIT 10",
			"SELECT object, i1 FROM objectdata WHERE timestamp >= '2020-01-01' ORDER BY i1 DESC LIMIT 10",
		}
		b.StartTimer()
		for range rounds {
			without += p.sendFor(phase, key, load)
			var over atomic.Bool
			var all sync.WaitGroup
			var n atomic.Int64
			for i := range 8 {
				all.Go(func() {
					for k := i; !over.Load(); k++ {
						if res := p.ask("GET", "/api/sql?q="+url.QueryEscape(asked[k%len(asked)]), "", "X-Api-Key: "+key); res.StatusCode == 200 {
							n.Add(1)
						}
					}
				})
			}
			with += p.sendFor(phase, key, load)
			over.Store(true)
			all.Wait()
			queries += float64(n.Load())
		}
		b.StopTimer()
		p.stop()
	}
	b.ReportMetric(without/float64(b.N*rounds), "rows/s")
	b.ReportMetric(with/float64(b.N*rounds), "rows/s-beside-queries")
	b.ReportMetric(100*with/without, "%-kept")
	b.ReportMetric(queries/float64(b.N)/(rounds*phase.Seconds()), "queries/s")
}

// sendFor sends bodies from four clients for a while, and gives the rows per second that were acknowledged and are in the row
// store: what would be left to it counts for neither side.
func (p *process) sendFor(d time.Duration, key, body string) float64 {
	start := time.Now()
	var rows atomic.Int64
	var all sync.WaitGroup
	end := start.Add(d)
	for range 4 {
		all.Go(func() {
			for time.Now().Before(end) {
				rows.Add(int64(p.post("/api/send", key, body).accepted))
			}
		})
	}
	all.Wait()
	p.until("all is stored", func() bool { return p.metric("belfry_backlog_rows") == 0 })
	return float64(rows.Load()) / time.Since(start).Seconds()
}
