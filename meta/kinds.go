package meta

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"belfry"
	"belfry/catalog"
)

// documentKind describes one kind of belfry.Doc. Documents of all kinds come in records and are stored as they are, by kind,
// customer and name, in the table doc.
type documentKind struct {
	name  string
	apply func(*Tree, *belfry.Doc) error // nil: the tree does not have it, and a start does not load it

	ofCustomer bool  // it belongs to a customer, which must exist
	weight     int64 // what a byte of it counts for in Tree.Texts; 0: not in memory, or few and short
}

// documentKinds are all kinds of documents, in the order in which a start loads them. Removals come first, because nothing
// of a removed customer is applied; last uses come after the keys.
var documentKinds = []documentKind{
	{name: belfry.DocRemoval, apply: (*Tree).applyRemoval},
	{name: belfry.DocCustomer, apply: (*Tree).applyCustomer},
	{name: belfry.DocPackage, apply: (*Tree).applyPackage},
	{name: belfry.DocClass, apply: (*Tree).applyClass, weight: 4}, // its text takes a multiple in memory
	{name: belfry.DocPolicy, apply: (*Tree).applyPolicy, ofCustomer: true, weight: 4},
	{name: belfry.DocPicture, apply: keep[belfry.Picture], ofCustomer: true, weight: 1},
	{name: belfry.DocImage, ofCustomer: true},
	{name: belfry.DocKey, apply: (*Tree).applyKey, weight: 1},
	{name: belfry.DocKeyUse, apply: (*Tree).applyKeyUse},
	{name: belfry.DocUser, apply: keep[belfry.User], ofCustomer: true, weight: 1},
	{name: belfry.DocSession, apply: (*Tree).applySession},
	{name: belfry.DocSetting, apply: keep[string]},
	{name: belfry.DocReassess, apply: keep[string], ofCustomer: true},
}

// kindNamed finds the description of a kind; nil for a kind this program does not know.
func kindNamed(name string) *documentKind {
	i := slices.IndexFunc(documentKinds, func(k documentKind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &documentKinds[i]
}

// loadedKinds names the kinds that a start loads, in their order.
func loadedKinds() (names []string) {
	for _, k := range documentKinds {
		if k.apply != nil {
			names = append(names, k.name)
		}
	}
	return names
}

// applyDoc applies a document to the tree. Unknown kinds are ignored.
func (t *Tree) applyDoc(d *belfry.Doc) error {
	k := kindNamed(d.Kind)
	if k == nil || t.isRemoved(d.Customer) {
		return nil
	}
	t.countDoc(d)
	if k.ofCustomer && t.customers[d.Customer] == nil {
		return fmt.Errorf("%s %q belongs to customer %d, which does not exist", d.Kind, d.Name, d.Customer)
	}
	if k.apply == nil {
		return nil
	}
	return k.apply(t, d)
}

func decodeDoc(d *belfry.Doc, v any) error {
	if err := json.Unmarshal(d.Body, v); err != nil {
		return fmt.Errorf("%s %q of customer %d: %w", d.Kind, d.Name, d.Customer, err)
	}
	return nil
}

// documents are the decoded documents of a customer, or of the instance, by kind and name.
type documents map[string]map[string]any

// documents returns those of a customer, or with 0 of the instance, for changing them.
func (t *Tree) documents(c belfry.CustomerID) documents {
	if t.docs[c] == nil {
		t.docs[c] = documents{}
	}
	return t.docs[c]
}

// keep applies a document that is only decoded and kept under its name. Each change makes another value, because readers may
// hold the old one.
func keep[T any](t *Tree, d *belfry.Doc) error {
	docs := t.documents(d.Customer)
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

// kept returns a document that keep has stored; nil if there is none.
func kept[T any](docs documents, kind, name string) *T {
	v, _ := docs[kind][name].(*T)
	return v
}

// allKept returns the documents of a kind in the order of their names.
func allKept[T any](docs documents, kind string) []*T {
	list := make([]*T, 0, len(docs[kind]))
	for _, name := range docs.names(kind) {
		list = append(list, kept[T](docs, kind, name))
	}
	return list
}

// names returns the names of the documents of a kind, sorted.
func (docs documents) names(kind string) []string { return slices.Sorted(maps.Keys(docs[kind])) }

// Unknown is the error for a class, policy or picture, named by its kind of document, that a scope does not have. It compares
// many names, so it should not be called where others wait.
func (t *Tree) Unknown(s belfry.Scope, kind, name string) error {
	var names []string
	path := "/api/policies"
	switch kind {
	case belfry.DocClass:
		path = "/api/classes"
		list, _ := t.Classes(s.Customer, "", mostClassesCompared)
		for _, l := range list {
			names = append(names, l.Name)
		}
	case belfry.DocPicture:
		path = "/api/pictures"
		if !s.Limited() {
			t.mu.RLock()
			names = t.docs[s.Customer].names(belfry.DocPicture)
			t.mu.RUnlock()
		}
	case belfry.DocPolicy:
		t.Read(s.Customer, func(e *Tenant) {
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
