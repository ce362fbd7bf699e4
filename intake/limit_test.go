package intake

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"belfry/intake/rowfmt"
)

// BenchmarkBody measures what reading costs by itself on one core: splitting rows of five values, and splitting them
// and reading the values. Nothing that sends can be faster.
func BenchmarkBody(b *testing.B) {
	const rows = 10_000
	var body bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&body, "data,res%05d,obj%07d,%.2f,%d,42,%.3f,%d\n", i/100, i, float64(i*7919%10_000)/100, i*31%101,
			float64(i*104_729%100_000)/1000, 1_000_000+i*1499)
	}
	run := func(name string, each func(fields [][]byte) bool) {
		b.Run(name, func(b *testing.B) {
			c := rowfmt.NewCSV(nil, 1<<20)
			for b.Loop() {
				c.Reset(bytes.NewReader(body.Bytes()))
				n := 0
				for ; ; n++ {
					fields, _, err := c.Next()
					if err == io.EOF {
						break
					}
					if err != nil || !each(fields) {
						b.Fatal(err)
					}
				}
				if n != rows {
					b.Fatalf("%d rows", n)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	run("split", func(fields [][]byte) bool { return len(fields) == 8 })
	run("parse", func(fields [][]byte) bool {
		for _, f := range fields[3:] {
			if _, ok := rowfmt.ParseNumber(f); !ok {
				return false
			}
		}
		return true
	})
}
