package engine

import (
	"errors"
	"fmt"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/engine/audit"
	"belfry/meta"
)

// maxClasses is how many classes a customer may define.
const maxClasses = 10_000

// PutClass sets the customer's own definition of a class. It returns when all objects of the class have been evaluated by it.
func (d Definitions) PutClass(who Sender, def *catalog.Class) (result string, l catalog.Listed, err error) {
	var rest string
	err = d.seq.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) (err error) {
		result, l, rest, err = t.putClass(who, def)
		return err
	}})
	if err == nil {
		err = d.seq.reassessAll(who.Customer, []string{rest})
	}
	return result, l, err
}

func (t *Tx) putClass(who Sender, def *catalog.Class) (result string, l catalog.Listed, rest string, err error) {
	next := *def
	next.Inferred = false
	l = catalog.Listed{Class: &next, Source: catalog.FromCustomer}
	cell := t.Tenant.Class(def.Name)
	if cell != nil {
		l.Objects = cell.Objects()
	}
	result = resultCreated
	if c := t.Find().Class(def.Name); c != nil {
		if err := next.Follows(c.Def); err != nil {
			return "", l, "", asParameter(err)
		}
		l.Class = next.After(c.Def)
		result = resultUpdated
		if cell != nil && cell.Own && audit.Same(l.Class, cell.Def) {
			return resultUnchanged, l, "class " + def.Name, nil // an earlier request may have been interrupted
		}
	}
	if t.Tenant.CountClasses() >= maxClasses && (cell == nil || !cell.Own || cell.Def.Inferred) {
		return "", l, "", belfry.Errorf(belfry.BadParameter, "there are %d classes of your own already, as many as are allowed; remove some", maxClasses)
	}
	if err := t.Budget().ReserveDocument(belfry.DocClass, def.Name, l.Class); err != nil {
		return "", l, "", err
	}
	more := meta.Thresholds(l.Class)
	if cell != nil {
		more -= meta.Thresholds(cell.Def)
	}
	if bad := t.roomForItems("", t.Tenant.MarksGrowth(def.Name, more), false); bad != nil {
		return "", l, "", belfry.Errorf(belfry.BadParameter, "the thresholds of class %q are too many for its %d objects: %s", def.Name, l.Objects, bad.Message)
	}
	var was *catalog.Class
	if c := t.Find().Class(def.Name); c != nil {
		was = c.Def
	}
	t.Define(l.Class)
	rest = t.evaluateClass(def.Name)
	t.definitionChanged(belfry.DocClass, def.Name, result, "", orNil(was), l.Class)
	return result, l, rest, nil
}

// asParameter turns an error of the catalog into a bad parameter.
func asParameter(err error) error {
	if e, ok := errors.AsType[*belfry.Error](err); ok {
		return belfry.Errorf(belfry.BadParameter, "%s", e.Message)
	}
	return err
}

var errNoClass = errors.New("no such class")

// DeleteClass removes the customer's own definition of a class.
func (d Definitions) DeleteClass(who Sender, name string, r Repeat) error {
	var rest string
	err := d.seq.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) (err error) {
		if rest, err = t.deleteClass(who, name); err == nil {
			t.Reply(who, r, r.Done)
		}
		return err
	}})
	switch {
	case errors.Is(err, errNoClass):
		return d.seq.cfg.Tree.Documents().Unknown(belfry.Whole(who.Customer), belfry.DocClass, name) // compares many names, so not in the sequencer
	case err != nil:
		return err
	}
	return d.seq.reassessAll(who.Customer, []string{rest})
}

// deleteClass removes a definition that is not needed: no object has the class, or the definition of the catalog fits them.
func (t *Tx) deleteClass(who Sender, name string) (rest string, err error) {
	cell := t.Tenant.Class(name)
	under := t.seq.cfg.Tree.Catalog().Class(name)
	switch {
	case cell == nil || cell.Def == nil || !cell.Own && under == nil:
		return "", errNoClass
	case !cell.Own:
		return "", belfry.Errorf(belfry.UnknownItem, "class %q is not your own, so there is nothing to remove", belfry.Clip(name))
	case cell.Objects() == 0:
	case under == nil:
		return "", belfry.Errorf(belfry.BadParameter, "class %q is the class of %s; remove them first", name, users(t.Tenant, cell))
	default:
		if err := under.Follows(cell.Def); err != nil {
			e := err.(*belfry.Error)
			return "", belfry.Errorf(belfry.BadParameter, "class %q is the class of %s, and the definition below your own does not suit them: %s",
				name, users(t.Tenant, cell), e.Message)
		}
	}
	t.Document(belfry.Doc{Kind: belfry.DocClass, Customer: t.Tenant.ID, Name: name})
	if under != nil {
		t.s.classes[nameKey{t.Tenant.ID, 0, className, name}] = &meta.Class{Name: name, Def: under}
		rest = t.evaluateClass(name)
	}
	t.definitionChanged(belfry.DocClass, name, audit.ActionRemoved, "", cell.Def, nil)
	return rest, nil
}

// users lists some objects of a class.
func users(e *meta.Tenant, c *meta.Class) string {
	const most = 5
	var list []string
	e.ByClass(c.Name, func(n *meta.Node) bool {
		if n.Kind == belfry.KindObject {
			list = append(list, fmt.Sprintf("%q of %q", n.Name, n.Resource.Name))
		}
		return len(list) < most
	})
	if c.Objects() > len(list) {
		list = append(list, "…")
	}
	return fmt.Sprintf("%d objects (%s)", c.Objects(), strings.Join(list, ", "))
}
