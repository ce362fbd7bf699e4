package duck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/query"
	"belfry/store"
	"belfry/store/duck/folder"
	"belfry/store/duck/index"
)

// BenchmarkDays queries one object in 400 days with 200 rows each: its last rows, and a chart by day, from rows that
// have not been summarised and from summaries. It compares the chart with a hand-written statement.
func BenchmarkDays(b *testing.B) {
	s := open(b, b.TempDir())
	defer s.Close()
	fillDays(b, s)
	best := func(asks map[string]func()) { // they take turns
		least := map[string]time.Duration{}
		for range 15 {
			for name, ask := range asks {
				at := time.Now()
				ask()
				if took := time.Since(at); least[name] == 0 || took < least[name] {
					least[name] = took
				}
			}
		}
		for name, took := range least {
			b.ReportMetric(took.Seconds()*1000, "ms-"+name)
		}
	}
	answer := func(p *query.Plan) {
		r, err := s.Select(b.Context(), p)
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
	chart := planFor(b, s, 1, fmt.Sprintf("SELECT TIMEBUCKET(timestamp, '1d') AS t, MEAN(i1) AS m FROM objectdata WHERE object = 'x' AND timestamp >= '%s' AND timestamp < '%s' GROUP BY TIMEBUCKET(timestamp, '1d') LIMIT 1000",
		crashDay0, crashDay0+400*belfry.Day))
	chart.Items, chart.ItemsKnown = []belfry.ID{1}, true
	b.ReportMetric(0, "ns/op")
	first := func(name string, ask func()) {
		at := time.Now()
		ask()
		b.ReportMetric(time.Since(at).Seconds()*1000, "ms-"+name)
	}
	first("chart-first", func() { answer(chart) })
	best(map[string]func(){"chart-hand": func() { chartByHand(b, s) }, "chart-stale": func() { answer(chart) }})
	first("last-first", func() { answer(itemPlan(b, s, 2)) })
	s.indexer.close()
	s.indexer.Clear()
	first("filters", func() {
		s.quietFiles()
		s.indexQuietFiles(b.Context(), index.NewSet())
	})
	best(map[string]func(){
		"last-steady": func() { answer(itemPlan(b, s, 1)) },
		"last-early":  func() { answer(itemPlan(b, s, 2)) },
		"last-nobody": func() { answer(itemPlan(b, s, 5000)) },
	})
	pieces := 0
	first("summarise", func() {
		if testing.Short() {
			return
		}
		for more, err := true, error(nil); more; pieces++ {
			if more, err = s.Summarise(context.Background(), folder.EndOfTime); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(pieces), "pieces")
	best(map[string]func(){"chart-summed": func() { answer(chart) }})
}

// fillDays stores 400 days of 200 rows: item 1 has some every day, item 2 only on the first day.
func fillDays(b *testing.B, s *Store) {
	b.Helper()
	for n := range 40 {
		rows := &belfry.Batch{Collection: "objectdata", Customer: 1, Pos: belfry.Position(n + 1), FirstID: belfry.RowID(n*2000 + 1)}
		item := belfry.Column{Name: belfry.ItemColumn}
		values := make([]belfry.Column, 5)
		for i := range 2000 {
			day, row := n*10+i/200, i%200
			rows.Times = append(rows.Times, crashDay0+belfry.Time(day)*belfry.Day+belfry.Time(row)*belfry.Day/200)
			id := int64(3 + (day*200+row)%1000)
			switch {
			case row%16 == 0:
				id = 1
			case day == 0 && row%2 == 1:
				id = 2
			}
			item.Ints = append(item.Ints, id)
			for k := range values {
				values[k].Name = belfry.IndicatorColumn(k + 1)
				values[k].Numbers = append(values[k].Numbers, float64(i*k%977)/7)
			}
		}
		rows.Columns = append([]belfry.Column{item}, values...)
		if err := store.AppendAll(b.Context(), s, rows); err != nil {
			b.Fatal(err)
		}
	}
}

// chartByHand is the hand-written statement.
func chartByHand(b *testing.B, s *Store) {
	b.Helper()
	used, err := s.files.acquire(b.Context(), s.cfg.Catalog.Collection("objectdata"), 0, folder.EndOfTime)
	if err != nil {
		b.Fatal(err)
	}
	defer s.files.release(used)
	c, err := s.engine.Connect()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var parts []string
	for _, f := range used {
		parts = append(parts, "SELECT timestamp, i1 FROM "+f.ref()+" WHERE customer = 1 AND item = 1")
	}
	text := fmt.Sprintf("SELECT timestamp // %d AS t, avg(i1) FROM (%s) GROUP BY t ORDER BY t", belfry.Day, strings.Join(slices.Clip(parts), " UNION ALL "))
	if _, err := c.Query(b.Context(), text); err != nil {
		b.Fatal(err)
	}
}
