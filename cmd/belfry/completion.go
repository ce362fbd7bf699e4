package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell the script is for: bash, zsh or fish."`
}

// Run prints a script. It is generated from the model that parses the command line, so both have the same commands and flags.
func (c *completionCmd) Run(k *kong.Kong, s streams) error {
	var b strings.Builder
	switch c.Shell {
	case "bash":
		bashCompletion(&b, k.Model.Node)
	case "zsh":
		// zsh can run completions of bash, so the tests of one script cover both.
		b.WriteString("#compdef belfry\nautoload -U +X bashcompinit && bashcompinit\n")
		bashCompletion(&b, k.Model.Node)
	case "fish":
		fishCompletion(&b, k.Model.Node)
	}
	_, err := io.WriteString(s.out, b.String())
	return err
}

// nodes lists the commands, the application first.
func nodes(n *kong.Node) (list []*kong.Node) {
	if n.Hidden {
		return nil
	}
	list = append(list, n)
	for _, child := range n.Children {
		list = append(list, nodes(child)...)
	}
	return list
}

// commandPath is how a command is called, without the name of the program.
func commandPath(n *kong.Node) string {
	if n.Type == kong.ApplicationNode {
		return ""
	}
	return strings.TrimSpace(commandPath(n.Parent) + " " + n.Name)
}

// flagsOf lists the flags that may follow a command.
func flagsOf(n *kong.Node) (list []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		list = append(list, group...)
	}
	return list
}

// spellings of a flag, as they are typed.
func spellings(f *kong.Flag) []string {
	list := []string{"--" + f.Name}
	if f.Short != 0 {
		list = append(list, "-"+string(f.Short))
	}
	if f.Negated || f.Tag.Negatable != "" {
		list = append(list, "--no-"+f.Name)
	}
	return list
}

// takesFile tells whether a value is the name of a file or of a folder.
func takesFile(v *kong.Value) bool {
	return v.Name == "file" || v.Tag.PlaceHolder == "FILE" || v.Tag.PlaceHolder == "DIR"
}

// takesValue tells whether a word follows a flag.
func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// words that may follow a command beside files.
func words(n *kong.Node) (list []string) {
	for _, child := range n.Children {
		if !child.Hidden {
			list = append(list, child.Name)
		}
	}
	for _, p := range n.Positional {
		list = append(list, enums(p)...)
	}
	return list
}

func enums(v *kong.Value) (list []string) {
	if v.Enum != "" {
		list = v.EnumSlice()
	}
	return slices.DeleteFunc(list, func(s string) bool { return !plainWord.MatchString(s) })
}

// plainWord is what needs no quotes in any shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/:-]+$`)

func takesPackage(n *kong.Node) bool {
	return slices.ContainsFunc(n.Positional, func(p *kong.Value) bool { return p.Name == "package" })
}

func bashCompletion(b *strings.Builder, root *kong.Node) {
	list := nodes(root)
	b.WriteString("# Completes commands, flags and values of belfry. Made by: belfry completion\n_belfry() {\n" +
		"  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" cmd='' values='' i\n" +
		"  COMPREPLY=()\n" +
		"  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"$cmd ${COMP_WORDS[i]}\" in\n")
	for _, n := range list[1:] {
		parent, path := commandPath(n.Parent), commandPath(n)
		fmt.Fprintf(b, "      '%s %s') cmd='%s' ;;\n", parent, n.Name, path)
	}
	b.WriteString("    esac\n  done\n  case \"$cmd:$prev\" in\n")
	for _, n := range list {
		bashValues(b, n)
	}
	b.WriteString("  esac\n  case \"$cmd\" in\n")
	for _, n := range list {
		bashWords(b, n)
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n}\ncomplete -o default -F _belfry belfry\n")
}

