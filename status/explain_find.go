package status

import (
	"errors"
	"iter"
	"slices"
	"strings"

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
	case e.Estate == nil:
		return nil, errNowhere
	case w.Name == belfry.Main && w.Resource == "":
		return e.within.Main(), nil
	}
	for _, k := range [...]belfry.Kind{w.Kind, belfry.KindObject, belfry.KindResource, belfry.KindView} {
		switch found := w.ofKind(e, k); {
		case len(found) > 1:
			return nil, w.ambiguous(found)
		case len(found) == 1:
			return found[0], nil
		}
	}
	return nil, errNowhere
}

// ofKind lists the items of a kind that have the name.
func (w Wanted) ofKind(e *sight, k belfry.Kind) (found []*meta.Node) {
	for n := range e.Named(w.Name) {
		inside := w.Resource == "" || n.Resource != nil && n.Resource.Name == w.Resource
		if n.Kind == k && inside && e.within.Has(n) {
			found = append(found, n)
		}
	}
	return found
}

func (w Wanted) ambiguous(found []*meta.Node) error {
	const most = 10
	var in []string
	for _, n := range found {
		if n.Resource != nil {
			in = append(in, n.Resource.Name)
		} else {
			in = append(in, "the customer's views")
		}
	}
	slices.Sort(in)
	if len(in) > most {
		in = append(in[:most], "…")
	}
	return belfry.Errorf(belfry.AmbiguousName, "%d items are named %q, in %s; add resname", len(found), clipped(w.Name), strings.Join(in, ", "))
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
	t.Read(s.Customer, func(e *meta.Estate) {
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
func (w Wanted) others(e *meta.Estate, within *meta.Within) (names []string) {
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
