package meta

import (
	"fmt"
	"slices"
	"strings"

	"belfry"
)

// Find returns the item with a name: of the given kind, or else of another kind, in one resource or anywhere. Items for
// which sees is false are left out. It returns nil if no item has the name, and an error if several have it.
func (e *Tenant) Find(k belfry.Kind, resource, name string, sees func(*Node) bool) (*Node, *belfry.Error) {
	found := e.AllNamed(k, resource, name, sees)
	if len(found) == 0 {
		var kinds []string // in the path of a request
		for _, other := range [...]belfry.Kind{belfry.KindObject, belfry.KindResource, belfry.KindView} {
			if others := e.AllNamed(other, resource, name, sees); len(others) > 0 {
				found, kinds = others, append(kinds, other.String()+"s")
			}
		}
		if len(kinds) > 1 {
			return nil, belfry.Errorf(belfry.AmbiguousName, "%q is not among the %ss, but among the %s; say which is meant with the kind in the path", name, k, strings.Join(kinds, " and the "))
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, belfry.Errorf(belfry.AmbiguousName, "%s; give resname", Namesakes(found))
}

// Namesakes says in which resources items of one kind and name are.
func Namesakes(all []*Node) string {
	const most = 10
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = n.Resource.Name
	}
	slices.Sort(names)
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return fmt.Sprintf("%s %q exists in %d resources (%s)", all[0].Kind, all[0].Name, len(all), strings.Join(names, ", "))
}

// AllNamed lists the items of a kind and name. A view at customer level hides those inside resources.
func (e *Tenant) AllNamed(k belfry.Kind, resource, name string, sees func(*Node) bool) (found []*Node) {
	add := func(n *Node) {
		if n != nil && sees(n) {
			found = append(found, n)
		}
	}
	if resource != "" {
		add(e.inResource(k, resource, name))
		return found
	}
	p := e.places[name]
	if p != nil && !sees(p) {
		p = nil // one outside hides nothing that is inside
	}
	switch {
	case k == belfry.KindObject:
		for n := range e.ObjectsNamed(name) {
			add(n)
		}
	case p != nil && p.Kind == k:
		add(p)
	case k == belfry.KindView:
		for n := range e.ViewsNamed(name) {
			add(n)
		}
	}
	return found
}

func (e *Tenant) inResource(k belfry.Kind, resource, name string) *Node {
	r := e.Resource(resource)
	switch {
	case r == nil:
	case k == belfry.KindObject:
		return r.Object(name)
	case k == belfry.KindResource && name == resource:
		return r
	case k == belfry.KindView:
		if n := r.View(name); n != r {
			return n
		}
	}
	return nil
}
