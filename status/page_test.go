package status

import (
	"fmt"
	"testing"

	"belfry"
	"belfry/query"
)

// TestDeepPages: a page with a large offset has the same rows as a scan over every item.
func TestDeepPages(t *testing.T) {
	e := newTestTree(t)
	web := e.add(belfry.KindResource, "web", 1, 0, "custom")
	var objects []belfry.ID
	for n := range 3000 {
		objects = append(objects, e.add(belfry.KindObject, fmt.Sprintf("disk %d", n*7919%3000), web, web, "disk"))
	}
	e.apply()
	for n, id := range objects {
		e.set(id, belfry.Status(n%6))
	}
	e.apply()
	f := func(rest string) {
		t.Helper()
		p := e.plan("SELECT name, kind, status FROM objectstatus " + rest)
		s := Source{Tree: e.tree}
		within := e.tree.Visibility(belfry.Whole(1))
		judged, err := query.Eval(p, s.rows(e.tree.Everything(1), &within))
		want := lines(t, judged, err)
		found, err := s.Select(t.Context(), p)
		if got := lines(t, found, err); got != want {
			t.Errorf("%s: got\n%swant\n%s", rest, got, want)
		}
	}
	for _, offset := range []int{deepOffset - 1, deepOffset, deepOffset + 1, 2990, 3001, 3002, 5000} {
		f(fmt.Sprintf("ORDER BY status DESC, name LIMIT 20 OFFSET %d", offset))
		f(fmt.Sprintf("WHERE kind='object' ORDER BY name DESC LIMIT 20 OFFSET %d", offset))
		f(fmt.Sprintf("WHERE status<>'3' LIMIT 5 OFFSET %d", offset))
	}
	f("GROUP BY name, kind, status LIMIT 5 OFFSET 2000")
}
