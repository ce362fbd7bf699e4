package intake

import (
	"cmp"
	"slices"

	"belfry"
	"belfry/meta"
)

// elementRow decides a row of something that is drawn.
func (p *provisioning) elementRow(name string) *belfry.RowError {
	have := p.Find().Element(p.b.pt.Name, name)
	var parent *meta.Node
	if view := p.text(p.b.view); view != "" {
		if bad := p.Check().MayUseMain("view"); bad != nil && view == belfry.Main {
			return bad
		}
		if parent = p.Find().Place(view); parent == nil {
			return belfry.Rejectf("view", belfry.UnknownView, "view %q does not exist; name a view of the customer or a resource, or leave view empty for %s", belfry.Clip(view), belfry.Main)
		}
	}
	if bad := p.checkTargets(have, parent); bad != nil {
		return bad
	}
	if have != nil {
		return p.update(have, parent, "")
	}
	if bad := p.mayCreate(name); bad != nil {
		return bad
	}
	if bad := p.Check().ElementNameFree(p.b.pt.Name, name); bad != nil {
		return bad
	}
	answers, bad := p.answers(nil)
	if bad != nil {
		return bad
	}
	if parent == nil {
		if bad := p.Check().MayUseMain("view"); bad != nil {
			return bad
		}
		parent = p.Tenant.Main
	}
	details := detailsOf(answers)
	if bad := p.Budget().CheckPlace("name", name); bad != nil {
		return bad
	}
	if bad := p.Budget().ReserveDetails("name", nil, details); bad != nil {
		return bad
	}
	p.Create(belfry.KindElement, name, parent, nil, &meta.Class{}, p.b.pt.Name, details)
	p.report.Created.Elements++
	return nil
}

// checkTargets requires that the items a new link or shortcut names exist. What an element has named before is not looked
// at again: it may have been removed since, and an export must be accepted unchanged.
func (p *provisioning) checkTargets(have, around *meta.Node) *belfry.RowError {
	var before map[string]string
	if have != nil {
		before = p.Details(have).Answers
		around = cmp.Or(around, p.Parent(have))
	}
	for i, q := range p.b.columns {
		v := p.text(i)
		if v == "" || v == before[q.Name] && !p.Limited { // who does not see what it names must not find out by guessing
			continue
		}
		switch q.Name {
		case "target":
			if p.Find().Place(v) == nil {
				return belfry.Rejectf(q.Name, belfry.NotFound, "there is no view of the customer and no resource %q; name an existing one; a view inside a resource is not taken", belfry.Clip(v))
			}
		case "from", "to":
			if bad := p.checkEnd(q.Name, v, around); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// checkEnd requires that the name of an end of a link identifies one item. Of several objects, the one in the resource of the link
// is meant, because the link is drawn there.
func (p *provisioning) checkEnd(column, name string, around *meta.Node) *belfry.RowError {
	if p.Find().Place(name) != nil {
		return nil
	}
	all := p.Find().ObjectsNamed(name)
	switch {
	case len(all) == 0:
		return belfry.Rejectf(column, belfry.NotFound, "there is no view of the customer, resource or object %q; name an existing one", belfry.Clip(name))
	case len(all) == 1 || around != nil && slices.ContainsFunc(all, func(n *meta.Node) bool { return n.Resource == around }):
		return nil
	}
	return belfry.Rejectf(column, belfry.AmbiguousName, "%s, and the link is in none of them; put it into the one you mean", meta.Namesakes(all))
}
