package engine

import (
	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// Finder finds items and classes as of the round: with what earlier commands of the round have created, changed and removed,
// and only what the command may see.
type Finder struct{ t *Tx }

// Find returns the look-ups of the transaction.
func (t *Tx) Find() Finder { return Finder{t} }

// Place finds a view or resource at customer level.
func (f Finder) Place(name string) *meta.Node { return f.t.only(f.t.anyPlace(name)) }

// anyPlace is Place without regard to the scope.
func (t *Tx) anyPlace(name string) *meta.Node {
	if n, ok := t.s.items[nameKey{t.Tenant.ID, 0, placeName, name}]; ok {
		return n
	}
	return t.Tenant.Place(name)
}

// Element finds a graphical element.
func (f Finder) Element(pkg, name string) *meta.Node { return f.t.only(f.t.anyElement(pkg, name)) }

func (t *Tx) anyElement(pkg, name string) *meta.Node {
	if n, ok := t.s.items[elementAt(t.Tenant.ID, pkg, name)]; ok {
		return n
	}
	return t.Tenant.Element(pkg, name)
}

// Resource finds a resource.
func (f Finder) Resource(name string) *meta.Node {
	if n := f.Place(name); n != nil && n.Kind == belfry.KindResource {
		return n
	}
	return nil
}

// View finds a view in a resource. The resource itself is one, under its own name.
func (f Finder) View(resource *meta.Node, name string) *meta.Node {
	if n, ok := f.t.s.items[nameKey{f.t.Tenant.ID, resource.ID, viewName, name}]; ok {
		return n
	}
	return resource.View(name)
}

// Object finds an object in a resource.
func (f Finder) Object(resource *meta.Node, name string) *meta.Node {
	if n, ok := f.t.s.items[nameKey{f.t.Tenant.ID, resource.ID, objectName, name}]; ok {
		return n
	}
	return resource.Object(name)
}

// ObjectsNamed lists the objects of that name in all resources.
func (f Finder) ObjectsNamed(name string) (list []*meta.Node) {
	add := func(n *meta.Node) {
		if !f.t.s.gone[n.ID] && f.t.Sees(n) {
			list = append(list, n)
		}
	}
	for n := range f.t.Tenant.ObjectsNamed(name) {
		add(n)
	}
	for _, n := range f.t.s.namedObjects(f.t.Tenant.ID, name) {
		add(n)
	}
	return list
}

// ViewsNamed lists the views of that name in all resources.
func (f Finder) ViewsNamed(name string) (list []*meta.Node) {
	for n := range f.t.Tenant.ViewsNamed(name) {
		if !f.t.s.gone[n.ID] && f.t.Sees(n) {
			list = append(list, n)
		}
	}
	return list
}

// Class finds a class with its definition; nil if it has none.
func (f Finder) Class(name string) *meta.Class {
	if c := f.t.s.classes[nameKey{f.t.Tenant.ID, 0, className, name}]; c != nil {
		return c
	}
	if c := f.t.Tenant.Class(name); c != nil && c.Def != nil {
		return c
	}
	if def := f.t.seq.cfg.Tree.Catalog().Class(name); def != nil {
		return &meta.Class{Name: name, Def: def}
	}
	return nil
}

// Definition returns the definition of the class of an object.
func (f Finder) Definition(n *meta.Node) *catalog.Class {
	if c := f.t.s.classes[nameKey{f.t.Tenant.ID, 0, className, n.Class.Name}]; c != nil {
		return c.Def
	}
	if n.Class.Def == nil { // the record that defined it was lost to damage
		return catalog.InferClass(n.Class.Name)
	}
	return n.Class.Def
}

// GenericView is the class of views that were created without one.
const GenericView = "generic"

// ViewClass returns a view class. View classes have no definition; any name will do.
func (f Finder) ViewClass(name string) *meta.Class {
	if c := f.t.Tenant.Class(name); c != nil {
		return c
	}
	return &meta.Class{Name: name}
}

// ParentName returns the name of the view an item is in, or MAIN if the command may not see that view.
func (f Finder) ParentName(n *meta.Node) string {
	if f.t.root(n) {
		return belfry.Main
	}
	return f.t.Parent(n).Name
}
