package ingest

import (
	"fmt"
	"runtime"
	"testing"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

// grow gives the bench an estate of so many objects, a thousand in each resource, ten resources in each view.
func (b *bench) grow(tb testing.TB, objects int) {
	tb.Helper()
	const perResource, perView = 1000, 10
	err := b.Do(&Command{Customer: b.who.Customer, Alone: true, Decide: func(t *Tx) error {
		var view, resource *meta.Node
		class := t.viewClass(genericView)
		for i := range objects {
			if i%(perResource*perView) == 0 {
				view = t.create(belfry.KindView, fmt.Sprintf("view%04d", i/perResource/perView), t.Tenant.Main, nil, class, "", nil)
			}
			if i%perResource == 0 {
				resource = t.create(belfry.KindResource, fmt.Sprintf("res%04d", i/perResource), view, nil, class, "custom", nil)
			}
			t.create(belfry.KindObject, fmt.Sprintf("obj%07d", i), resource, resource, t.viewClass("network-ping"), "", nil)
		}
		return nil
	}})
	if err != nil {
		tb.Fatal(err)
	}
	b.records = nil
}

var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

// BenchmarkLookup finds the same thousand objects by name in estates of different sizes: the cost must not grow with
// what else there is.
func BenchmarkLookup(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("objects=%d", size), func(b *testing.B) {
			x := newBench(b)
			x.grow(b, size)
			l, err := readLayout([][]byte{[]byte("type"), []byte("resname"), []byte("object")}, x.cfg.Limits())
			if err != nil {
				b.Fatal(err)
			}
			rows := make([][][]byte, 1000)
			for i := range rows {
				rows[i] = [][]byte{nil, []byte("res0000"), fmt.Appendf(nil, "obj%07d", i)}
			}
			r := &reader{layout: l, tree: x.tree, who: x.who.Scope}
			for i := 0; b.Loop(); i++ {
				if _, _, sure := r.find(&chunk{}, rows[i%len(rows)]); !sure {
					b.Fatal("not found")
				}
			}
		})
	}
}

// fine are values that cross no threshold.
type fine struct{}

func (fine) Number(int) (float64, bool) { return 1, true }
func (fine) Text(int) (string, bool)    { return "", false }

// BenchmarkRollup lets one object go down and up again, with what follows up to MAIN: four items each time.
func BenchmarkRollup(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("objects=%d", size), func(b *testing.B) {
			x := newBench(b)
			x.grow(b, size)
			var n *meta.Node
			x.tree.Read(x.who.Customer, func(e *meta.Estate) { n, _ = e.Object("obj0000500") })
			x.cfg.Sinks = nil
			at := belfry.At(x.now)
			runtime.GC() // what the estate was made from is not what is measured
			b.ResetTimer()
			for i := range b.N {
				x.scratch.reset(x.tree)
				t := x.begin(x.who.Customer)
				t.input(n, status.Input{Time: at + belfry.Time(i), NoResponse: i%2 == 0, Values: fine{}})
				r := t.record()
				if len(r.States) != 4 {
					b.Fatalf("%d items changed, want the object, its resource, its view and MAIN", len(r.States))
				}
				r.SetPos(belfry.Position(i + 1<<40))
				if err := x.tree.Apply(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
