package collect

import (
	_ "embed"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// names tells what object identifiers mean. It does not change once it is made.
type names struct {
	nodes map[string]*node   // by object identifier, without a dot in front
	oids  map[string]string  // the other way round, of the standards
	types map[string]*syntax // that the standards define
}

// node is what has a name.
type node struct {
	name   string
	kind   nodeKind
	syntax *syntax // of an object; nil when nothing is known about its values
}

type nodeKind byte

const (
	plainNode  nodeKind = iota // a place in the tree
	objectNode                 // has values
	trapNode
)

// syntax is how to show values.
type syntax struct {
	enum map[int64]string
	bits bool   // the names are those of bits
	hint string // as RFC 2579 writes it
}

//go:embed mib_standard.txt
var standardMIBs string

// standardNames reads the table of what the standards define.
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

// standard adds what one line of the table says.
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

// standardSyntax reads the name of a type, a hint in quotes, or names with numbers.
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

// with gives all these names and more. What the standards name keeps its name, whatever a vendor calls it; of values, a file
// may know more than the table does.
func (n *names) with(more map[string]*node) *names {
	all := maps.Clone(n.nodes)
	for oid, node := range more {
		if old := all[oid]; old == nil || old.name == node.name {
			all[oid] = node
		}
	}
	return &names{nodes: all, oids: n.oids, types: n.types}
}

// trap names a trap by its object identifier; the identifier when it has no name.
func (n *names) trap(oid string) string {
	if t := n.nodes[oid]; t != nil && t.kind == trapNode {
		return t.name
	}
	// A notification that stands right below its enterprise comes with a zero between them when it is sent as version 1
	// (RFC 3584, 3.1).
	if i := strings.LastIndexByte(oid, '.'); i > 0 && strings.HasSuffix(oid[:i], ".0") {
		if t := n.nodes[oid[:i-2]+oid[i:]]; t != nil && t.kind == trapNode {
			return t.name
		}
	}
	return oid
}

// object names an instance of an object, such as ifDescr.3, and says how its values are shown.
func (n *names) object(oid string) (name string, s *syntax) {
	for end := len(oid); end > 0; end = strings.LastIndexByte(oid[:end], '.') {
		if o := n.nodes[oid[:end]]; o != nil && (o.kind == objectNode || end == len(oid)) {
			return o.name + oid[end:], o.syntax
		}
	}
	return oid, nil
}
