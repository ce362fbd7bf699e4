package index

import (
	"fmt"
	"slices"
	"testing"
)

// TestBloom finds every token that was added, and few others, whatever the size of the filter.
func TestBloom(t *testing.T) {
	f := func(n int) {
		t.Helper()
		set := NewSet()
		for i := range n {
			set.AddText(1, fmt.Sprintf("w%d w%d", i, i/2))
		}
		if len(set.all) != n {
			t.Errorf("%d words are %d tokens", n, len(set.all))
		}
		data, pages, size := buildPages(3, set.all)
		if len(data) != pages*size || size > pageSize {
			t.Errorf("%d tokens: %d pages of %d bytes, %d in all", n, pages, size, len(data))
		}
		has := func(w string, customer uint64) bool {
			tok := tokenOf(customer, []byte(w)).in(3)
			at := pageOf(tok, pages)
			page := data[at*size:][:size]
			if !pageWhole(3, at, page) || pageWhole(4, at, page) || pageWhole(3, at+1, page) {
				t.Fatalf("%d tokens: the sum of page %d", n, at)
			}
			return pageHas(page, tok)
		}
		wrong := 0
		const tries = 20_000
		for i := range n {
			if !has(fmt.Sprint("w", i), seedOf(1)) {
				t.Fatalf("%d tokens: w%d is missing", n, i)
			}
		}
		for i := range tries {
			if has(fmt.Sprint("x", i), seedOf(1)) {
				wrong++
			}
			if has(fmt.Sprint("w", i%max(n, 1)), seedOf(2)) {
				wrong++
			}
		}
		if share := float64(wrong) / (2 * tries); share > 0.006 {
			t.Errorf("%d tokens: %.2f %% of all others seem to be there", n, 100*share)
		}
	}
	for _, n := range []int{0, 1, 2, 10, 41, 42, 43, 500, 2728, 2729, 6000, 20_000, 90_000} {
		f(n)
	}
}

// TestBloomChance adds the same words to many blocks: a word that is in none of them must not match many.
func TestBloomChance(t *testing.T) {
	const blocks, common, absent = 300, 2700, 3000
	set := NewSet()
	for i := range common {
		set.AddText(1, fmt.Sprint("w", i))
	}
	var seems [absent]int
	for b := range blocks {
		data, _, _ := buildPages(b, set.all)
		for i := range seems {
			if pageHas(data, tokenOf(seedOf(1), fmt.Append(nil, "x", i)).in(b)) {
				seems[i]++
			}
		}
	}
	if most := slices.Max(seems[:]); most > blocks/30 {
		t.Errorf("a word that no block has seems to be in %d of %d", most, blocks)
	}
}
