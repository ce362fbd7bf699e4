package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScriptsPage writes the page that leads from a section of the specification to the scripts that show it. The name
// of a script in the folder api begins with the document and the section, its first line says the rule.
func TestScriptsPage(t *testing.T) {
	var rows []scriptRow
	for _, file := range scripts(t) {
		rows = append(rows, readScript(t, file)...)
	}
	slices.SortFunc(rows, compareRows)
	var b strings.Builder
	b.WriteString("# Scripts\n\nGenerated from the scripts in `cmd/belfry/testdata/script`: each starts the real program and shows what it does. Sections\n" +
		"are those of the specification (spec) and of what it was agreed to mean in detail (contract).\n\n" +
		"| section | rule | script |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | [%s](../../cmd/belfry/testdata/script/%s) |\n", r.section, r.rule, filepath.Base(r.file), r.file)
	}
	path := filepath.Join("..", "..", "docs", "reference", "scripts.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("%s is not up to date; run make gen:\n%s", path, diff)
	}
}

type scriptRow struct{ section, rule, file string }

// elsewhere are the sections that scripts about the program as a whole show, by their name.
var elsewhere = map[string][]string{
	"check.txtar":       {"contract 1"},
	"customers.txtar":   {"contract 1", "contract 2", "spec 5"},
	"damage.txtar":      {"–"},
	"errors.txtar":      {"contract 2", "contract 3"},
	"first-start.txtar": {"contract 1"},
	"folder.txtar":      {"–"},
	"full-disk.txtar":   {"contract 1", "contract 3"},
	"keys.txtar":        {"contract 1", "contract 2", "spec 5"},
	"limits.txtar":      {"contract 3", "contract 4"},
	"metrics.txtar":     {"contract 1"},
	"password.txtar":    {"contract 1"},
	"query.txtar":       {"contract 10", "spec 4.6"},
	"restart.txtar":     {"contract 4"},
	"send.txtar":        {"contract 4", "spec 4.2"},
	"tls.txtar":         {"contract 1"},
}

var scriptName = regexp.MustCompile(`^(spec|contract)-([0-9]+(?:\.[0-9]+)?)-[a-z0-9-]+\.txtar$`)

// readScript gives the rows of a script on the page.
func readScript(t *testing.T, path string) (rows []scriptRow) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	rule, ok := strings.CutPrefix(first, "# ")
	if !ok || !strings.HasSuffix(rule, ".") {
		t.Errorf("%s: the first line must be a comment that says the rule, as a sentence; it is %q", path, first)
	}
	if script, _, _ := strings.Cut(string(data), "\n-- "); strings.Contains(script+"\n", "\nstop\n") {
		t.Errorf("%s: stop is a command of testscript, which ends the script there as if all of it had passed; write halt to end the server", path)
	}
	rule = strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`).Replace(rule)
	file, err := filepath.Rel(filepath.Join("testdata", "script"), path)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.ToSlash(file)
	if base, inAPI := strings.CutPrefix(file, "api/"); inAPI {
		m := scriptName.FindStringSubmatch(base)
		if m == nil {
			t.Fatalf("%s: the name must begin with the document and the section, as in spec-2.4-rule-1-missing-view.txtar", path)
		}
		return []scriptRow{{m[1] + " " + m[2], rule, file}}
	}
	sections := elsewhere[file]
	if sections == nil {
		sections = []string{"–"}
	}
	for _, s := range sections {
		rows = append(rows, scriptRow{s, rule, file})
	}
	return rows
}

// compareRows puts the specification first, and section 10 after section 9.
func compareRows(a, b scriptRow) int {
	rank := func(r scriptRow) string {
		doc, section, _ := strings.Cut(r.section, " ")
		major, minor, _ := strings.Cut(section, ".")
		order := map[string]int{"spec": 0, "contract": 1}
		n, ok := order[doc]
		if !ok {
			n = 2
		}
		return fmt.Sprintf("%d %4s %4s %s", n, major, minor, r.file)
	}
	return strings.Compare(rank(a), rank(b))
}
