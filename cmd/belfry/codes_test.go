package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// unshown are the codes that no script produces, and why. A code that a script has come to show leaves the list.
var unshown = map[string]string{}

// TestCodesAreShown holds every code of error.go to be expected by some script.
func TestCodesAreShown(t *testing.T) {
	shown, left := shownCodes(t), maps.Clone(unshown)
	for _, code := range codes(t) {
		why, excused := unshown[code]
		switch {
		case !shown[code] && !excused:
			t.Errorf("no script expects the code %q", code)
		case shown[code] && excused:
			t.Errorf("a script expects the code %q, which unshown says none does (%s); take it off the list", code, why)
		}
		delete(left, code)
	}
	for code := range left {
		t.Errorf("unshown names the code %q, which error.go does not have", code)
	}
}

// codes lists the constants of type Code.
func codes(t *testing.T) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "error.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := v.Type.(*ast.Ident); ok && name.Name == "Code" {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, code)
		}
		return true
	})
	if len(list) < 40 {
		t.Fatalf("found %d codes only: %v", len(list), list)
	}
	return list
}

var (
	expectation = regexp.MustCompile(`^(\[[^]]*\] *)?(stdout|cmp|grep) `)
	codeInside  = regexp.MustCompile(`"code":"([a-z_]+)"`)
)

// shownCodes are those in expectations: the pattern of a stdout line, or a file that stdout is compared with.
func shownCodes(t *testing.T) map[string]bool {
	t.Helper()
	shown := map[string]bool{}
	for _, path := range scripts(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		script, files, _ := strings.Cut(string(data), "\n-- ")
		var text []string
		for line := range strings.Lines(script) {
			if expectation.MatchString(line) {
				text = append(text, line)
			}
		}
		if strings.Contains(script, "\ncmp stdout ") {
			text = append(text, files)
		}
		for _, m := range codeInside.FindAllStringSubmatch(strings.Join(text, ""), -1) {
			shown[m[1]] = true
		}
	}
	return shown
}
