package explain

import (
	"errors"
	"iter"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// Wanted names an item. Items of Kind are searched first, then the others.
type Wanted struct {
	Kind     belfry.Kind
	Name     string
	Resource string // that contains it; empty: any
}

func (w Wanted) find(e *scopedTenant) (*meta.Node, error) {
	switch {
	case e.Tenant == nil:
		return nil, errNotFound
	case w.Name == belfry.Main && w.Resource == "":
		return e.within.Main(), nil
	}
	switch n, err := e.Find(w.Kind, w.Resource, w.Name, e.within.Has); {
	case err != nil:
		return nil, err
	case n != nil:
		return n, nil
	}
	return nil, errNotFound
}

// errNotFound means that no item has the name; unknown turns it into a message.
var errNotFound = errors.New("no such item")

// unknown returns the error for a name that no item has, with the nearest name. The names are compared without a lock,
// so that senders do not wait.
func (w Wanted) unknown(t *meta.Tree, s belfry.Scope, err error) error {
	if !errors.Is(err, errNotFound) {
		return err
	}
	var names []string
	known := w.Resource == ""
	t.Read(s.Customer, func(e *meta.Tenant) {
		if e != nil {
			within := e.Visibility(s)
			known = known || within.Has(e.Resource(w.Resource))
			names = w.similarNames(e, &within)
		}
	})
	if !known {
		return belfry.Errorf(belfry.UnknownItem, "there is no resource %q to look for %q in", clipped(w.Resource), clipped(w.Name))
	}
	where := ""
	if w.Resource != "" {
		where = " in " + clipped(w.Resource)
	}
	if near := catalog.Nearest(w.Name, names); near != "" {
		return belfry.Errorf(belfry.UnknownItem, "there is no object, resource or view %q%s; nearest is %q", clipped(w.Name), where, near)
	}
	return belfry.Errorf(belfry.UnknownItem, "there is no object, resource or view %q%s", clipped(w.Name), where)
}

// similarNames lists names among which the intended one may be.
func (w Wanted) similarNames(e *meta.Tenant, within *meta.Visibility) (names []string) {
	const limit = 5000 // comparing a name with each of them is slow
	add := func(nodes iter.Seq[*meta.Node]) {
		for n := range nodes {
			if len(names) == limit {
				return
			}
			if within.Has(n) {
				names = append(names, n.Name)
			}
		}
	}
	if w.Resource != "" {
		add(e.InResource(w.Resource))
		return names
	}
	for _, k := range [...]belfry.Kind{w.Kind, belfry.KindResource, belfry.KindView, belfry.KindObject} {
		add(e.ByKind(k))
	}
	return names
}

// clipped shortens a name that a client sent, so that it does not fill the answer.
func clipped(name string) string {
	const limit = 100
	if runes := []rune(name); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return name
}
