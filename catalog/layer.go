package catalog

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"belfry"
)

// Source is the origin of a definition.
type Source string

// The sources of classes and packages.
const (
	Builtin      Source = "builtin"  // embedded in the binary
	FromFile     Source = "file"     // of the instance, imported from a file
	FromCustomer Source = "customer" // a customer's own
	FromRows     Source = "inferred" // derived from the rows of a customer
)

// With returns the built-in kinds together with those of the instance. Kinds of an earlier With are not part of the
// result. A class may replace a built-in one that it follows; a package must have its own name, and what it refers to
// must exist.
func (c *Catalog) With(classes []*Class, packages []*PackageType) (*Catalog, error) {
	d, faults := c.Layer(classes, packages)
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return d, nil
}

// Layer is With for kinds that have been accepted before, perhaps by another version of this program: those that are no
// longer valid are omitted and their errors returned; the others are used.
func (c *Catalog) Layer(classes []*Class, packages []*PackageType) (*Catalog, []error) {
	base := c.builtin()
	d := &Catalog{base: base, collections: base.collections, internal: base.internal, byName: base.byName}
	var faults []error
	d.classes, faults = layer(base.classes, classes, (*Class).name, base.CheckClass)
	var more []error
	d.packages, more = layer(base.packages, packages, (*PackageType).name, d.CheckPackage)
	return d, append(faults, more...)
}

// layer adds kinds to others, replacing those of the same name.
func layer[K any](under, over []*K, name func(*K) string, check func(*K) error) (all []*K, faults []error) {
	byName := map[string]*K{}
	for _, k := range under {
		byName[name(k)] = k
	}
	for _, k := range over {
		if err := check(k); err != nil {
			faults = append(faults, err)
			continue
		}
		byName[name(k)] = k
	}
	for _, k := range byName {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *K) int { return strings.Compare(name(a), name(b)) })
	return all, faults
}

func (c *Catalog) builtin() *Catalog {
	if c.base != nil {
		return c.base
	}
	return c
}

// ClassSource returns the origin of the class of that name; "" if there is none.
func (c *Catalog) ClassSource(name string) Source {
	return sourceOf(c.Class(name), c.builtin().Class(name))
}

// PackageSource returns the origin of the package of that name; "" if there is none.
func (c *Catalog) PackageSource(name string) Source {
	return sourceOf(c.Package(name), c.builtin().Package(name))
}

func sourceOf[K any](now, builtin *K) Source {
	switch {
	case now == nil:
		return ""
	case now == builtin:
		return Builtin
	}
	return FromFile
}

// CheckClass returns an error unless a class can be one of the instance: it must follow the one that it would replace.
func (c *Catalog) CheckClass(cl *Class) error {
	if was := c.Class(cl.Name); was != nil {
		return cl.Follows(was)
	}
	return nil
}

// CheckPackage returns an error unless a package can be one of the instance, beside the existing kinds.
func (c *Catalog) CheckPackage(pt *PackageType) error {
	if path, fault := c.packageFault(pt); fault != "" {
		return belfry.Errorf(belfry.BadValue, "package %q: %s %s", pt.Name, path, fault)
	}
	return nil
}

// packageFault returns what is wrong with a package's references to other kinds, and the path of it.
func (c *Catalog) packageFault(pt *PackageType) (path, fault string) {
	if c.builtin().Package(pt.Name) != nil {
		return "name", "is " + strconv.Quote(pt.Name) + ", which is a built-in package; choose another name"
	}
	if pt.Kind != ResourcePackage {
		return "kind", "is " + string(pt.Kind) + "; a package of your own makes resources, so write resource"
	}
	for i, part := range pt.Parts {
		if c.Class(part.Class) != nil {
			continue
		}
		fault := "is " + strconv.Quote(part.Class) + ", and there is no such class"
		if near := Nearest(part.Class, names(c.classes, (*Class).name)); near != "" {
			fault += " (nearest is " + strconv.Quote(near) + ")"
		}
		return "parts[" + strconv.Itoa(i) + "].class", fault + "; define it in a file in classes"
	}
	return c.collectorFault(pt)
}

// collectorFault checks the collector of a package. A collector reads the answers to the questions of the built-in
// package that runs it, so any other package that runs it must ask the required ones.
func (c *Catalog) collectorFault(pt *PackageType) (path, fault string) {
	if pt.Collector == "" {
		return "", ""
	}
	var model *PackageType
	var known []string
	for _, b := range c.builtin().packages {
		if b.Collector != "" {
			known = append(known, b.Collector)
		}
		if b.Collector == pt.Collector {
			model = b
		}
	}
	if model == nil {
		return "collector", "is " + strconv.Quote(pt.Collector) + ", which does not exist; known are " + strings.Join(known, ", ")
	}
	for i := range model.Questions {
		want := &model.Questions[i]
		if have := pt.Question(want.Name); want.Required && (have == nil || have.Type != want.Type) {
			return "collector", "is " + pt.Collector + ", which needs the answer " + want.Name + "; ask for it, with the type " + string(want.Type)
		}
	}
	return "", ""
}

// ReadPackage reads a package of the instance and checks it against the existing kinds. Unlike CheckPackage, its errors
// have the line.
func (c *Catalog) ReadPackage(data []byte) (*PackageType, error) {
	pt, err := ParsePackage(data)
	if err != nil {
		return nil, err
	}
	if path, fault := c.packageFault(pt); fault != "" {
		return nil, (&source{"package", data}).errorAt(path, "%s", fault)
	}
	return pt, nil
}

// ReadClass reads a class of the instance and checks it against the one that it would replace.
func (c *Catalog) ReadClass(data []byte) (*Class, error) {
	cl, err := ParseClass(data)
	if err != nil {
		return nil, err
	}
	s := &source{"class", data}
	if cl.Inferred {
		return nil, s.errorAt("inferred", "is true; a class that someone wrote is not inferred, so leave it out")
	}
	if err := c.CheckClass(cl); err != nil {
		return nil, s.errorAt("name", "is %q: %s", cl.Name, message(err))
	}
	return cl, nil
}

func names[K any](kinds []*K, name func(*K) string) []string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = name(k)
	}
	return list
}
