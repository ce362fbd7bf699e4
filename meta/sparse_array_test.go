package meta

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSparse compares a table with a map, over numbers that lie close together and far apart.
func TestSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s SparseArray[uint32]
	want := map[uint64]uint32{}
	for range 20_000 {
		n := uint64(r.IntN(40)) * [...]uint64{1, 300, 70_000}[r.IntN(3)]
		if v := r.Uint32N(3); v == 0 {
			delete(want, n)
			s.Set(n, 0)
		} else {
			want[n] = v
			s.Set(n, v)
		}
		if s.At(n) != want[n] || s.Len() != len(want) {
			t.Fatalf("entry %d of %d is %d, want %d of %d", n, s.Len(), s.At(n), want[n], len(want))
		}
	}
	var numbers []uint64
	for n, v := range s.From(300) {
		if v != want[n] {
			t.Errorf("entry %d is %d, want %d", n, v, want[n])
		}
		numbers = append(numbers, n)
	}
	all := slices.Sorted(maps.Keys(want))
	first, _ := slices.BinarySearch(all, 300)
	if !slices.Equal(numbers, all[first:]) {
		t.Errorf("from 300 on there are %v, want %v", numbers, all[first:])
	}
}

// TestSparseUsedAgain: each round of the sequencer fills a table and empties it, which allocates nothing.
func TestSparseUsedAgain(t *testing.T) {
	var s SparseArray[uint32]
	round := func() {
		for _, v := range []uint32{1, 0} {
			for n := range uint64(8) {
				s.Set(n*70_000, v)
			}
		}
	}
	round()
	if n := testing.AllocsPerRun(10, round); n > 0 {
		t.Errorf("a round allocates %v times", n)
	}
}
