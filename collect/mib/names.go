// Package mib reads MIB files, and names what SNMP traps contain: traps, objects, and the numbers that have names.
//
// It parses the subset of SMI, in its first and second version (RFC 1155, 1212, 1215 and 2578 to 2580), that is needed for that.
// What is not needed is skipped, so files that strict readers refuse are often understood.
//
//	standard.txt ──────────────────────────┐
//	files ──► tokens ──► parser ──► linker ──► Names
package mib

import (
	_ "embed"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// Names maps object identifiers to names. It never changes.
type Names struct {
	nodes map[string]*node   // by object identifier, without leading dot
	oids  map[string]string  // object identifiers of the standard names
	types map[string]*Syntax // standard types
}

// node is a named object identifier.
type node struct {
	name   string
	kind   nodeKind
	syntax *Syntax // of an object; nil if unknown
}

type nodeKind byte

const (
	plainNode  nodeKind = iota // inner node
	objectNode                 // has values
	trapNode
)

// Syntax describes how to format values.
type Syntax struct {
	Enum map[int64]string
	Bits bool   // the names are of bits
	Hint string // display hint of RFC 2579
}

//go:embed standard.txt
var standardMIBs string

// standardNames parses the table of standard names.
func standardNames() (*Names, error) {
	n := &Names{nodes: map[string]*node{}, oids: map[string]string{}, types: map[string]*Syntax{}}
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
			return nil, fmt.Errorf("standard.txt:%d: %w", number, err)
		}
	}
	return n, nil
}

// standard adds one line of the table.
func (n *Names) standard(at string, words []string) error {
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
func (n *Names) standardSyntax(words []string) (*Syntax, error) {
	if len(words) == 0 {
		return nil, nil
	}
	if t, ok := n.types[words[0]]; ok {
		return t, nil
	}
	s := &Syntax{}
	if hint, ok := strings.CutPrefix(words[0], `"`); ok {
		s.Hint = strings.TrimSuffix(hint, `"`)
		return s, nil
	}
	if words[0] == "bits" {
		s.Bits, words = true, words[1:]
	}
	s.Enum = map[int64]string{}
	for _, w := range words {
		name, rest, _ := strings.Cut(w, "(")
		v, err := strconv.ParseInt(strings.TrimSuffix(rest, ")"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is neither a type nor a name(number)", w)
		}
		s.Enum[v] = name
	}
	return s, nil
}

// with returns these names and more. Standard names have precedence; for values, a file may know more than the table.
func (n *Names) with(more map[string]*node) *Names {
	all := maps.Clone(n.nodes)
	for oid, node := range more {
		if old := all[oid]; old == nil || old.name == node.name {
			all[oid] = node
		}
	}
	return &Names{nodes: all, oids: n.oids, types: n.types}
}

// Trap returns the name of a trap, or its object identifier.
func (n *Names) Trap(oid string) string {
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

// Object returns the name of an instance, such as ifDescr.3, and the syntax of its values.
func (n *Names) Object(oid string) (name string, s *Syntax) {
	for end := len(oid); end > 0; end = strings.LastIndexByte(oid[:end], '.') {
		if o := n.nodes[oid[:end]]; o != nil && (o.kind == objectNode || end == len(oid)) {
			return o.name + oid[end:], o.syntax
		}
	}
	return oid, nil
}
