package intake

import (
	"fmt"
	"testing"
)

// BenchmarkLookup finds the same thousand objects by name in inventories of different sizes: the cost must not grow with
// what else there is.
func BenchmarkLookup(b *testing.B) {
	for _, size := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("objects=%d", size), func(b *testing.B) {
			x := newBench(b)
			x.Grow(b, size)
			l, err := readLayout([][]byte{[]byte("type"), []byte("resname"), []byte("object")}, x.Config.Limits(), true)
			if err != nil {
				b.Fatal(err)
			}
			rows := make([][][]byte, 1000)
			for i := range rows {
				rows[i] = [][]byte{nil, []byte("res0000"), fmt.Appendf(nil, "obj%07d", i)}
			}
			r := &sendBody{layout: l, tree: x.Tree, who: x.Who.Scope}
			for i := 0; b.Loop(); i++ {
				if _, _, sure := r.find(&chunk{}, rows[i%len(rows)]); !sure {
					b.Fatal("not found")
				}
			}
		})
	}
}
