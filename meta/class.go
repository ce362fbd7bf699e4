package meta

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
)

// instanceCatalog holds the classes and packages of the instance, which override the built-in ones.
type instanceCatalog struct {
	classes  map[string]*catalog.Class
	packages map[string]*catalog.PackageType
	stale    bool // the catalog does not have them as they are now
	faults   []error
}

// Catalog returns the present classes, packages and collections. A catalog never changes: a change makes another one, so a
// caller that needs a consistent view keeps one.
func (t *Tree) Catalog() *catalog.Catalog { return t.catalog.Load() }

// Faults returns why classes and packages of the instance cannot be used by this version of the program.
func (t *Tree) Faults() []error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.instance.faults
}

func (t *Tree) applyInstanceClass(d *belfry.Doc) error {
	t.instance.stale = true
	if d.Body == nil {
		delete(t.instance.classes, d.Name)
		return nil
	}
	def, err := catalog.ParseClass(d.Body)
	if err != nil {
		return fmt.Errorf("class %q of the instance: %w", d.Name, err)
	}
	t.instance.classes[d.Name] = def
	return nil
}

func (t *Tree) applyPackage(d *belfry.Doc) error {
	t.instance.stale = true
	if d.Body == nil {
		delete(t.instance.packages, d.Name)
		return nil
	}
	pt, err := catalog.ParsePackage(d.Body)
	if err != nil {
		return fmt.Errorf("package %q of the instance: %w", d.Name, err)
	}
	t.instance.packages[d.Name] = pt
	return nil
}

// renew rebuilds the catalog after a change of the instance's classes and packages, and updates the classes that customers
// have not defined themselves.
func (t *Tree) renew() {
	if !t.instance.stale {
		return
	}
	t.instance.stale = false
	next, faults := t.Catalog().Layer(t.instanceKinds())
	t.instance.faults = faults
	t.catalog.Store(next)
	for _, e := range t.customers {
		for name, cl := range e.classes {
			if !cl.Own {
				cl.Def = next.Class(name)
				t.recount(e, cl)
			}
		}
	}
}

// instanceKinds lists the classes and packages of the instance by name.
func (t *Tree) instanceKinds() ([]*catalog.Class, []*catalog.PackageType) {
	return sorted(t.instance.classes), sorted(t.instance.packages)
}

func sorted[V any](m map[string]*V) (list []*V) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[name])
	}
	return list
}

// applyClass sets or removes the definition of a class: that of the instance, or a customer's own, which goes before it.
func (t *Tree) applyClass(d *belfry.Doc) error {
	if d.Customer == 0 {
		return t.applyInstanceClass(d)
	}
	e := t.customers[d.Customer]
	if e == nil {
		return fmt.Errorf("class %q belongs to customer %d, which does not exist", d.Name, d.Customer)
	}
	cl := e.class(t.Catalog(), d.Name)
	next, own := t.Catalog().Class(d.Name), false
	if d.Body != nil {
		var err error
		if next, own = d.Value.(*catalog.Class); !own {
			if next, err = catalog.ParseClass(d.Body); err != nil {
				return fmt.Errorf("class %q of customer %d: %w", d.Name, d.Customer, err)
			}
		}
		own = true
	}
	if cl.defined() {
		e.defined--
	}
	cl.Def, cl.Own = next, own
	t.recount(e, cl)
	if cl.defined() {
		e.defined++
	}
	return nil
}

// defined reports whether the customer wrote the definition itself.
func (c *Class) defined() bool { return c.Own && !c.Def.Inferred }

// Classes lists the object classes of a customer and of the catalog by name, starting after the given one.
func (t *Tree) Classes(c belfry.CustomerID, after string, limit int) (list []catalog.Listed, more bool) {
	t.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		cat := t.Catalog()
		for name, cl := range e.classes {
			if l := cl.listed(cat); l.Class != nil && name > after {
				list = append(list, l)
			}
		}
		for _, def := range cat.Classes() {
			if e.classes[def.Name] == nil && def.Name > after {
				list = append(list, catalog.Listed{Class: def, Source: cat.ClassSource(def.Name)})
			}
		}
	})
	slices.SortFunc(list, func(a, b catalog.Listed) int { return strings.Compare(a.Name, b.Name) })
	if len(list) > limit {
		return list[:limit], true
	}
	return list, false
}

// ClassNamed finds an object class of a customer or of the catalog.
func (t *Tree) ClassNamed(c belfry.CustomerID, name string) (l catalog.Listed, ok bool) {
	t.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		cat := t.Catalog()
		if cl := e.classes[name]; cl != nil {
			l = cl.listed(cat)
		} else {
			l = catalog.Listed{Class: cat.Class(name), Source: cat.ClassSource(name)}
		}
	})
	return l, l.Class != nil
}

// listed describes a class; its definition is nil for a view class.
func (c *Class) listed(cat *catalog.Catalog) catalog.Listed {
	l := catalog.Listed{Class: c.Def, Objects: c.count}
	switch {
	case c.Def == nil:
	case !c.Own:
		l.Source = cat.ClassSource(c.Name)
	case c.Def.Inferred:
		l.Source = catalog.FromRows
	default:
		l.Source = catalog.FromCustomer
	}
	return l
}
