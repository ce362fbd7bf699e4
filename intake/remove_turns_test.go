package intake

import (
	"testing"

	"belfry"
	"belfry/engine"
)

// TestRemoveInTurns removes views with much inside: no record has more than a turn's items, so that others get their turn
// in between, and at the end all is gone and counted as ever.
func TestRemoveInTurns(t *testing.T) {
	const many = 25_000
	b := newBench(t)
	b.Grow(t, many)
	inventory := b.Tree.Tenant(b.Who.Customer)
	remove := func(pkg, body string, o Options) belfry.Report {
		t.Helper()
		b.Records = nil
		_, r := b.bulk(t, true, pkg, body, o)
		for _, rec := range b.Records {
			if len(rec.Items) > removeTurn {
				t.Errorf("%s %q: a record with %d items", pkg, body, len(rec.Items))
			}
		}
		return r
	}
	objects := func(want int) {
		t.Helper()
		if n := inventory.Count(belfry.KindObject); n != want {
			t.Errorf("%d objects, want %d", n, want)
		}
	}

	if r := remove("view", "name\nview0000\n", Options{DryRun: true, Recursive: true}); r.Removed != 1 || r.Accepted != 1 {
		t.Errorf("trial: %+v", r)
	}
	objects(many)
	for _, o := range []Options{{Atomic: true, Recursive: true}, {Recursive: true, Repeat: engine.Repeat{Key: "k"}}} {
		if r := remove("view", "name\nview0000\n", o); r.Rejected != 1 || r.Errors[0].Code != belfry.LimitReached {
			t.Errorf("%+v: %+v", o, r)
		}
	}
	objects(many)

	if r := remove("object", "name,view\n*,res0000\n*,res0001\nobj0002000,\n", Options{}); r.Removed != 2001 || r.Accepted != 3 {
		t.Errorf("all of a resource: %+v", r)
	}
	objects(many - 2001)
	if r := remove("view", "name\nview0000\nnowhere\n", Options{Recursive: true}); r.Removed != 1 || r.Accepted != 1 || r.Rejected != 1 {
		t.Errorf("a view with its content: %+v", r)
	}
	if len(b.Records) < 8 {
		t.Errorf("%d turns", len(b.Records))
	}
	objects(many - 10_000)
	if inventory.Place("view0000") != nil || inventory.Place("res0003") != nil {
		t.Error("the view or a resource inside it is still there")
	}
	if r := remove("object", "name,view\n*,view0001\n", Options{Recursive: true}); r.Removed != 10_000 {
		t.Errorf("all objects below a view: %+v", r)
	}
	objects(many - 20_000)
	if inventory.Place("res0010") == nil {
		t.Error("a resource went with its objects")
	}
}
