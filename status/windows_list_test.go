package status

import (
	"fmt"
	"strings"
	"testing"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// TestListWindows lists the windows of two customers, in pages and in a scope.
func TestListWindows(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	tree := meta.NewTree(cat)
	apply := func(r *belfry.Record) {
		t.Helper()
		if err := tree.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	for c := belfry.CustomerID(1); c <= 2; c++ {
		apply(&belfry.Record{Docs: []belfry.Doc{{Kind: belfry.DocCustomer, Name: fmt.Sprint("c", c), Body: fmt.Appendf(nil, `{"id":%d,"name":"c%[1]d"}`, c)}}})
	}
	const objects = 3000
	one := &belfry.Record{Customer: 1, Items: []belfry.Item{
		{ID: 1, Customer: 1, Kind: belfry.KindView, Name: belfry.Main},
		{ID: 2, Customer: 1, Kind: belfry.KindView, Name: "Site", Parent: 1},
		{ID: 3, Customer: 1, Kind: belfry.KindResource, Name: "web01", Parent: 2, Resource: 3, Package: "custom"},
		{ID: 4, Customer: 1, Kind: belfry.KindResource, Name: "web02", Parent: 1, Resource: 4, Package: "custom"},
	}}
	for i := range objects {
		one.Items = append(one.Items, belfry.Item{ID: belfry.ID(10 + i), Customer: 1, Kind: belfry.KindObject, Name: fmt.Sprint("o", i), Parent: 3, Resource: 3, Class: "c"})
	}
	apply(one)
	apply(&belfry.Record{Customer: 2, Items: []belfry.Item{{ID: 5000, Customer: 2, Kind: belfry.KindView, Name: belfry.Main}}})
	set := func(c belfry.CustomerID, id belfry.ID, operator belfry.OperatorState) {
		apply(&belfry.Record{Customer: c, States: []belfry.StateChange{{Item: id, State: belfry.State{Operator: &operator}}}})
	}
	operator := Arrange(belfry.OperatorState{}, Order{Name: "b", Mode: belfry.UnmanagedKeep, From: 10, To: 20, By: "ann", Zone: "UTC"}, 1)
	operator = Arrange(operator, Order{Name: "a", Mode: belfry.CollectorStopped, From: 1, To: 50, Schedule: `{"from":"x","rrule":"FREQ=DAILY","timezone":"Europe/Vienna"}`, By: "bob"}, 2)
	operator.UnmanageNote = "note"
	set(1, 3, operator)
	set(1, 4, Arrange(belfry.OperatorState{}, Order{Mode: belfry.UnmanagedKeep}, 1)) // at once: no window
	set(1, 10, Arrange(belfry.OperatorState{}, Order{Mode: belfry.UnmanagedKeep, From: 10, To: 20}, 1))
	set(1, 10+objects-1, Arrange(belfry.OperatorState{}, Order{From: 10, To: 20}, 1))
	set(1, 2, Arrange(belfry.OperatorState{}, Order{Name: "site", Mode: belfry.UnmanagedKeep}, 1))
	set(2, 5000, Arrange(belfry.OperatorState{}, Order{Name: "theirs", Mode: belfry.UnmanagedKeep, From: 10}, 1))

	f := func(s belfry.Scope, limit int, want string) {
		t.Helper()
		var names []string
		for after, more := "", true; more; {
			var list []ListedWindow
			var err error
			if list, more, err = ListWindows(tree, s, after, limit); err != nil || len(list) > limit || more && len(list) != limit {
				t.Fatalf("%d windows, more %t, %v", len(list), more, err)
			}
			for _, w := range list {
				names = append(names, w.Name+"/"+w.Window)
				after = w.ID
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%+v, %d at a time: %s, want %s", s, limit, got, want)
		}
	}
	whole := belfry.Whole(1)
	const all = "Site/site web01/a web01/b o0/ o2999/"
	for limit := range 6 {
		f(whole, limit+1, all)
	}
	f(belfry.Scope{Customer: 1, Views: []string{"web01"}}, 2, "web01/a web01/b o0/ o2999/")
	f(belfry.Scope{Customer: 1, Views: []string{"web02"}}, 2, "")
	f(belfry.Whole(2), 2, "MAIN/theirs")
	f(belfry.Whole(3), 2, "")

	list, _, err := ListWindows(tree, whole, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if w := list[1]; w != (ListedWindow{
		ID: "0000000000000003:a", Name: "web01", Kind: "resource", Window: "a", Mode: "unmanaged, collector stopped", IsUnmanaged: true, Open: true,
		From: "1970-01-01T00:00:00.000001Z", To: "1970-01-01T00:00:00.000050Z", Rule: "FREQ=DAILY", Zone: "Europe/Vienna", User: "bob", Note: "note",
	}) {
		t.Errorf("%+v", w)
	}
	if w := list[3]; w.Resource != "web01" || w.Kind != "object" || w.Collect != true || w.Open {
		t.Errorf("%+v", w)
	}
	for _, after := range []string{"x", "12", "zz:a"} {
		if _, _, err := ListWindows(tree, whole, after, 10); belfry.CodeOf(err) != belfry.BadParameter {
			t.Errorf("after %q: %v", after, err)
		}
	}
	// Entries disappear with their item, and when it has no windows any more.
	set(1, 10, belfry.OperatorState{Note: "n"})
	apply(&belfry.Record{Customer: 1, Items: []belfry.Item{{ID: 10 + objects - 1, Customer: 1, Kind: belfry.KindObject, Name: fmt.Sprint("o", objects-1), Parent: 3, Resource: 3, Class: "c", Removed: 9}}})
	f(whole, 2, "Site/site web01/a web01/b")
	if rest, _, err := ListWindows(tree, whole, "0000000000000002:", 10); err != nil || len(rest) != 3 {
		t.Errorf("%+v %v", rest, err)
	}
}
