package itemlist_test

import (
	"slices"
	"testing"

	"belfry/engine/itemlist"
)

func TestSplit(t *testing.T) {
	barred := []string{"a|b", "a|b|c|d", "|x", "y|", "back\\|slash", "p | q"}
	f := func(items string, want ...string) {
		t.Helper()
		if got := itemlist.Split(items, barred); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", items, got, want)
		}
	}
	f("a", "a")
	f("a|b", "a|b")
	f("a|b|c", "a|b", "c")
	f("a|b|c|d", "a|b|c|d")
	f("c|a|b", "c", "a|b")
	f("a|c|b", "a", "c", "b")
	f(`a\|b`, "a|b")
	f(`c\|d|e`, "c|d", "e")
	f(`back\|slash`, `back\|slash`) // as it stands
	f(`c\d|e\`, `c\d`, `e\`)
	f("|x", "|x")
	f("|z", "", "z")
	f("y||z", "y|", "z")
	f("y|z", "y", "z")
	f("a||b", "a", "", "b")
	f(" a|b | c", "a|b ", "c")
	f("p | q|r", "p | q", "r")
	f("", "")
}
