package audit

import (
	"testing"

	"belfry"
	"belfry/meta"
)

// TestLists: changes that differ by name alone share an entry.
func TestLists(t *testing.T) {
	by := &belfry.Actor{Name: "agent"}
	web, db := &meta.Node{Kind: belfry.KindResource, Name: "web"}, &meta.Node{Kind: belfry.KindResource, Name: "db"}
	web.Resource, db.Resource = web, db
	disk, cpu := &meta.Class{Name: "disk"}, &meta.Class{Name: "cpu"}
	created := func(name string, r *meta.Node, c *meta.Class) *ItemChange {
		return &ItemChange{By: by, Action: ActionCreated, Node: &meta.Node{Kind: belfry.KindObject, Name: name, Resource: r, Class: c}}
	}
	changed := func(name string) *ItemChange {
		return &ItemChange{By: by, Action: ActionChanged, Node: &meta.Node{Kind: belfry.KindObject, Name: name, Resource: web, Class: disk}}
	}
	removed := func(n *meta.Node) *ItemChange { return &ItemChange{By: by, Action: ActionRemoved, Node: n} }
	f := func(want string, changes ...*ItemChange) {
		t.Helper()
		trail := &Trail{}
		lists := NewLists(trail)
		for _, c := range changes {
			var fields []Field
			if c.Action == ActionChanged {
				fields = []Field{{"class", `"cpu"`, `"disk"`}}
			}
			lists.Add(c, fields)
		}
		lists.Flush()
		got := ""
		for _, r := range trail.rows {
			got += r.Info + ": " + r.items + "\n"
		}
		if got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	f(`4 objects created: [{"resource":"web","after":{"class":"disk"},"names":["a","b\""]},`+
		`{"resource":"web","after":{"class":"cpu"},"names":["c"]},{"resource":"db","after":{"class":"cpu"},"names":["c"]}]`+"\n",
		created("a", web, disk), created(`b"`, web, disk), created("c", web, cpu), created("c", db, cpu))
	f(`2 objects changed: [{"resource":"web","before":{"class":"cpu"},"after":{"class":"disk"},"names":["a","b"]}]`+"\n", changed("a"), changed("b"))
	f(`1 object changed: [{"resource":"web","before":{"class":"cpu"},"after":{"class":"disk"},"names":["a"]}]`+"\n"+
		`1 object created: [{"resource":"web","after":{"class":"disk"},"names":["b"]}]`+"\n", changed("a"), created("b", web, disk))
	f(`2 resources removed: [{"names":["web","db"]}]`+"\n", removed(web), removed(db))
}
