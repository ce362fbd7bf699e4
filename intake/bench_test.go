package intake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"belfry"
)

// BenchmarkSend measures the way of a row from CSV to the journal and the tree, without stores behind it.
func BenchmarkSend(b *testing.B) {
	for _, objects := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) { benchmarkSend(b, objects) })
	}
}

func benchmarkSend(b *testing.B, objects int) {
	x := newBench(b)
	x.Records = nil
	x.Config.Sinks = nil
	const perResource, rows = 1000, 10_000
	var names []string
	for i := 0; i*perResource < objects; i++ {
		names = append(names, fmt.Sprintf("res%04d", i))
	}
	x.provision(b, names...)
	object := func(i int) string { return fmt.Sprintf("res%04d,obj%06d", i/perResource, i) }
	for from := 0; from < objects; from += rows {
		var s strings.Builder
		s.WriteString("type,resname,object,class,view,i1,i2,i3,i4,i5\n")
		for i := from; i < min(from+rows, objects); i++ {
			fmt.Fprintf(&s, "data,%s,bench,res%04d,1,2,3,4,5\n", object(i), i/perResource)
		}
		if code, r := x.send(b, s.String(), Options{}); code != 200 {
			b.Fatalf("%d %+v", code, r)
		}
	}
	bodies := make([][]byte, 20)
	for k := range bodies {
		var s bytes.Buffer
		s.WriteString("type,resname,object,i1,i2,i3,i4,i5\n")
		for i := range rows {
			o := (k*rows + i) * 7919 % objects
			fmt.Fprintf(&s, "data,%s,%.2f,%d,100,%.3f,%d\n", object(o), float64(o%9973)/100, o%101, float64(o%997)/1000, 1_000_000+i)
		}
		bodies[k] = s.Bytes()
	}
	b.ResetTimer()
	for i := range b.N {
		if code, _, err := x.Send(context.Background(), x.Who, bytes.NewReader(bodies[i%len(bodies)]), Options{}); code != 200 {
			b.Fatal(code, err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRegister sends rows that each create their object.
func BenchmarkRegister(b *testing.B) {
	const rows = 10_000
	s := newBench(b)
	s.provision(b, "web01")
	b.ReportAllocs()
	for i := range b.N {
		b.StopTimer()
		var body strings.Builder
		body.WriteString("type,resname,object,class,view,i1,i2,i3,i4,i5\n")
		for j := range rows {
			fmt.Fprintf(&body, "data,web01,object %d-%d,load,web01,1,2,3,4,5\n", i, j)
		}
		s.Records = nil
		b.StartTimer()
		if code, r := s.send(b, body.String(), Options{}); code != 200 || r.Created.Objects != rows {
			b.Fatalf("%d %+v", code, r)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkProvision creates resources with an object each.
func BenchmarkProvision(b *testing.B) {
	const rows = 10_000
	s := newBench(b)
	b.ReportAllocs()
	for i := range b.N {
		b.StopTimer()
		var body strings.Builder
		body.WriteString("name,ip_address_fqdn\n")
		for j := range rows {
			fmt.Fprintf(&body, "ping %d-%d,192.0.2.%d\n", i, j, j%250)
		}
		s.Records = nil
		b.StartTimer()
		if code, r := s.bulk(b, false, "network-ping", body.String(), Options{}); code != 200 || r.Created.Resources != rows {
			b.Fatalf("%d %+v", code, r)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkFormats reads the same rows of five values from each format into chunks, for objects that exist: what the
// choice of a format costs the sender's core.
func BenchmarkFormats(b *testing.B) {
	const rows, objects = 10_000, 1000
	x := newBench(b)
	x.Grow(b, objects)
	var csv, lines bytes.Buffer
	csv.WriteString("type,resname,object,i1,i2,i3,i4,i5\n")
	for i := range rows {
		object, values := fmt.Sprintf("obj%07d", i%objects), []any{float64(i*7919%10_000) / 100, i * 31 % 101, 42, float64(i*104_729%100_000) / 1000, 1_000_000 + i*1499}
		fmt.Fprintf(&csv, "data,res0000,"+object+",%.2f,%d,%d,%.3f,%d\n", values...)
		fmt.Fprintf(&lines, `{"type":"data","resname":"res0000","object":"`+object+`","i1":%.2f,"i2":%d,"i3":%d,"i4":%.3f,"i5":%d}`+"\n", values...)
	}
	array := "[" + strings.Join(strings.Split(strings.TrimSpace(lines.String()), "\n"), ",") + "]"
	for format, body := range map[belfry.Format]string{belfry.CSV: csv.String(), belfry.JSON: array, belfry.NDJSON: lines.String()} {
		b.Run(format.String(), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				r, err := x.newSendBody(x.Who.Scope, strings.NewReader(body), Options{Format: format})
				if err != nil {
					b.Fatal(err)
				}
				c, err := r.read(chunkLimits())
				if err != io.EOF || c.rows != rows || c.undecided.len() > 0 || c.rejected.count > 0 {
					b.Fatalf("%d rows, %d open, %d rejected, %v", c.rows, c.undecided.len(), c.rejected.count, err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
