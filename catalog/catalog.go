// Package catalog defines the kinds that exist: the collections that can be queried and their fields, the classes of objects
// with their indicators and thresholds, and the package types that can be provisioned with their questions.
//
// Kinds are data. Each is one YAML file in collection/, class/ or package/, embedded in the binary and strictly decoded
// by Load; the reference pages are printed from the same files. To add a kind, add a file.
//
//	collection/*.yaml ─┐
//	class/*.yaml      ─┼─► Load ─► Catalog ─► query, engine, intake, store, api
//	package/*.yaml    ─┘
//
// Everything here is immutable: a Catalog, and every Collection, Class and PackageType in it, may be shared between
// goroutines without a lock. A changed class is another Class, and a Catalog with it another Catalog. Classes and packages
// that users write are read by ParseClass and ParsePackage, follow the same rules as the embedded ones, and are added by
// With.
package catalog

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed collection/*.yaml internal/*.yaml class/*.yaml package/*.yaml
var files embed.FS

// Catalog has the built-in kinds, and those of the instance if it was made by With.
type Catalog struct {
	base        *Catalog // the built-in kinds; nil if this is the built-in catalog
	collections []*Collection
	internal    []*Collection          // not for queries: internal to the program
	byName      map[string]*Collection // lower case, aliases included
	classes     []*Class
	packages    []*PackageType
}

// Load decodes the embedded files. An error means that the binary was built from an invalid file.
func Load() (*Catalog, error) { return load(files) }

func load(fsys fs.FS) (*Catalog, error) {
	c := &Catalog{byName: map[string]*Collection{}}
	var err error
	if c.collections, err = readKind(fsys, "collection", parseCollection, (*Collection).name); err != nil {
		return nil, err
	}
	if c.internal, err = readKind(fsys, "internal", parseCollection, (*Collection).name); err != nil {
		return nil, err
	}
	if c.classes, err = readKind(fsys, "class", ParseClass, (*Class).name); err != nil {
		return nil, err
	}
	if c.packages, err = readKind(fsys, "package", ParsePackage, (*PackageType).name); err != nil {
		return nil, err
	}
	if err := c.link(); err != nil {
		return nil, fmt.Errorf("load catalog: %w", err)
	}
	return c, nil
}

// readKind reads the files of one folder. A file has the name of its kind, so that ls lists the kinds.
func readKind[K any](fsys fs.FS, dir string, parse func([]byte) (*K, error), name func(*K) string) ([]*K, error) {
	names, err := fs.Glob(fsys, dir+"/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("load catalog: %w", err)
	}
	var kinds []*K
	for _, file := range names {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("load catalog: %w", err)
		}
		k, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("load catalog/%s: %w", file, err)
		}
		if want := strings.TrimSuffix(path.Base(file), ".yaml"); name(k) != want {
			return nil, fmt.Errorf("load catalog/%s: it holds %q; the file name and the name inside must agree", file, name(k))
		}
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b *K) int { return cmp.Compare(name(a), name(b)) })
	return kinds, nil
}

// link checks the references between files.
func (c *Catalog) link() error {
	for _, col := range c.collections {
		for _, name := range []string{col.Name, col.Alias} {
			if name == "" {
				continue
			}
			if other := c.byName[name]; other != nil {
				return fmt.Errorf("collections %s and %s share the name %s", other.Name, col.Name, name)
			}
			c.byName[name] = col
		}
	}
	for _, col := range c.internal {
		if c.byName[col.Name] != nil || !col.Historical {
			return fmt.Errorf("internal collection %s must be historical and have a unique name", col.Name)
		}
	}
	for _, pt := range c.packages {
		for _, part := range pt.Parts {
			if c.Class(part.Class) == nil {
				return fmt.Errorf("package %s: part %s is of class %q, which has no file", pt.Name, part.Name, part.Class)
			}
		}
	}
	return nil
}

// Collection returns a collection by its name or alias, in any case; nil if there is none.
func (c *Catalog) Collection(name string) *Collection {
	if col := c.byName[name]; col != nil {
		return col
	}
	return c.byName[strings.ToLower(name)]
}

// Collections lists the collections by name. The caller must not change the slice.
func (c *Catalog) Collections() []*Collection { return c.collections }

// Kept lists the collections whose rows are in a store, including internal ones.
func (c *Catalog) Kept() []*Collection {
	var kept []*Collection
	for _, col := range slices.Concat(c.collections, c.internal) {
		if col.Historical {
			kept = append(kept, col)
		}
	}
	return kept
}

// KeptAs returns one of the collections of Kept by its name; nil if there is none.
func (c *Catalog) KeptAs(name string) *Collection {
	if col := c.byName[name]; col != nil && col.Historical {
		return col
	}
	return find(c.internal, name, (*Collection).name)
}

// Class returns a class of the instance or a built-in one; nil if there is none.
func (c *Catalog) Class(name string) *Class { return find(c.classes, name, (*Class).name) }

// Classes lists the classes by name. The caller must not change the slice.
func (c *Catalog) Classes() []*Class { return c.classes }

// Package returns a package type; nil if there is none.
func (c *Catalog) Package(name string) *PackageType {
	return find(c.packages, name, (*PackageType).name)
}

// Packages lists the package types by name. The caller must not change the slice.
func (c *Catalog) Packages() []*PackageType { return c.packages }

func find[K any](sorted []*K, name string, nameOf func(*K) string) *K {
	i, ok := slices.BinarySearchFunc(sorted, name, func(k *K, name string) int { return cmp.Compare(nameOf(k), name) })
	if !ok {
		return nil
	}
	return sorted[i]
}

func (c *Collection) name() string   { return c.Name }
func (c *Class) name() string        { return c.Name }
func (pt *PackageType) name() string { return pt.Name }
