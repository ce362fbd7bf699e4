package belfry_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages from the bottom up. A package imports from the lines above it in this list, never from its
// own line or from one below.
var layers = []string{
	"belfry",
	"belfry/catalog",
	"belfry/query",
	"belfry/meta/sqlite",
	"belfry/journal belfry/store belfry/meta belfry/query/querytest belfry/intake/rowfmt belfry/status/calendar",
	"belfry/status belfry/engine/audit belfry/engine/itemlist belfry/engine/picture",
	"belfry/engine/history belfry/status/explain",
	"belfry/engine belfry/web",
	"belfry/accounts belfry/intake belfry/engine/enginetest",
	"belfry/store/duck/dialect",
	"belfry/store/duck/duckdb belfry/store/duck/folder belfry/store/duck/slots",
	"belfry/store/duck/index belfry/store/duck/summary belfry/store/duck/rowwriter",
	"belfry/store/duck/names belfry/store/duck/damage",
	"belfry/store/duck/copying belfry/store/duck/rowfile",
	"belfry/store/duck/verification belfry/store/duck/clustering",
	"belfry/collect/filter belfry/collect/mib belfry/collect/ping belfry/collect/syslog",
	"belfry/collect/script belfry/collect/snmp",
	"belfry/client belfry/collect belfry/demo belfry/store/duck belfry/store/storetest",
	"belfry/api/browser belfry/api/encode belfry/api/input belfry/api/limit",
	"belfry/api/body belfry/api/live belfry/api/meter belfry/api/tree",
	"belfry/config",
	"belfry/folder",
	"belfry/backup",
	"belfry/api",
	"belfry/listen",
	"belfry/app",
	"belfry/cmd/belfry",
	"belfry/crash belfry/docs", // they run the program, and are part of nothing
}

func TestLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-e", "-f", `{{.Dir}}{{"\t"}}{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		dir, rest, _ := strings.Cut(line, "\t")
		// Looked at by this process, the folder counts for the test cache: a changed file runs the test again.
		if _, err := os.ReadDir(dir); err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(rest)
		for _, fault := range layerFaults(words[0], words[1:]) {
			t.Error(fault)
		}
	}
}

// layerFaults says what is wrong with the imports of a package.
func layerFaults(pkg string, imports []string) (faults []string) {
	layer := layerOf(pkg)
	if layer < 0 {
		return []string{fmt.Sprintf("package %s has no layer; decide where it belongs and add it to the list in layers_test.go", pkg)}
	}
	for _, path := range imports {
		switch below := layerOf(path); {
		case below < 0:
			if first, _, _ := strings.Cut(path, "/"); pkg == "belfry" && strings.Contains(first, ".") {
				faults = append(faults, fmt.Sprintf("package belfry imports %s; it uses the standard library alone", path))
			}
		case pkg == "belfry/web":
			faults = append(faults, fmt.Sprintf("package %s imports %s; it only serves files and needs no package of ours", pkg, path))
		case path == "belfry/web" && pkg != "belfry/api" && pkg != "belfry/app":
			faults = append(faults, fmt.Sprintf("package %s imports %s, which is for belfry/api, and belfry/app, which hands it over", pkg, path))
		case strings.HasSuffix(path, "test") && !strings.HasSuffix(pkg, "test"):
			faults = append(faults, fmt.Sprintf("package %s imports %s, which is for tests alone", pkg, path))
		case below == layer:
			faults = append(faults, fmt.Sprintf("package %s imports %s, which is on the same layer (%s); "+
				"take what is needed as an argument, or move it down", pkg, path, layers[layer]))
		case below > layer:
			faults = append(faults, fmt.Sprintf("package %s imports %s, which is above it; imports point down only: "+
				"declare a small interface in %s and let belfry/app fill it", pkg, path, pkg))
		}
	}
	return faults
}

// layerOf is the place of a package in the list, -1 for those of others.
func layerOf(pkg string) int {
	return slices.IndexFunc(layers, func(layer string) bool { return slices.Contains(strings.Fields(layer), pkg) })
}

func TestLayerFaults(t *testing.T) {
	f := func(want, pkg string, imports ...string) {
		t.Helper()
		got := strings.Join(layerFaults(pkg, imports), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s importing %v: got %q, want %q", pkg, imports, got, want)
		}
	}
	f("", "belfry/engine", "belfry", "belfry/status", "belfry/journal", "fmt", "github.com/google/go-cmp/cmp")
	f("", "belfry/api", "belfry/web", "belfry/engine", "belfry/intake")
	f("above it", "belfry/status", "belfry/engine")
	f("above it", "belfry/engine", "belfry/intake")
	f("for tests alone", "belfry/intake", "belfry/engine/enginetest")
	f("above it", "belfry/collect/script", "belfry/collect")
	f("above it", "belfry/catalog", "belfry/query")
	f("same layer", "belfry/journal", "belfry/meta")
	f("same layer", "belfry/store/duck", "belfry/collect")
	f("for tests alone", "belfry/app", "belfry/store/storetest")
	f("", "belfry/store/storetest", "belfry/query/querytest")
	f("standard library", "belfry", "github.com/google/go-cmp/cmp")
	f("", "belfry/app", "belfry/web")
	f("for belfry/api", "belfry/collect", "belfry/web")
	f("no package of ours", "belfry/web", "belfry")
	f("has no layer", "belfry/util")
}
