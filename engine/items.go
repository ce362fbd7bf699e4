package engine

import (
	"strings"

	"belfry"
	"belfry/meta"
)

// barred returns the names with bars that the action may refer to.
func (p *acting) barred(nodes []*meta.Node) (found []string) {
	begins := map[string]bool{}
	for part := range strings.SplitSeq(p.Items, "|") {
		begins[strings.TrimLeft(part, " ")] = true
	}
	seen := map[string]bool{}
	var names []target
	for _, n := range nodes {
		if first, _, _ := strings.Cut(n.Name, "|"); begins[first] && !seen[n.Name] {
			seen[n.Name] = true
			names = append(names, target{Named: Named{n.Name, p.Resource, p.Kind}})
		}
	}
	p.lookUp(names, func(i int, n *meta.Node, bad *belfry.Error) {
		if n != nil || bad.Code == belfry.AmbiguousName {
			found = append(found, names[i].Name)
		}
	})
	return found
}

// named finds an item of an action by name, first among those of its kind, then among the others.
func (t *Tx) named(of Named) (*meta.Node, *belfry.Error) {
	name, resource, kind := of.Name, of.Resource, of.Kind
	if name == "" || name[0] == 0 { // no name begins with a control character
		return nil, belfry.Errorf(belfry.UnknownItem, "there is an empty name among the items; separate names with one bar")
	}
	if n, bad := t.Tenant.Find(kind, resource, name, t.Sees); n != nil || bad != nil {
		return n, bad
	}
	where := ""
	if resource != "" {
		if t.only(t.Tenant.Resource(resource)) == nil {
			return nil, belfry.Errorf(belfry.UnknownItem, "there is no resource %q, which resname says %q is in", belfry.Clip(resource), belfry.Clip(name))
		}
		where = " in \"" + belfry.Clip(resource) + "\""
	}
	return nil, belfry.Errorf(belfry.UnknownItem, "there is no object, resource or view %q%s", belfry.Clip(name), where)
}
