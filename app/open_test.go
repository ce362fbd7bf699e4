package app

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneFileKnowsTheEngine: a second engine costs its package and a few lines in open.go.
func TestOneFileKnowsTheEngine(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	known := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if !strings.Contains(i.Path.Value, "belfry/store/") {
				continue
			}
			known++
			if name != "open.go" {
				t.Errorf("%s imports %s; only open.go knows which engine is used", name, i.Path.Value)
			}
		}
	}
	if known == 0 {
		t.Error("no file imports an engine: the test looks in the wrong place")
	}
}
