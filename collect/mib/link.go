package mib

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// linker resolves the object identifiers of modules, in any order.
type linker struct {
	modules  map[string]*module
	standard *Names
}

const maxDepth = 256 // of definitions by other names

// link resolves all modules, and returns one error for each that is wrong; the others count nevertheless.
func link(modules []*module, standard *Names) (nodes map[string]*node, faults []error) {
	l := &linker{modules: map[string]*module{}, standard: standard}
	for _, m := range modules {
		if other := l.modules[m.name]; other != nil {
			faults = append(faults, fmt.Errorf("%s: module %s is in %s, too; the first one counts", m.file, m.name, other.file))
			continue
		}
		l.modules[m.name] = m
	}
	nodes = map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(l.modules)) {
		if err := l.module(l.modules[name], nodes); err != nil {
			faults = append(faults, err)
		}
	}
	return nodes, faults
}

// module adds the definitions of a module. The fault is the first one.
func (l *linker) module(m *module, nodes map[string]*node) (fault error) {
	missing := 0
	values := slices.SortedFunc(maps.Values(m.values), func(a, b *value) int { return a.line - b.line })
	for _, v := range values {
		oid, err := l.value(m, v, 0)
		if err != nil {
			if missing++; fault == nil {
				fault = fmt.Errorf("%s:%d: %s has no place in the tree: %w", m.file, v.line, v.name, err)
			}
			continue
		}
		n := &node{name: v.name, kind: v.kind}
		if v.typ != nil {
			n.syntax = l.syntax(m, v.typ, 0)
		}
		if old := nodes[oid]; old == nil || n.kind > old.kind {
			nodes[oid] = n
		}
	}
	if missing > 1 {
		fault = fmt.Errorf("%w (and %d more)", fault, missing-1)
	}
	return fault
}

// value resolves the object identifier of a name.
func (l *linker) value(m *module, v *value, depth int) (oid string, err error) {
	if v.oid != "" {
		return v.oid, nil
	}
	if v.looking || depth > maxDepth {
		return "", fmt.Errorf("%s is defined by itself", v.name)
	}
	v.looking = true
	defer func() { v.looking = false }()
	if v.parent != "" {
		if oid, err = l.find(m, v.parent, depth+1); err != nil {
			return "", err
		}
	}
	if v.v1 {
		v.oid = v1Trap(oid, int64(v.arcs[0]))
		return v.oid, nil
	}
	b := []byte(oid)
	for _, arc := range v.arcs {
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendUint(b, uint64(arc), 10)
	}
	if n := strings.Count(string(b), ".") + 1; n > maxArcs || len(b) == 0 {
		return "", fmt.Errorf("its object identifier has %d numbers; 1 to %d are possible", n, maxArcs)
	}
	v.oid = string(b)
	return v.oid, nil
}

// v1Trap returns the object identifier of a TRAP-TYPE (RFC 3584, 3.1): those of the enterprise snmp are the generic traps.
func v1Trap(enterprise string, number int64) string {
	if enterprise == "1.3.6.1.2.1.11" {
		return "1.3.6.1.6.3.1.1.5." + strconv.FormatInt(number+1, 10)
	}
	return enterprise + ".0." + strconv.FormatInt(number, 10)
}

// find resolves a name in the scope of a module: its own, its imports, and the standard names.
func (l *linker) find(m *module, name string, depth int) (oid string, err error) {
	if v := m.values[name]; v != nil {
		return l.value(m, v, depth)
	}
	from := m.imports[name]
	other := l.modules[from]
	if other != nil && other.values[name] != nil {
		return l.value(other, other.values[name], depth)
	}
	if oid, ok := l.standard.oids[name]; ok {
		return oid, nil
	}
	switch {
	case from == "":
		return "", fmt.Errorf("%s is neither defined nor imported", name)
	case other == nil:
		return "", fmt.Errorf("%s is imported from %s, of which there is no file", name, from)
	}
	return "", fmt.Errorf("%s is imported from %s, which does not define it", name, from)
}

// syntax collects how values of a type are formatted. The definition nearest to the object has precedence.
func (l *linker) syntax(m *module, t *typeDef, depth int) *Syntax {
	s := t.Syntax
	if depth > maxDepth {
		return &s
	}
	var base *Syntax
	if inner := m.types[t.base]; inner != nil && inner != t {
		base = l.syntax(m, inner, depth+1)
	} else if other := l.modules[m.imports[t.base]]; other != nil && other.types[t.base] != nil {
		base = l.syntax(other, other.types[t.base], depth+1)
	} else {
		base = l.standard.types[t.base]
	}
	if base == nil {
		return &s
	}
	if s.Hint == "" {
		s.Hint = base.Hint
	}
	if s.Bits = s.Bits || base.Bits; s.Enum == nil {
		s.Enum = base.Enum
	}
	return &s
}
