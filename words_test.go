package belfry_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// privateWords are words this code once used for things that have a name in the field. They must not come back in names
// of Go identifiers or files. The value is the word to use.
var privateWords = map[string]string{
	"agenda": "queue", "anew": "again", "apart": "unique", "beat": "interval", "bequeath": "hand off", "booked": "cached",
	"care": "operator state", "cover": "apply a mode", "covering": "mode change", "crowd": "connection limiter",
	"cutter": "splitter", "desk": "binding", "doubt": "invalidate", "errand": "upload", "estate": "tenant",
	"filler": "builder", "foremost": "top groups", "guest": "waiter", "hall": "limiter", "heard": "last seen",
	"hush": "mute", "labelled": "with names", "lane": "thread", "linger": "delay", "patience": "retry policy",
	"party": "queue", "placed": "connection", "regime": "policy scope", "rejudge": "reevaluate", "resettle": "reevaluate",
	"sieve": "pipeline", "spoil": "invalidate", "standing": "state", "stirred": "changed", "summed": "rollup",
	"sweep": "scan", "tally": "count", "told": "alarmed", "twin": "namesake",
}

// privateVerbs say too little as the whole name of a function or method.
var privateVerbs = map[string]bool{"take": true, "tell": true, "give": true, "say": true, "look": true, "ask": true, "hand": true}

// TestWords keeps private words out of identifiers and file names of the program.
func TestWords(t *testing.T) {
	each(t, ".go", func(path string, text []byte) {
		for _, w := range wordsOf(strings.TrimSuffix(filepath.Base(path), ".go")) {
			if better, ok := privateWords[w]; ok {
				t.Errorf("%s: the file's name says %q; say %q", path, w, better)
			}
		}
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, id := range declared(n) {
				for _, w := range wordsOf(id.Name) {
					if better, ok := privateWords[w]; ok {
						t.Errorf("%s: the name %s says %q; say %q", set.Position(id.Pos()), id.Name, w, better)
					}
				}
			}
			if f, ok := n.(*ast.FuncDecl); ok && privateVerbs[strings.ToLower(f.Name.Name)] {
				t.Errorf("%s: %s says too little; name what the function does", set.Position(f.Pos()), f.Name.Name)
			}
			return true
		})
	})
}

// TestPlainText keeps private phrases out of documents, comments and messages.
func TestPlainText(t *testing.T) {
	private := regexp.MustCompile(`(?i)\b(anew|estates?|regimes?|sieves?|bequeath(s|ed)?|lets? go of|has its say|gives way|sees to it|happen to (an|the|its) (item|object)s?)\b`)
	for _, ext := range []string{".md", ".go", ".ts", ".tsx", ".yaml"} {
		each(t, ext, func(path string, text []byte) {
			if path == "words_test.go" {
				return
			}
			for n, line := range strings.Split(string(text), "\n") {
				if found := private.FindString(line); found != "" {
					t.Errorf("%s:%d says %q: %s", path, n+1, found, strings.TrimSpace(line))
				}
			}
		})
	}
}

// each calls f with every file of the project that ends in ext.
func each(t *testing.T, ext string, f func(path string, text []byte)) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case filepath.Ext(path) != ext:
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			f(path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// declared returns the names a node declares.
func declared(n ast.Node) []*ast.Ident {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return n.Names
	}
	return nil
}

// wordsOf splits a name such as itemState or item_state into its words, in lower case.
func wordsOf(name string) []string {
	var spaced strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return r == ' ' || r == '_' || unicode.IsDigit(r) })
}
