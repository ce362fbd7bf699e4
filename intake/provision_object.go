package intake

import (
	"strings"

	"belfry"
	"belfry/meta"
)

// objectRow decides a row of the package object.
func (p *provisioning) objectRow(name string) *belfry.RowError {
	have, resource, bad := p.objectAt(name)
	if bad != nil {
		return bad
	}
	var parent *meta.Node
	if view := p.text(p.b.view); view != "" {
		if parent = p.Find().View(resource, view); parent == nil {
			return unknownInside("view", view, resource)
		}
	}
	class := p.text(p.b.class)
	if have == nil {
		return p.newObject(name, resource, parent, class)
	}
	if bad := p.mayChange(have); bad != nil {
		return bad
	}
	if class != "" && class != have.Class.Name {
		return classMismatch(have, class)
	}
	if parent == p.Parent(have) {
		parent = nil
	}
	old := p.Details(have)
	d := p.objectDetails(old)
	if parent == nil && sameDetails(&d, &old) {
		p.report.Unchanged++
		return nil
	}
	if bad := p.Budget().ReserveDetails("name", &old, &d); bad != nil {
		return bad
	}
	p.Change(have, parent, "", &d)
	p.report.Updated++
	return nil
}

// objectAt finds the object of a row, and its resource. A row that only changes an object may leave the resource out
// when the name is the only one of its kind.
func (p *provisioning) objectAt(name string) (have, resource *meta.Node, bad *belfry.RowError) {
	if resname := p.text(p.b.resname); resname != "" {
		if resource = p.Find().Resource(resname); resource == nil {
			return nil, nil, unknownResource(resname)
		}
		return p.Find().Object(resource, name), resource, nil
	}
	switch all := p.Find().ObjectsNamed(name); len(all) {
	case 0:
		if bad := p.mayCreate(name); bad != nil {
			return nil, nil, bad
		}
		return nil, nil, belfry.Rejectf("resname", belfry.MissingValue, "object %q does not exist, and resname is empty; name the resource in which to create it", name)
	case 1:
		return all[0], all[0].Resource, nil
	default:
		return nil, nil, ambiguous("name", all)
	}
}

func (p *provisioning) newObject(name string, resource, parent *meta.Node, class string) *belfry.RowError {
	if bad := p.mayCreate(name); bad != nil {
		return bad
	}
	switch {
	case class == "":
		return belfry.Rejectf("class", belfry.MissingValue, "class is empty; object %q of %q does not exist, and creating it needs resname, view and class", name, resource.Name)
	case parent == nil:
		return belfry.Rejectf("view", belfry.MissingValue, "view is empty; object %q of %q does not exist, and creating it needs resname, view and class", name, resource.Name)
	}
	if bad := p.Budget().CheckObjects(1); bad != nil {
		return bad
	}
	cl, bad := p.objectClass(class)
	if bad != nil {
		return bad
	}
	if bad := p.Budget().CheckItem("name", meta.ItemSize(belfry.KindObject, name, "")+cl.MarksSize()); bad != nil {
		return bad
	}
	d := p.objectDetails(belfry.Details{})
	details := &d
	if sameDetails(&d, &belfry.Details{}) {
		details = nil
	}
	if bad := p.Budget().ReserveDetails("name", nil, details); bad != nil {
		return bad
	}
	if p.Find().Class(class) == nil {
		if bad := p.reserveInferred(&layout{}, nil, cl.Def, true); bad != nil {
			return bad
		}
		cl = p.Define(cl.Def)
	}
	p.Create(belfry.KindObject, name, parent, resource, cl, "", details)
	p.report.Created.Objects++
	return nil
}

// objectDetails are those of an object over the ones it had: an absent column keeps its value, an empty cell clears it.
func (p *provisioning) objectDetails(d belfry.Details) belfry.Details {
	for i, q := range p.b.columns {
		v := p.text(i)
		switch n, constant := strings.CutPrefix(q.Name, "object_"); {
		case constant:
			d.Constants[n[0]-'1'] = v
		case q.Name == "ip":
			d.IP = v
		case q.Name == "host":
			d.Host = v
		}
	}
	return d
}

// sameDetails compares what is known about two objects; those have no answers.
func sameDetails(a, b *belfry.Details) bool {
	return a.IP == b.IP && a.Host == b.Host && a.Constants == b.Constants
}

func classMismatch(n *meta.Node, class string) *belfry.RowError {
	return belfry.Rejectf("class", belfry.ClassMismatch, "object %q of %q has the class %q, the row says %q; leave class empty or remove the object first",
		n.Name, n.Resource.Name, n.Class.Name, belfry.Clip(class))
}
