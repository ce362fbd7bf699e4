package meta

import (
	"encoding/json"
	"fmt"
	"slices"

	"belfry"
)

// documentKind describes one kind of belfry.Doc. Documents of all kinds come in records and are stored as they are, by kind,
// customer and name, in the table doc.
type documentKind struct {
	name  string
	apply func(*Tree, *belfry.Doc) error // nil: it is not kept in memory, and a start does not load it

	ofCustomer bool  // it belongs to a customer, which must exist
	weight     int64 // what a byte of it counts for in Tree.TextMemory; 0: not in memory, or few and short
}

// documentKinds are all kinds of documents, in the order in which a start loads them. Removals come first, because nothing
// of a removed customer is applied; last uses come after the keys.
var documentKinds = []documentKind{
	{name: belfry.DocRemoval, apply: (*Tree).applyRemoval},
	{name: belfry.DocCustomer, apply: (*Tree).applyCustomer},
	{name: belfry.DocPackage, apply: inDocuments((*Documents).applyPackage)},
	{name: belfry.DocClass, apply: inDocuments((*Documents).applyClass), weight: 4}, // its text takes a multiple in memory
	{name: belfry.DocPolicy, apply: inDocuments((*Documents).applyPolicy), ofCustomer: true, weight: 4},
	{name: belfry.DocPicture, apply: inDocuments(storeDoc[belfry.Picture]), ofCustomer: true, weight: 1},
	{name: belfry.DocImage, ofCustomer: true},
	{name: belfry.DocKey, apply: inAccess((*Access).applyKey), weight: 1},
	{name: belfry.DocKeyUse, apply: inAccess((*Access).applyKeyUse)},
	{name: belfry.DocUser, apply: inAccess((*Access).applyUser), ofCustomer: true, weight: 1},
	{name: belfry.DocSession, apply: inAccess((*Access).applySession)},
	{name: belfry.DocSetting, apply: inDocuments(storeDoc[string])},
	{name: belfry.DocReassess, apply: inDocuments(storeDoc[string]), ofCustomer: true},
}

func inAccess(f func(*Access, *belfry.Doc) error) func(*Tree, *belfry.Doc) error {
	return func(t *Tree, d *belfry.Doc) error { return f(t.access, d) }
}

func inDocuments(f func(*Documents, *belfry.Doc) error) func(*Tree, *belfry.Doc) error {
	return func(t *Tree, d *belfry.Doc) error { return f(t.documents, d) }
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
	if k == nil || t.access.isRemoved(d.Customer) {
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
