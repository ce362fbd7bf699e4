package meta

import (
	"slices"
	"testing"

	"belfry"
)

// TestKinds: what must be applied first is loaded first, and the bytes of pictures are not loaded at all.
func TestKinds(t *testing.T) {
	names := loadedKinds()
	before := func(first, second string) {
		t.Helper()
		if i, j := slices.Index(names, first), slices.Index(names, second); i < 0 || j <= i {
			t.Errorf("%s is loaded as %d, %s as %d", first, i, second, j)
		}
	}
	for _, name := range names[1:] {
		before(belfry.DocRemoval, name)
	}
	for _, name := range names[2:] {
		before(belfry.DocCustomer, name)
	}
	before(belfry.DocKey, belfry.DocKeyUse)
	if slices.Contains(names, belfry.DocImage) {
		t.Error("the bytes of pictures are loaded")
	}
}

// TestApplyDoc: a document of a customer that does not exist is an error, one of an unknown kind is not.
func TestApplyDoc(t *testing.T) {
	tree := NewTree(loadCatalog(t))
	f := func(kind string, want bool) {
		t.Helper()
		if err := tree.Apply(&belfry.Record{Docs: []belfry.Doc{{Kind: kind, Customer: 7, Name: "n", Body: []byte(`{}`)}}}); (err == nil) != want {
			t.Errorf("%s: %v", kind, err)
		}
	}
	f(belfry.DocUser, false)
	f(belfry.DocImage, false)
	f(belfry.DocClass, false)
	f("later", true)
}
