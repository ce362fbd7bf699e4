package belfry_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
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
	"hurry": "flush", "hush": "mute", "labelled": "with names", "lane": "thread", "lapse": "expire", "linger": "delay", "patience": "retry policy",
	"party": "queue", "placed": "connection", "portion": "limits", "regime": "policy scope", "rejudge": "reevaluate", "resettle": "reevaluate",
	"roomy": "has room", "shelf": "cache", "sieve": "pipeline", "spoil": "invalidate", "standing": "state", "stirred": "changed", "stranded": "customer removed", "summed": "rollup",
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

// privatePhrases are phrases of a private English that must not come back in documents, comments and messages. The value is what to
// write instead.
var privatePhrases = map[string]string{
	"anew": "again", "bequeath": "hand off", "bequeathed": "handed off", "bequeaths": "hands off", "estate": "tenant", "estates": "tenants",
	"gives way": "ends", "happen to an item": "", "happen to an object": "", "happen to its item": "", "happen to its object": "",
	"happen to the item": "", "happen to the object": "", "has its say": "decides", "let go of": "release", "lets go of": "releases",
	"regime": "policy scope", "regimes": "policy scopes", "sees to it": "ensures", "sieve": "pipeline", "sieves": "pipelines",
}

// foreignPhrases are word for word another language, or call a program a person. The value is what to write instead.
var foreignPhrases = map[string]string{
	"stands in": "is in, the parent is", "stand in": "be in", "stands inside": "is inside", "stands beside": "is in addition to",
	"stand beside": "be in addition to", "stands before": "precedes", "stands behind": "follows", "stands there": "is there",
	"stands where": "is where", "stand with": "have", "stands alone": "is the only one", "stand in this order": "are in this order",
	"goes on": "continues", "went on": "continued", "going on": "continuing", "go on": "continue", "comes again": "recurs, is repeated",
	"come again": "recur, be repeated", "somebody": "a user, someone", "nobody": "no one", "anybody": "anyone", "everybody": "everyone, all",
	"put right": "fixed", "puts right": "fixes", "gives back": "returns", "gave back": "returned", "give back": "return",
	"given back": "returned", "takes back": "removes, revokes", "taken back": "removed, rolled back", "as far as": "if, where, while",
	"is told": "is reported, gets", "was told": "got", "are told": "get", "of its own accord": "automatically",
	"for a reason of its own": "by an internal error", "dealt with": "processed", "until somebody says otherwise": "no end",
	"what stands": "the content",
}

// foreignAllowed begin the paths of files in which foreignPhrases are not looked for.
var foreignAllowed = map[string]string{
	"docs/decisions/": "a page tells why something was decided, in the words of that day",
	"web/ui/e2e/":     "tests: nothing of them is shown",
	"web/ui/unit/":    "tests: nothing of them is shown",
}

// foreignLines are lines that need one of the phrases, by a part of the line in lower case.
var foreignLines = map[string]string{
	"back only as far as": "of a distance", "back as far as": "of a distance", "down from the top as far as": "of a distance",
	"http.nobody": "a name of the standard library",
}

// TestPlainText keeps private and foreign phrases out of documents, comments and messages. Comments of tests may have foreign ones.
func TestPlainText(t *testing.T) {
	for _, ext := range []string{".md", ".go", ".ts", ".tsx", ".yaml", ".tmpl"} {
		each(t, ext, func(path string, text []byte) {
			if path == "words_test.go" {
				return
			}
			lower := strings.ToLower(string(text))
			lists := []map[string]string{privatePhrases}
			if !strings.HasSuffix(path, "_test.go") && !hasPrefixOf(path, foreignAllowed) {
				lists = append(lists, foreignPhrases)
			}
			for _, list := range lists {
				for phrase, better := range list {
					for _, at := range find(lower, phrase) {
						start, end := strings.LastIndexByte(lower[:at], '\n')+1, at+strings.IndexByte(lower[at:]+"\n", '\n')
						if line := lower[start:end]; !containsOf(line, foreignLines) {
							t.Errorf("%s:%d says %q, say %q: %s", path, 1+strings.Count(lower[:at], "\n"), phrase, better, strings.TrimSpace(line))
						}
					}
				}
			}
		})
	}
}

// find returns where a phrase is in a text, as whole words.
func find(text, phrase string) (list []int) {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return list
		}
		at := from + i
		if from = at + len(phrase); !inWord(text, at-1) && !inWord(text, from) {
			list = append(list, at)
		}
	}
}

// inWord reports whether the byte of a text is a letter.
func inWord(text string, at int) bool {
	return at >= 0 && at < len(text) && (text[at] >= 'a' && text[at] <= 'z' || text[at] == '_')
}

func hasPrefixOf(path string, list map[string]string) bool {
	for p := range list {
		if strings.HasPrefix(filepath.ToSlash(path), p) {
			return true
		}
	}
	return false
}

func containsOf(line string, list map[string]string) bool {
	for p := range list {
		if strings.Contains(line, p) {
			return true
		}
	}
	return false
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
