package belfry

import (
	"strings"
	"testing"
)

func TestBranchesCheck(t *testing.T) {
	whole := []Branch{{"a", 0}, {"b", 100}, {"c", 150}}
	f := func(list []Branch, id string, pos Position, why string) {
		t.Helper()
		err := NewBranches(list).Check(id, pos)
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%q up to %d: %v, want %q", id, pos, err, why)
		}
	}
	f(whole, "c", 999, "")
	f(whole, "b", 150, "")
	f(whole, "b", 151, "ended here at 0·150")
	f(whole, "a", 100, "")
	f(whole, "a", 101, "ended here at 0·100")
	f(whole, "x", 0, "does not have (x)")
	f(whole, "", 0, "does not say")
	// The beginning of the list is not known.
	f(whole[1:], "a", 100, "")
	f(whole[1:], "", 100, "")
	f(whole[1:], "a", 101, "does not have (a)")
	f(whole[1:], "b", 151, "ended here")
	f(nil, "x", 1, "")
	if err := (*Branches)(nil).Check("x", 1); err != nil || (*Branches)(nil).Current() != "" || NewBranches(whole).Current() != "c" {
		t.Error(err)
	}
}
