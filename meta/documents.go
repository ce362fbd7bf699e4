package meta

import (
	"maps"
	"slices"

	"belfry"
	"belfry/catalog"
)

// Documents holds what customers and the instance have defined beside items: classes, package types, policies, pictures and
// settings. The tree's lock guards it, because a record changes items together with what is defined for them.
type Documents struct {
	tree     *Tree
	of       map[belfry.CustomerID]docSet // of customer 0: of the instance
	instance instanceCatalog
	policies int // of all customers
}

func newDocuments(t *Tree) *Documents {
	return &Documents{
		tree: t, of: map[belfry.CustomerID]docSet{},
		instance: instanceCatalog{classes: map[string]*catalog.Class{}, packages: map[string]*catalog.PackageType{}},
	}
}

// removeCustomer deletes the documents of a customer.
func (ds *Documents) removeCustomer(e *Tenant) {
	delete(ds.of, e.ID)
	ds.policies -= len(e.policy.named)
}

// docSet holds the decoded documents of a customer, or of the instance, by kind and name.
type docSet map[string]map[string]any

// docs returns the documents of a customer, or with 0 of the instance, for changing them.
func (ds *Documents) docs(c belfry.CustomerID) docSet {
	if ds.of[c] == nil {
		ds.of[c] = docSet{}
	}
	return ds.of[c]
}

// storeDoc decodes a document and stores it under its name. Each change makes another value, because readers may hold the
// old one.
func storeDoc[T any](ds *Documents, d *belfry.Doc) error {
	docs := ds.docs(d.Customer)
	if d.Body == nil {
		delete(docs[d.Kind], d.Name)
		return nil
	}
	v := new(T)
	if err := decodeDoc(d, v); err != nil {
		return err
	}
	if docs[d.Kind] == nil {
		docs[d.Kind] = map[string]any{}
	}
	docs[d.Kind][d.Name] = v
	return nil
}

// storedDoc returns a document that storeDoc has stored, or nil.
func storedDoc[T any](docs docSet, kind, name string) *T {
	v, _ := docs[kind][name].(*T)
	return v
}

// storedDocs returns the documents of a kind, sorted by name.
func storedDocs[T any](docs docSet, kind string) []*T {
	list := make([]*T, 0, len(docs[kind]))
	for _, name := range docs.names(kind) {
		list = append(list, storedDoc[T](docs, kind, name))
	}
	return list
}

// names returns the names of the documents of a kind, sorted.
func (docs docSet) names(kind string) []string { return slices.Sorted(maps.Keys(docs[kind])) }

// Settings returns the settings of a customer, or of the instance if c is 0, by name.
func (ds *Documents) Settings(c belfry.CustomerID) map[string]string {
	ds.tree.mu.RLock()
	defer ds.tree.mu.RUnlock()
	docs := ds.of[c]
	texts := map[string]string{}
	for name := range docs[belfry.DocSetting] {
		texts[name] = *storedDoc[string](docs, belfry.DocSetting, name)
	}
	return texts
}

// CustomerSetting returns one setting of every customer that has it.
func (ds *Documents) CustomerSetting(name string) map[belfry.CustomerID]string {
	ds.tree.mu.RLock()
	defer ds.tree.mu.RUnlock()
	list := map[belfry.CustomerID]string{}
	for c, docs := range ds.of {
		if text := storedDoc[string](docs, belfry.DocSetting, name); text != nil && c != 0 {
			list[c] = *text
		}
	}
	return list
}

// Reassessments returns the names of a customer's reassessments that are not finished.
func (ds *Documents) Reassessments(c belfry.CustomerID) (names []string) {
	ds.tree.Read(c, func(e *Tenant) {
		if e != nil {
			names = e.docs.names(belfry.DocReassess)
		}
	})
	return names
}

// Unknown is the error for a class, policy or picture (kind is its kind of document) that a scope does not have. It compares
// many names, so do not call it while holding up others.
func (ds *Documents) Unknown(s belfry.Scope, kind, name string) error {
	var names []string
	path := "/api/policies"
	switch kind {
	case belfry.DocClass:
		path = "/api/classes"
		list, _ := ds.Classes(s.Customer, "", mostClassesCompared)
		for _, l := range list {
			names = append(names, l.Name)
		}
	case belfry.DocPicture:
		path = "/api/pictures"
		if !s.Limited() {
			ds.tree.mu.RLock()
			names = ds.of[s.Customer].names(belfry.DocPicture)
			ds.tree.mu.RUnlock()
		}
	case belfry.DocPolicy:
		ds.tree.Read(s.Customer, func(e *Tenant) {
			if e != nil {
				names = slices.Sorted(maps.Keys(e.policy.named))
			}
		})
	}
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100]) + "…"
	}
	if near := catalog.Nearest(name, names); near != "" {
		return belfry.Errorf(belfry.UnknownItem, "there is no %s %q; nearest is %q", kind, name, near)
	}
	return belfry.Errorf(belfry.UnknownItem, "there is no %s %q; see %s for those there are", kind, name, path)
}

// mostClassesCompared limits with how many classes a wrong name is compared.
const mostClassesCompared = 10_000