// bashValues says what follows flags that take a value. An empty COMPREPLY lets the shell complete file names.
func bashValues(b *strings.Builder, n *kong.Node) {
	var files, others []string
	for _, f := range flagsOf(n) {
		if !takesValue(f) {
			continue
		}
		for _, s := range spellings(f) {
			at := "'" + commandPath(n) + ":" + s + "'"
			switch {
			case len(enums(f.Value)) > 0:
				fmt.Fprintf(b, "    %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", at, strings.Join(enums(f.Value), " "))
			case takesFile(f.Value):
				files = append(files, at)
			default:
				others = append(others, at)
			}
		}
	}
	if len(files) > 0 {
		fmt.Fprintf(b, "    %s) return ;;\n", strings.Join(files, "|"))
	}
	if len(others) > 0 { // anything may follow, and no file name
		fmt.Fprintf(b, "    %s) compopt +o default 2>/dev/null; return ;;\n", strings.Join(others, "|"))
	}
}

func bashWords(b *strings.Builder, n *kong.Node) {
	var flags []string
	for _, f := range flagsOf(n) {
		flags = append(flags, spellings(f)...)
	}
	fmt.Fprintf(b, "    '%s')\n      if [[ $cur == -* ]]; then values='%s'\n", commandPath(n), strings.Join(flags, " "))
	switch {
	case takesPackage(n):
		// Asked from the server, if there is a key to ask with and the word before is the command itself.
		fmt.Fprintf(b, "      elif [[ $prev == '%s' && -n ${BELFRY_KEY-}${BELFRY_KEY_FILE-} ]]; then values=\"$(\"${COMP_WORDS[0]}\" export --list --retry 0s 2>/dev/null)\"\n", n.Name)
	case len(words(n)) > 0:
		fmt.Fprintf(b, "      else values='%s'\n", strings.Join(words(n), " "))
	}
	b.WriteString("      fi ;;\n")
}

func fishCompletion(b *strings.Builder, root *kong.Node) {
	b.WriteString("# Completes commands, flags and values of belfry. Made by: belfry completion\ncomplete -c belfry -f\n")
	for _, n := range nodes(root) {
		when := fishWhen(n)
		for _, child := range n.Children {
			if !child.Hidden {
				fmt.Fprintf(b, "complete -c belfry -n %s -a %s -d %s\n", fishQuote(when), child.Name, fishQuote(child.Help))
			}
		}
		for _, p := range n.Positional {
			switch {
			case len(enums(p)) > 0:
				fmt.Fprintf(b, "complete -c belfry -n %s -a %s\n", fishQuote(when), fishQuote(strings.Join(enums(p), " ")))
			case takesFile(p):
				fmt.Fprintf(b, "complete -c belfry -n %s -F\n", fishQuote(when))
			}
		}
		for _, f := range n.Flags {
			if !f.Hidden {
				fishFlag(b, when, f)
			}
		}
	}
}

// fishWhen is the condition under which a command is the one being typed.
func fishWhen(n *kong.Node) string {
	if n.Type == kong.ApplicationNode {
		return "__fish_use_subcommand"
	}
	var parts []string
	for _, name := range strings.Fields(commandPath(n)) {
		parts = append(parts, "__fish_seen_subcommand_from "+name)
	}
	if w := words(n); len(n.Children) > 0 {
		parts = append(parts, "not __fish_seen_subcommand_from "+strings.Join(w, " "))
	}
	return strings.Join(parts, "; and ")
}

func fishFlag(b *strings.Builder, when string, f *kong.Flag) {
	fmt.Fprintf(b, "complete -c belfry -n %s -l %s", fishQuote(when), f.Name)
	if f.Short != 0 {
		fmt.Fprintf(b, " -s %c", f.Short)
	}
	if takesValue(f) {
		b.WriteString(" -r")
		switch {
		case len(enums(f.Value)) > 0:
			fmt.Fprintf(b, " -a %s", fishQuote(strings.Join(enums(f.Value), " ")))
		case takesFile(f.Value):
			b.WriteString(" -F")
		}
	}
	fmt.Fprintf(b, " -d %s\n", fishQuote(f.Help))
}

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
