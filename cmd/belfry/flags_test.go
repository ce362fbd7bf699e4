package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func TestFlagsPage(t *testing.T) {
	parser, err := newParser(&commands{}, new(bytes.Buffer), new(bytes.Buffer), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Commands and flags\n\nGenerated from `cmd/belfry`. The command line wins over the environment, the environment over the configuration file.\n" +
		"Exit status: 0 done, 1 failed, 2 wrong command line, 3 the server rejected rows or changes of items, 4 verify found problems.\nThe password of\n" +
		"the first administrator can be set with the variable `BELFRY_ADMIN_PASSWORD`, that of any other user\n" +
		"with `BELFRY_USER_PASSWORD`. See also `belfry manual COMMAND`.\n")
	for _, leaf := range parser.Model.Leaves(true) {
		writeCommand(&b, leaf)
	}
	path := filepath.Join("..", "..", "docs", "reference", "flags.md")
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

func writeCommand(b *strings.Builder, n *kong.Node) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", strings.Join(append([]string{n.FullPath()}, argumentNames(n)...), " "), n.Help)
	if len(n.Positional) > 0 {
		b.WriteByte('\n')
	}
	for _, a := range n.Positional {
		fmt.Fprintf(b, "- `%s`: %s\n", strings.ToUpper(a.Name), a.Help)
	}
	if len(n.Flags) == 0 {
		return
	}
	b.WriteString("\n| flag | environment | meaning |\n|---|---|---|\n")
	for _, f := range n.Flags {
		name := "--" + f.Name
		if !f.IsBool() {
			name += " " + f.FormatPlaceHolder()
		}
		env := "–"
		if len(f.Envs) > 0 {
			env = "`" + f.Envs[0] + "`"
		}
		help := f.Help
		if f.Required {
			help += " Required."
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, env, help)
	}
}
