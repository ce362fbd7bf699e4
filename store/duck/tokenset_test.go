package duck

import (
	"testing"

	"belfry/query"
)

// FuzzTokens: the filter knows every word of a text, in any of the ways in which it may find it.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "a", "GET /shop/cart/17 200", "_a-b_c", "straße STRASSE", "naïve\u0301x", "K\u212aK", "12345678 123456789 1234567", "a\xffb", "\x00\x00 a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set := newTokenSet()
		set.addText(3, text)
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
	texts := benchLines(1, 4*blockRows)[0].Columns[1].Texts
	set := newTokenSet()
	cpu := processor()
	for i := 0; b.Loop(); i++ {
		set.addText(1, texts[i%len(texts)])
		if i%blockRows == blockRows-1 {
			buildPages(0, set.all)
			set.reset()
		}
	}
	b.ReportMetric(float64((processor()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/line")
}
