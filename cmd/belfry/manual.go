package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

type manualCmd struct {
	Command []string `arg:"" optional:"" help:"Command, such as send or key create; without it, the page of the program."`
	Roff    bool     `help:"Write roff, for man -l."`
	Into    string   `placeholder:"DIR" help:"Write the pages of all commands into a folder for man: belfry.1, belfry-send.1 and so on."`
}

func (c *manualCmd) Run(k *kong.Kong, s streams) error {
	if c.Into != "" {
		return writeManuals(k.Model.Node, c.Into)
	}
	node := k.Model.Node
	for _, name := range c.Command {
		child := findChild(node, name)
		if child == nil {
			return usageError{fmt.Errorf("there is no command %q; the commands are %s", strings.Join(c.Command, " "), strings.Join(words(node), ", "))}
		}
		node = child
	}
	p := newPage(node)
	text := p.plain()
	if c.Roff {
		text = p.roff()
	}
	_, err := io.WriteString(s.out, text)
	return err
}

// writeManuals writes the pages of all commands into dir, as roff.
func writeManuals(n *kong.Node, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, command := range nodes(n) {
		p := newPage(command)
		if err := os.WriteFile(filepath.Join(dir, p.name+".1"), []byte(p.roff()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func findChild(n *kong.Node, name string) *kong.Node {
	for _, child := range n.Children {
		if child.Name == name && !child.Hidden {
			return child
		}
	}
	return nil
}

// page is a manual page before formatting.
type page struct {
	name     string // such as belfry-key-create
	sections []section
}

type section struct {
	title string
	items []item
}

// item is a paragraph, a term with its meaning, or an example.
type item struct {
	term, text string
	code       bool
}

// newPage builds a page from the model of the command line and the hand-written text.
func newPage(n *kong.Node) *page {
	path := commandPath(n)
	about := manuals[path]
	p := &page{name: strings.ReplaceAll(strings.TrimSpace("belfry "+path), " ", "-")}
	p.add("NAME", item{text: p.name + " - " + strings.TrimSuffix(n.Help, ".")})
	p.add("SYNOPSIS", item{text: synopsis(n), code: true})
	p.add("DESCRIPTION", paragraphs(about.description)...)
	p.add("COMMANDS", commandItems(n)...)
	p.add("ARGUMENTS", argumentItems(n)...)
	p.add("OPTIONS", optionItems(n)...)
	p.add("ENVIRONMENT", environmentItems(n)...)
	p.add("EXIT STATUS", exitItems(about)...)
	var examples []item
	for _, e := range about.examples {
		examples = append(examples, item{text: e.what}, item{text: e.command, code: true})
	}
	p.add("EXAMPLES", examples...)
	return p
}

func (p *page) add(title string, items ...item) {
	if len(items) > 0 {
		p.sections = append(p.sections, section{title, items})
	}
}

func synopsis(n *kong.Node) string {
	parts := []string{n.FullPath()}
	if n.Type == kong.ApplicationNode {
		parts = []string{n.Name}
	}
	if len(n.Children) > 0 {
		parts = append(parts, "COMMAND")
	}
	parts = append(parts, "[OPTION]...")
	return strings.Join(append(parts, argumentNames(n)...), " ")
}

// argumentNames returns the arguments in capitals, optional ones in brackets.
func argumentNames(n *kong.Node) (list []string) {
	for _, a := range n.Positional {
		name := strings.ToUpper(a.Name)
		if a.IsSlice() {
			name += "..."
		}
		if !a.Required {
			name = "[" + name + "]"
		}
		list = append(list, name)
	}
	return list
}

func paragraphs(text string) (list []item) {
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			list = append(list, item{text: p})
		}
	}
	return list
}

func commandItems(n *kong.Node) (list []item) {
	for _, c := range n.Leaves(true) {
		if c != n {
			list = append(list, item{term: commandPath(c), text: c.Help})
		}
	}
	return list
}

func argumentItems(n *kong.Node) (list []item) {
	for _, a := range n.Positional {
		list = append(list, item{term: strings.ToUpper(a.Name), text: a.Help})
	}
	return list
}

func optionItems(n *kong.Node) (list []item) {
	for _, f := range flagsOf(n) {
		term := strings.Join(spellings(f), ", ")
		if takesValue(f) {
			term += " " + strings.Trim(valueName(f), `"`)
		}
		text := f.Help
		if f.HasDefault && f.Default != "" && !strings.Contains(text, f.Default) {
			text += " Default: " + f.Default + "."
		}
		if f.Required {
			text += " Required."
		}
		list = append(list, item{term: term, text: text})
	}
	return list
}

// valueName returns the placeholder for a flag's value.
func valueName(f *kong.Flag) string {
	if f.PlaceHolder != "" {
		return f.PlaceHolder
	}
	return strings.ToUpper(f.Name)
}

func environmentItems(n *kong.Node) (list []item) {
	for _, f := range flagsOf(n) {
		for _, name := range f.Envs {
			list = append(list, item{term: name, text: "Stands for --" + f.Name + "  if that is not given."})
		}
	}
	return list
}

func exitItems(about manual) []item {
	list := []item{
		{term: "0", text: "Done."},
		{term: "1", text: "The command failed; the reason is on standard error."},
		{term: "2", text: "The command line is wrong."},
	}
	if about.items {
		list = append(list, item{term: "3", text: "Some items were changed and some were not."})
	}
	if about.rows {
		list[0].text = "No row was rejected."
		list = append(list, item{term: "3", text: "The server rejected some or all rows."})
	}
	return list
}

// plain formats the page for a terminal, 78 columns wide.
func (p *page) plain() string {
	var b strings.Builder
	for i, s := range p.sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintln(&b, s.title)
		for j, it := range s.items {
			if j > 0 && it.term == "" && !it.code {
				b.WriteByte('\n')
			}
			plainItem(&b, it)
		}
	}
	return b.String()
}

func plainItem(b *strings.Builder, it item) {
	switch {
	case it.code:
		for line := range strings.Lines(it.text) {
			fmt.Fprintf(b, "    %s\n", strings.TrimRight(line, "\n"))
		}
	case it.term != "":
		fmt.Fprintf(b, "    %s\n", it.term)
		wrap(b, "        ", it.text)
	default:
		wrap(b, "    ", it.text)
	}
}

func wrap(b *strings.Builder, indent, text string) {
	const width = 78
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+len(word)+1 > width && line != indent {
			fmt.Fprintln(b, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(b, line)
}

// roff formats the page for man.
func (p *page) roff() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" Belfry \"Belfry manual\"\n", roffQuote(strings.ToUpper(p.name)))
	for _, s := range p.sections {
		fmt.Fprintf(&b, ".SH %s\n", roffQuote(s.title))
		for _, it := range s.items {
			switch {
			case it.code:
				fmt.Fprintf(&b, ".PP\n.nf\n.RS 4\n%s\n.RE\n.fi\n", roffText(it.text))
			case it.term != "":
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roffEscape(it.term), roffText(it.text))
			default:
				fmt.Fprintf(&b, ".PP\n%s\n", roffText(it.text))
			}
		}
	}
	return b.String()
}

func roffQuote(text string) string {
	return `"` + strings.ReplaceAll(roffEscape(text), `"`, `\(dq`) + `"`
}

func roffEscape(text string) string { return strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text) }

// roffText escapes leading dots and quotes, which would be commands.
func roffText(text string) string {
	lines := strings.Split(roffEscape(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
