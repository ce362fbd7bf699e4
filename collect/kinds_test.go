package collect

import (
	"slices"
	"testing"

	"belfry/catalog"
)

// Every collector that a package names is in the table, and every kind in the table has a package of the same name.
func TestKindsOfCatalog(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, pt := range cat.Packages() {
		if pt.Collector != "" {
			named = append(named, pt.Collector)
		}
	}
	for _, name := range named {
		k, ok := Kinds[name]
		if !ok {
			t.Errorf("a package names the collector %s, which does not exist", name)
		}
		if (k.New == nil) != k.pings {
			t.Errorf("%s: needs a constructor or the pinger, and not both", name)
		}
		if k.Check == nil && k.inspect == nil {
			t.Errorf("%s: answers are not checked", name)
		}
		if receives := cat.Package(name).Question("listen") != nil; receives != (k.try != nil) {
			t.Errorf("%s: filter and script of receivers, and of no other kind, can be tried", name)
		}
	}
	for name := range Kinds {
		if !slices.Contains(named, name) || cat.Package(name) == nil {
			t.Errorf("%s has no package", name)
		}
	}
}
