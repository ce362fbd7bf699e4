package collect

import (
	_ "embed"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// names maps object identifiers to names. It never changes.
type names struct {
	nodes map[string]*node   // by object identifier, without leading dot
	oids  map[string]string  // object identifiers of the standard names
	types map[string]*syntax // standard types
}

// node is a named object identifier.
type node struct {
	name   string
	kind   nodeKind
	syntax *syntax // of an object; nil if unknown
}

type nodeKind byte

const (
	plainNode  nodeKind = iota // inner node
	objectNode                 // has values
	trapNode
)

// syntax describes how to format values.
type syntax struct {
	enum map[int64]string
	bits bool   // the names are of bits
	hint string // display hint of RFC 2579
}

//go:embed mib_standard.txt
var standardMIBs string

// standardNames parses the table of standard names.
func standardNames() (*names, error) {
	n := &names{nodes: map[string]*node{}, oids: map[string]string{}, types: map[string]*syntax{}}
	at, number := "", 0
	for line := range strings.Lines(standardMIBs) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if words[0] == "at" {
			at = words[1] + "."
			continue
		}
		if err := n.standard(at, words); err != nil {
			return nil, fmt.Errorf("mib_standard.txt:%d: %w", number, err)
		}
	}
	return n, nil
}

// standard adds one line of the table.
func (n *names) standard(at string, words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("%q has no name", words[0])
	}
	s, err := n.standardSyntax(words[2:])
	if err != nil {
		return err
	}
	name := words[1]
	if words[0] == "type" {
		n.types[name] = s
		return nil
	}
	kind := objectNode
	oid, found := strings.CutSuffix(words[0], "!")
	if found {
		kind = trapNode
	}
	if oid, found = strings.CutSuffix(oid, "/"); found {
		kind = plainNode
	}
	if strings.HasPrefix(oid, ".") {
		at, oid = "", oid[1:]
	}
	if oid = at + oid; n.nodes[oid] != nil || n.oids[name] != "" {
		return fmt.Errorf("%s %s is there twice", oid, name)
	}
	n.nodes[oid], n.oids[name] = &node{name, kind, s}, oid
	return nil
}

// standardSyntax parses the name of a type, a hint in quotes, or named numbers.
func (n *names) standardSyntax(words []string) (*syntax, error) {
	if len(words) == 0 {
		return nil, nil
	}
	if t, ok := n.types[words[0]]; ok {
		return t, nil
	}
	s := &syntax{}
	if hint, ok := strings.CutPrefix(words[0], `"`); ok {
		s.hint = strings.TrimSuffix(hint, `"`)
		return s, nil
	}
	if words[0] == "bits" {
		s.bits, words = true, words[1:]
	}
	s.enum = map[int64]string{}
	for _, w := range words {
		name, rest, _ := strings.Cut(w, "(")
		v, err := strconv.ParseInt(strings.TrimSuffix(rest, ")"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is neither a type nor a name(number)", w)
		}
		s.enum[v] = name
	}
	return s, nil
}

// with returns these names and more. Standard names have precedence; for values, a file may know more than the table.
func (n *names) with(more map[string]*node) *names {
	all := maps.Clone(n.nodes)
	for oid, node := range more {
		if old := all[oid]; old == nil || old.name == node.name {
			all[oid] = node
		}
	}
	return &names{nodes: all, oids: n.oids, types: n.types}
}

// trap returns the name of a trap, or its object identifier.
func (n *names) trap(oid string) string {
	if t := n.nodes[oid]; t != nil && t.kind == trapNode {
		return t.name
	}
	// A notification directly below its enterprise has a zero between them when it is sent as version 1
	// (RFC 3584, 3.1).
	if i := strings.LastIndexByte(oid, '.'); i > 0 && strings.HasSuffix(oid[:i], ".0") {
		if t := n.nodes[oid[:i-2]+oid[i:]]; t != nil && t.kind == trapNode {
			return t.name
		}
	}
	return oid
}

// object returns the name of an instance, such as ifDescr.3, and the syntax of its values.
func (n *names) object(oid string) (name string, s *syntax) {
	for end := len(oid); end > 0; end = strings.LastIndexByte(oid[:end], '.') {
		if o := n.nodes[oid[:end]]; o != nil && (o.kind == objectNode || end == len(oid)) {
			return o.name + oid[end:], o.syntax
		}
	}
	return oid, nil
}
