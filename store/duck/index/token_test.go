package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"belfry/query"
)

// FuzzTokens: the filter has every word of a text, whichever way the words are found.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "a", "GET /shop/cart/17 200", "_a-b_c", "straße STRASSE", "naïve\u0301x", "K\u212aK", "12345678 123456789 1234567", "a\xffb", "\x00\x00 a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set := NewSet()
		set.AddText(3, text)
		want := map[token]bool{}
		for w := range query.Words(text) {
			want[tokenOf(seedOf(3), []byte(w))] = true
		}
		if len(want) != len(set.all) {
			t.Errorf("%q has %d words, and %d tokens", text, len(want), len(set.all))
		}
		for _, got := range set.all {
			if !want[got] {
				t.Errorf("%q has a token of no word", text)
			}
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	texts := make([]string, 4*BlockRows)
	for i := range texts {
		texts[i] = fmt.Sprintf("2026-11-15T12:00:%02d.%03dZ INFO 10.1.%d.%d GET /shop/cart/%06d status=200 took=%dms id=%x request served from cache after retry",
			i%60, rng.IntN(1000), rng.IntN(256), rng.IntN(256), rng.IntN(1_000_000), rng.IntN(900), rng.Uint32())
	}
	set := NewSet()
	for i := 0; b.Loop(); i++ {
		set.AddText(1, texts[i%len(texts)])
		if i%BlockRows == BlockRows-1 {
			buildPages(0, set.all)
			set.Reset()
		}
	}
}
