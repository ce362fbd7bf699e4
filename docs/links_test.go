package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages lists the Markdown files of the repository.
func pages(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var link = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)

// TestLinks follows every link to a file of the repository. Where the text of a link to a Go file is a name in
// backquotes, the file must declare that name: so a page that tells of the code goes stale with a noise.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if fault := linkFault(page, m[1], m[2]); fault != "" {
				t.Errorf("%s: link [%s](%s): %s", strings.TrimPrefix(page, "../"), m[1], m[2], fault)
			}
		}
	}
}

func linkFault(page, label, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "#") {
		return ""
	}
	file, _, _ := strings.Cut(target, "#")
	path := filepath.Join(filepath.Dir(page), file)
	info, err := os.Stat(path)
	if err != nil {
		return "there is no such file"
	}
	name, code := strings.CutPrefix(label, "`")
	if !code || info.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(name, ".go`") {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	name = strings.TrimSuffix(name, "`")
	if !declares(string(text), name) {
		return "the file does not declare " + name
	}
	return ""
}

// declares looks for a function, a type, a constant or a variable; T.f is a method of T.
func declares(text, name string) bool {
	owner, f, method := strings.Cut(name, ".")
	if method {
		return regexp.MustCompile(`(?m)^func \(\w* ?\*?` + regexp.QuoteMeta(owner) + `(\[\w+\])?\) ` + regexp.QuoteMeta(f) + `\(`).MatchString(text)
	}
	q := regexp.QuoteMeta(name)
	return regexp.MustCompile(`(?m)^(func ` + q + `[(\[]|(type|const|var) ` + q + `\b|\t` + q + `( [\w\[\]*.]+)? =)`).MatchString(text)
}

func TestDeclares(t *testing.T) {
	f := func(name string, want bool) {
		t.Helper()
		const text = "package p\n\ntype T struct{}\n\nfunc (t *T) m() {}\n\nfunc g() {}\n\nconst (\n\ta = 1\n\tb Kind = 2\n)\n"
		if got := declares(text, name); got != want {
			t.Errorf("declares %s: %v", name, got)
		}
	}
	f("T", true)
	f("T.m", true)
	f("g", true)
	f("a", true)
	f("b", true)
	f("m", false)
	f("T.g", false)
	f("U.m", false)
	f("c", false)
}

// TestDependencies holds docs/dependencies.md to the list in go.mod.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile("dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	modules := append(directs(t, "../go.mod"), directs(t, "../tools/go.mod")...)
	if len(modules) < 10 {
		t.Fatalf("found only %v", modules)
	}
	for _, m := range modules {
		if !strings.Contains(string(page), "`"+m+"`") {
			t.Errorf("docs/dependencies.md does not say why there is %s", m)
		}
	}
}

// directs lists the modules and tools that a go.mod names for their own sake.
func directs(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		path := strings.Fields(line)
		if strings.HasPrefix(line, "\t") && !strings.Contains(line, "// indirect") {
			list = append(list, path[0])
		}
	}
	return list
}

// TestGuideIndex finds every page of the guide in its index, once, and in that of all documents.
func TestGuideIndex(t *testing.T) {
	index, all := readPage(t, "guide/README.md"), readPage(t, "README.md")
	files, err := filepath.Glob("guide/*.md")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if n := strings.Count(index, "\n| ["+name+"]("+name+") |"); n != 1 && name != "README.md" {
			t.Errorf("docs/guide/README.md lists %s %d times", name, n)
		}
		if !strings.Contains(all, "](guide/"+name+")") {
			t.Errorf("docs/README.md does not list guide/%s", name)
		}
	}
}
