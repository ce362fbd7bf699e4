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
// of a script in the folder api begins with the document and the section, its first line says the rule. A script may show
// more, and elsewhere its name says nothing: there a comment begins with the sections, as in "# spec 5, contract 2: …".
func TestScriptsPage(t *testing.T) {
	var rows []scriptRow
	for _, file := range scripts(t) {
		rows = append(rows, readScript(t, file)...)
	}
	slices.SortStableFunc(rows, compareRows)
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

var (
	scriptName = regexp.MustCompile(`^(spec|contract)-([0-9]+(?:\.[0-9]+)?)-[a-z0-9-]+\.txtar$`)
	mark       = regexp.MustCompile(`(?m)^# ((?:(?:spec|contract) [0-9.]+(?:, )?)+): (.+)$`)
)

// readScript gives the rows of a script on the page.
func readScript(t *testing.T, path string) (rows []scriptRow) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Rel(filepath.Join("testdata", "script"), path)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.ToSlash(file)
	script, _, _ := strings.Cut(string(data), "\n-- ")
	checkScript(t, file, script)
	if base, inAPI := strings.CutPrefix(file, "api/"); inAPI {
		m := scriptName.FindStringSubmatch(base)
		if m == nil {
			t.Fatalf("%s: the name must begin with the document and the section, as in spec-2.4-rule-1-missing-view.txtar", file)
		}
		rows = append(rows, scriptRow{m[1] + " " + m[2], firstRule(script), file})
	}
	for _, m := range mark.FindAllStringSubmatch(script, -1) {
		for section := range strings.SplitSeq(m[1], ", ") {
			rows = append(rows, scriptRow{section, m[2], file})
		}
	}
	if rows == nil {
		rows = []scriptRow{{"–", firstRule(script), file}}
	}
	for i := range rows {
		rows[i].rule = strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`).Replace(rows[i].rule)
	}
	return rows
}

func firstRule(script string) string {
	first, _, _ := strings.Cut(script, "\n")
	return strings.TrimPrefix(first, "# ")
}

// checkScript holds a script to what the page and testscript need.
func checkScript(t *testing.T, file, script string) {
	t.Helper()
	first, _, _ := strings.Cut(script, "\n")
	if !strings.HasPrefix(first, "# ") || !strings.HasSuffix(first, ".") {
		t.Errorf("%s: the first line must be a comment that says the rule, as a sentence; it is %q", file, first)
	}
	if strings.Contains(script+"\n", "\nstop\n") {
		t.Errorf("%s: stop is a command of testscript, which ends the script there as if all of it had passed; write halt to end the server", file)
	}
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
