package intake

import (
	"belfry"
	"belfry/engine"
	"belfry/meta"
)

// customerView finds the customer-level view a cell names; nil when the cell is empty, or when it says of a root what an
// export says of it: that it is in MAIN.
func (p *provisioning) customerView(name string, have *meta.Node) (*meta.Node, *belfry.RowError) {
	if name == "" || name == belfry.Main && have != nil && p.Check().NotRoot("view", have) != nil {
		return nil, nil
	}
	if bad := p.Check().MayUseMain("view"); bad != nil && name == belfry.Main {
		return nil, bad
	}
	n := p.Find().Place(name)
	switch {
	case n == nil:
		return nil, belfry.Rejectf("view", belfry.UnknownView, "view %q does not exist; provision it first, or leave view empty for %s", belfry.Clip(name), belfry.Main)
	case n.Kind != belfry.KindView:
		return nil, belfry.Rejectf("view", belfry.NotAllowed, "%q is a resource; put a resource into a view of the customer", n.Name)
	}
	return n, nil
}

// viewRow decides a row of the package view.
func (p *provisioning) viewRow(name string) *belfry.RowError {
	resource, parent, bad := p.around(name)
	if bad != nil {
		return bad
	}
	have := p.Find().Place(name)
	if resource != nil {
		have = p.Find().View(resource, name)
	}
	class := p.text(p.b.class)
	if have == nil {
		if bad := p.mayCreate(name); bad != nil {
			return bad
		}
	}
	switch {
	case have != nil && have.Kind != belfry.KindView:
		return inUse(have)
	case have != nil:
		return p.update(have, parent, class)
	case resource == nil && p.Check().NameFree(name) != nil:
		return p.Check().NameFree(name)
	case parent == nil:
		return belfry.Rejectf("view", belfry.MissingValue, "view %q does not exist yet, and view is empty; name the view in which to create it, %s for the top level", name, belfry.Main)
	}
	answers, bad := p.answers(nil)
	if bad != nil {
		return bad
	}
	if bad := p.Check().Depth("view", parent); bad != nil {
		return bad
	}
	if bad := p.checkPosition(parent, answers); bad != nil {
		return bad
	}
	if class == "" {
		class = engine.GenericView
	}
	details := detailsOf(answers)
	if bad := p.Budget().CheckPlace("name", name); bad != nil {
		return bad
	}
	if bad := p.Budget().ReserveDetails("name", nil, details); bad != nil {
		return bad
	}
	p.Create(belfry.KindView, name, parent, resource, p.Find().ViewClass(class), "", details)
	p.report.Created.Views++
	return nil
}

// checkPosition requires a position for a view from /cv, unless its parent arranges its icons.
func (p *provisioning) checkPosition(parent *meta.Node, answers map[string]string) *belfry.RowError {
	if !p.b.mustPlace || p.Details(parent).Answers["autoarrange"] == "linear" {
		return nil
	}
	for _, column := range []string{"posx", "posy"} {
		if answers[column] == "" {
			return belfry.Rejectf(column, belfry.MissingValue, "%s is missing; %q does not arrange its icons automatically, so give the position of the new one", column, parent.Name)
		}
	}
	return nil
}

// around finds the parent of a view: the resource, nil at customer level, and the view in it, nil when the row does
// not say. A resource is a view too, so its name in the column view is enough.
func (p *provisioning) around(name string) (resource, parent *meta.Node, bad *belfry.RowError) {
	resname, view := p.text(p.b.resname), p.text(p.b.view)
	if resname != "" {
		if resource = p.Find().Resource(resname); resource == nil {
			return nil, nil, unknownResource(resname)
		}
		if view == "" {
			return resource, nil, nil
		}
		if parent = p.Find().View(resource, view); parent == nil {
			return nil, nil, unknownInside("view", view, resource)
		}
		return resource, parent, nil
	}
	if view == "" {
		return nil, nil, nil
	}
	if view == belfry.Main {
		parent, bad = p.customerView(view, p.Find().Place(name))
		return nil, parent, bad
	}
	if parent = p.Find().Place(view); parent == nil {
		return nil, nil, belfry.Rejectf("view", belfry.UnknownView, "view %q does not exist; provision it first, or write %s for the top level", belfry.Clip(view), belfry.Main)
	}
	return parent.Resource, parent, nil
}

func unknownInside(column, view string, resource *meta.Node) *belfry.RowError {
	return belfry.Rejectf(column, belfry.UnknownView, "view %q does not exist in %q; name an existing view or the resource itself", belfry.Clip(view), resource.Name)
}
