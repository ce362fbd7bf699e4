package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"belfry/meta"
)

// TestPageOf holds pages to a list that is sorted whole.
func TestPageOf(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var all []*meta.Node
		for i := range random.IntN(60) {
			n := &meta.Node{Kind: kindOrder[random.IntN(len(kindOrder))], Name: fmt.Sprint("n/", random.IntN(40), "/", i), Package: []string{"label", "link"}[i%2]}
			all = append(all, n)
		}
		want := slices.SortedFunc(slices.Values(all), byMark)
		limit := 1 + random.IntN(20)
		var got []*meta.Node
		for after := ""; ; {
			mark, err := ParseMark(after)
			if err != nil {
				t.Fatal(err)
			}
			page, more := pageOf(slices.Clone(all), mark, limit)
			got = append(got, page...)
			if more && len(page) != limit || len(page) > limit {
				t.Fatalf("a page of %d has %d, more %t", limit, len(page), more)
			}
			if !more {
				break
			}
			after = cursorOf(page[len(page)-1]).String()
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pages of %d from %d entries give %d", limit, len(all), len(got))
		}
	}
}

func FuzzMark(f *testing.F) {
	f.Add("object/cpu")
	f.Add("element/label/a/b")
	f.Add("element/label")
	f.Add("view/")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMark(text)
		if err != nil || text == "" {
			return
		}
		if m.String() != text {
			t.Errorf("%q reads %q", text, m)
		}
		if again, err := ParseMark(m.String()); err != nil || again != m {
			t.Errorf("%q is %v, then %v, %v", text, m, again, err)
		}
	})
}
