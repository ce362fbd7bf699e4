package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

// fine are values that cross no threshold.
type fine struct{}

func (fine) Number(int) (float64, bool) { return 1, true }
func (fine) Text(int) (string, bool)    { return "", false }

// BenchmarkRollup lets one object go down and up again, with what follows up to MAIN: four items each time.
func BenchmarkRollup(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("objects=%d", size), func(b *testing.B) {
			x := newBench(b)
			x.Grow(b, size)
			var n *meta.Node
			x.Tree.Read(x.Who.Customer, func(e *meta.Tenant) { n, _ = e.Object("obj0000500") })
			x.Config.Sinks = nil
			at := belfry.At(x.Moment)
			runtime.GC() // what the inventory was made from is not what is measured
			b.ResetTimer()
			for i := range b.N {
				r := x.Rollup(x.Who.Customer, n, status.Input{Time: at + belfry.Time(i), NoResponse: i%2 == 0, Values: fine{}})
				if len(r.States) != 4 {
					b.Fatalf("%d items changed, want the object, its resource, its view and MAIN", len(r.States))
				}
				r.SetPos(belfry.Position(i + 1<<40))
				if err := x.Tree.Apply(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
