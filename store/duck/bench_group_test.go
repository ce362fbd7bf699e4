package duck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/catalog"
	"belfry/query"
	"belfry/store"
	"belfry/store/duck/names"
)

// BenchmarkGroups compares groups over a day of 5.8 million rows of 100,000 objects with hand-written SQL: by item id,
// with names joined only to the result. The two take turns.
func BenchmarkGroups(b *testing.B) {
	s, start := benchDay(b)
	cat, err := catalog.Load()
	if err != nil {
		b.Fatal(err)
	}
	whole := fmt.Sprintf("timestamp >= '%s' AND timestamp < '%s'", start, start+86_400_000_000)
	hour := fmt.Sprintf("timestamp >= '%s' AND timestamp < '%s'", start+36_000_000_000, start+39_600_000_000)
	names := " AS q LEFT JOIN " + names.Table + " AS d ON d.id = q.item"
	for _, c := range []struct{ name, text, hand string }{
		{"mean", "SELECT object, MEAN(i1) FROM objectdata WHERE " + whole + " GROUP BY object", "SELECT d.object, m FROM (SELECT item, AVG(i1) AS m FROM ROWS WHERE customer = 1 AND DAY GROUP BY item)" + names + " ORDER BY d.object LIMIT 11"},
		{"top", "SELECT object, MEAN(i1) AS m FROM objectdata WHERE " + whole + " GROUP BY object ORDER BY m DESC LIMIT 10", "SELECT d.object, m FROM (SELECT item, AVG(i1) AS m FROM ROWS WHERE customer = 1 AND DAY GROUP BY item ORDER BY m DESC LIMIT 11)" + names + " ORDER BY m DESC"},
		{"count", "SELECT object, COUNT(*) FROM objectdata WHERE " + hour + " GROUP BY object", "SELECT d.object, m FROM (SELECT item, COUNT(*) AS m FROM ROWS WHERE customer = 1 AND HOUR GROUP BY item)" + names + " ORDER BY d.object LIMIT 11"},
		{"last", "SELECT object, LAST(i1) FROM objectdata WHERE " + whole + " GROUP BY object", "SELECT d.object, m FROM (SELECT item, arg_max(i1, timestamp) AS m FROM ROWS WHERE customer = 1 AND DAY GROUP BY item)" + names + " ORDER BY d.object LIMIT 11"},
		{"median", "SELECT object, MEDIAN(i1) FROM objectdata WHERE " + whole + " GROUP BY object", "SELECT d.object, m FROM (SELECT item, quantile_cont(i1, 0.5) AS m FROM ROWS WHERE customer = 1 AND DAY GROUP BY item)" + names + " ORDER BY d.object LIMIT 11"},
		{"resource", "SELECT resource, MEAN(i1) FROM objectdata WHERE " + whole + " GROUP BY resource", "SELECT d.resource, SUM(m)/SUM(n) FROM (SELECT item, SUM(i1) AS m, COUNT(i1) AS n FROM ROWS WHERE customer = 1 AND DAY GROUP BY item)" + names + " GROUP BY 1 ORDER BY 1 LIMIT 11"},
		{"bucket", "SELECT TIMEBUCKET(timestamp, '5m') AS t, MEAN(i1) FROM objectdata WHERE " + whole + " GROUP BY t", "SELECT timestamp // 300000000, AVG(i1) FROM ROWS WHERE customer = 1 AND DAY GROUP BY 1 ORDER BY 1 LIMIT 11"},
	} {
		b.Run(c.name, func(b *testing.B) {
			parsed, err := query.Parse(c.text)
			if err != nil {
				b.Fatal(err)
			}
			p, err := query.Check(parsed, cat, query.Options{Customer: 1, Now: start})
			if err != nil {
				b.Fatal(err)
			}
			used, err := s.files.acquire(b.Context(), p.Collection, start, start+1)
			if err != nil {
				b.Fatal(err)
			}
			defer s.files.finish(used, nil)
			hand := strings.NewReplacer("ROWS", s.files.tables(used)[0].Ref,
				"DAY", fmt.Sprintf("timestamp >= %d AND timestamp < %d", start, start+86_400_000_000),
				"HOUR", fmt.Sprintf("timestamp >= %d AND timestamp < %d", start+36_000_000_000, start+39_600_000_000)).Replace(c.hand)
			conn, err := s.engine.Connect()
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			var spent [2][]time.Duration
			for range max(b.N, 9) {
				at := time.Now()
				if _, err := conn.Query(b.Context(), hand); err != nil {
					b.Fatal(err)
				}
				spent[0] = append(spent[0], time.Since(at))
				at = time.Now()
				if _, err := s.Select(b.Context(), p); err != nil {
					b.Fatal(err)
				}
				spent[1] = append(spent[1], time.Since(at))
			}
			median := func(d []time.Duration) float64 { slices.Sort(d); return d[len(d)/2].Seconds() * 1000 }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(spent[0]), "hand-ms")
			b.ReportMetric(median(spent[1]), "store-ms")
			b.ReportMetric(median(spent[1])/median(spent[0]), "x")
		})
	}
}

// benchDay is a store with a day of rows.
func benchDay(b *testing.B) (*Store, belfry.Time) {
	const objects, batches = 100_000, 116
	s := open(b, b.TempDir())
	items := &belfry.Batch{Collection: belfry.Dimension, Customer: 1, Pos: 1, Times: make([]belfry.Time, objects)}
	id, kind := belfry.Column{Name: belfry.ItemColumn}, belfry.Column{Name: "kind"}
	object, resource := belfry.Column{Name: "object"}, belfry.Column{Name: "resource"}
	for i := range objects {
		id.Ints, kind.Ints = append(id.Ints, int64(1000+i)), append(kind.Ints, int64(belfry.KindObject))
		object.Texts = append(object.Texts, fmt.Sprintf("object number %d", i))
		resource.Texts = append(resource.Texts, fmt.Sprintf("host%d.example.net", i/50))
	}
	items.Columns = []belfry.Column{id, kind, object, resource}
	if err := store.AppendAll(b.Context(), s, items); err != nil {
		b.Fatal(err)
	}
	list := benchBatches(batches, benchRows)
	start := list[0].Times[0]
	for i, batch := range list {
		batch.Pos++
		for r := range batch.Times {
			batch.Times[r] = start + belfry.Time(i*benchRows+r)*86_400_000_000/(batches*benchRows)
		}
		if err := store.AppendAll(b.Context(), s, batch); err != nil {
			b.Fatal(err)
		}
	}
	return s, start
}
