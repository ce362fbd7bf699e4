package status

import (
	"errors"
	"iter"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// Wanted names an item: among those of a kind first, then among the others.
type Wanted struct {
	Kind     belfry.Kind
	Name     string
	Resource string // in which it is; empty: anywhere
}

// find looks for the item.
func (w Wanted) find(e *sight) (*meta.Node, error) {
	switch {
	case e.Tenant == nil:
		return nil, errNowhere
	case w.Name == belfry.Main && w.Resource == "":
		return e.within.Main(), nil
	}
	switch n, bad := e.Find(w.Kind, w.Resource, w.Name, e.within.Has); {
	case bad != nil:
		return nil, bad
	case n != nil:
		return n, nil
	}
	return nil, errNowhere
}

// errNowhere says that nothing has the name; unknown makes a message of it.
var errNowhere = errors.New("no such item")

// unknown is the answer when nothing has the name: it knows the nearest one. That is looked for without holding up those
// who send.
func (w Wanted) unknown(t *meta.Tree, s belfry.Scope, err error) error {
	if !errors.Is(err, errNowhere) {
		return err
	}
	var names []string
	known := w.Resource == ""
	t.Read(s.Customer, func(e *meta.Tenant) {
		if e != nil {
			within := e.Within(s)
			known = known || within.Has(e.Resource(w.Resource))
			names = w.others(e, &within)
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

// others lists names among which the one that was meant may be.
func (w Wanted) others(e *meta.Tenant, within *meta.Within) (names []string) {
	const most = 5000 // a name is compared with each, which takes its time
	add := func(nodes iter.Seq[*meta.Node]) {
		for n := range nodes {
			if len(names) == most {
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

// clipped keeps a name that somebody sent from filling an answer.
func clipped(name string) string {
	const most = 100
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return name
}
