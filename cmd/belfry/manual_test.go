//go:build peers

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestPeerManuals: every command has a page, with what is known of it, and its examples are command lines that are taken.
func TestPeerManuals(t *testing.T) {
	parser, err := newParser(&commands{}, new(bytes.Buffer), new(bytes.Buffer), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, n := range nodes(parser.Model.Node) {
		path := commandPath(n)
		known[path] = true
		about, ok := manuals[path]
		if !ok || about.description == "" || len(about.examples) == 0 {
			t.Errorf("%q has no text or no example", path)
		}
		var out, errs bytes.Buffer
		if code := run(append([]string{"manual"}, strings.Fields(path)...), &out, &errs); code != 0 {
			t.Errorf("manual %s: %s", path, errs.String())
		}
		for _, want := range []string{"NAME\n", "\nSYNOPSIS\n", "\nDESCRIPTION\n", "\nOPTIONS\n", "\nEXIT STATUS\n", "\nEXAMPLES\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in the page of %q", want, path)
			}
		}
		for _, f := range flagsOf(n) {
			if !strings.Contains(out.String(), "--"+f.Name) {
				t.Errorf("--%s is not in the page of %q", f.Name, path)
			}
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > 100 {
				t.Errorf("page of %q: a line of %d columns: %s", path, len(line), line)
			}
		}
		for _, e := range about.examples {
			for line := range strings.Lines(e.command) {
				_, args, ok := strings.Cut(line, "belfry ")
				args, _, _ = strings.Cut(args, " >")
				args, _, _ = strings.Cut(args, " |")
				args, _, _ = strings.Cut(args, " <")
				if !strings.Contains(args, `"`) {
					args = strings.TrimRight(args, ")\n")
				}
				if _, err := parser.Parse(shellWords(args)); err != nil || !ok {
					t.Errorf("example %q of %q: %v", line, path, err)
				}
			}
		}
	}
	for path := range manuals {
		if !known[path] {
			t.Errorf("there is a text for %q, which is no command", path)
		}
	}
}

// shellWords takes a command line apart; of a shell's quotes it knows the double ones.
func shellWords(line string) (list []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

func TestPeerRoff(t *testing.T) {
	p := &page{name: "belfry-x", sections: []section{{"A \"B\"", []item{
		{text: ".dot 'quote \\ back-slash"}, {term: "--flag", text: "'text"}, {text: "one\n.two", code: true},
	}}}}
	want := ".TH \"BELFRY\\-X\" 1 \"\" Belfry \"Belfry manual\"\n.SH \"A \\(dqB\\(dq\"\n" +
		".PP\n\\&.dot 'quote \\e back\\-slash\n.TP\n\\fB\\-\\-flag\\fR\n\\&'text\n.PP\n.nf\n.RS 4\none\n\\&.two\n.RE\n.fi\n"
	if got := p.roff(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Fatalf("%v; make setup installs it", err)
	}
	for path := range manuals {
		var out, errs bytes.Buffer
		run(append([]string{"manual", "--roff"}, strings.Fields(path)...), &out, &errs)
		cmd := exec.Command(groff, "-man", "-ww", "-Tascii", "-P-cbou")
		cmd.Stdin = &out
		cmd.Stderr = &errs
		if text, err := cmd.Output(); err != nil || errs.Len() > 0 || !bytes.Contains(text, []byte("EXAMPLES")) {
			t.Errorf("page of %q: %v: %s", path, err, errs.String())
		}
	}
}
