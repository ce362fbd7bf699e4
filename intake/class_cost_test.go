package intake

import (
	"fmt"
	"strings"
	"testing"
)

// newClasses is a body whose rows each make an object of a class of its own.
func newClasses(n int) string {
	var b strings.Builder
	b.WriteString("type,resname,object,class,view,i1,i2\n")
	for i := range n {
		fmt.Fprintf(&b, "data,web01,object %d,class %d,web01,1,2\n", i, i)
	}
	return b.String()
}

// BenchmarkNewClasses is what a row costs that makes a class, by how many of them a body has.
func BenchmarkNewClasses(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			body := newClasses(n)
			for range b.N {
				b.StopTimer()
				s := newBench(b)
				s.provision(b, "web01")
				b.StartTimer()
				if code, r := s.send(b, body, Options{Atomic: true}); code != 200 {
					b.Fatalf("%d %+v", code, r)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

// BenchmarkWhole is what a row of an atomic body costs: known objects, one value each.
func BenchmarkWhole(b *testing.B) {
	const n = 500_000
	s := newBench(b)
	s.provision(b, "web01")
	var body strings.Builder
	body.WriteString("type,resname,object,class,view,i1\n")
	for i := range 1000 {
		fmt.Fprintf(&body, "data,web01,object %d,c,web01,1\n", i)
	}
	if code, r := s.send(b, body.String(), Options{Atomic: true}); code != 200 {
		b.Fatalf("%d %+v", code, r)
	}
	body.Reset()
	body.WriteString("type,resname,object,i1\n")
	for i := range n {
		fmt.Fprintf(&body, "data,web01,object %d,%d\n", i%1000, i)
	}
	text := body.String()
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		if code, r := s.send(b, text, Options{Atomic: true}); code != 200 {
			b.Fatalf("%d %+v", code, r)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
}
