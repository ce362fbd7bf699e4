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

// Faults returns why classes and packages of the instance cannot be used by this version of the program.
func (ds *Documents) Faults() []error {
	ds.tree.mu.RLock()
	defer ds.tree.mu.RUnlock()
	return ds.instance.faults
}

func (ds *Documents) applyInstanceClass(d *belfry.Doc) error {
	ds.instance.stale = true
	if d.Body == nil {
		delete(ds.instance.classes, d.Name)
		return nil
	}
	def, err := catalog.ParseClass(d.Body)
	if err != nil {
		return fmt.Errorf("class %q of the instance: %w", d.Name, err)
	}
	ds.instance.classes[d.Name] = def
	return nil
}

func (ds *Documents) applyPackage(d *belfry.Doc) error {
	ds.instance.stale = true
	if d.Body == nil {
		delete(ds.instance.packages, d.Name)
		return nil
	}
	pt, err := catalog.ParsePackage(d.Body)
	if err != nil {
		return fmt.Errorf("package %q of the instance: %w", d.Name, err)
	}
	ds.instance.packages[d.Name] = pt
	return nil
}

// rebuildCatalog rebuilds the catalog after a change of the instance's classes and packages, and updates the classes that
// customers have not defined themselves.
func (ds *Documents) rebuildCatalog() {
	if !ds.instance.stale {
		return
	}
	ds.instance.stale = false
	next, faults := ds.tree.Catalog().Layer(ds.instanceKinds())
	ds.instance.faults = faults
	ds.tree.catalog.Store(next)
	for _, e := range ds.tree.customers {
		for name, cl := range e.classes {
			if !cl.Own {
				cl.Def = next.Class(name)
				ds.tree.recountThresholds(e, cl)
			}
		}
	}
}

// instanceKinds lists the classes and packages of the instance by name.
func (ds *Documents) instanceKinds() ([]*catalog.Class, []*catalog.PackageType) {
	return sorted(ds.instance.classes), sorted(ds.instance.packages)
}

func sorted[V any](m map[string]*V) (list []*V) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[name])
	}
	return list
}

// applyClass sets or removes the definition of a class: that of the instance, or a customer's own, which goes before it.
func (ds *Documents) applyClass(d *belfry.Doc) error {
	if d.Customer == 0 {
		return ds.applyInstanceClass(d)
	}
	e := ds.tree.customers[d.Customer]
	if e == nil {
		return fmt.Errorf("class %q belongs to customer %d, which does not exist", d.Name, d.Customer)
	}
	cl := e.class(ds.tree.Catalog(), d.Name)
	next, own := ds.tree.Catalog().Class(d.Name), false
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
	ds.tree.recountThresholds(e, cl)
	if cl.defined() {
		e.defined++
	}
	return nil
}

// defined reports whether the customer wrote the definition itself.
func (c *Class) defined() bool { return c.Own && !c.Def.Inferred }

// Classes lists the object classes of a customer and of the catalog by name, starting after the given one.
func (ds *Documents) Classes(c belfry.CustomerID, after string, limit int) (list []catalog.Listed, more bool) {
	ds.tree.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		cat := ds.tree.Catalog()
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
func (ds *Documents) ClassNamed(c belfry.CustomerID, name string) (l catalog.Listed, ok bool) {
	ds.tree.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		cat := ds.tree.Catalog()
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
