package mib

import (
	"fmt"
	"slices"
	"strconv"
)

// module is a parsed module before names are resolved.
type module struct {
	name, file string
	imports    map[string]string // module by name
	values     map[string]*value
	types      map[string]*typeDef
}

// value is a name for an object identifier.
type value struct {
	name   string
	line   int
	kind   nodeKind
	parent string   // empty if the identifier begins with a number
	arcs   []uint32 // after the parent
	typ    *typeDef // of an object
	v1     bool     // TRAP-TYPE: the parent is its enterprise

	oid     string // once resolved
	looking bool   // being resolved; detects cycles
}

// typeDef is a type: its own properties, and its base type.
type typeDef struct {
	base string
	Syntax
}

// parser parses one file. After the first error it is at the end.
type parser struct {
	tokens tokens
	tok    token // current token
	file   string
	err    error
}

// parse parses the modules of a file.
func parse(file, text string) (all []*module, err error) {
	r := &parser{tokens: tokens{rest: text, line: 1}, file: file}
	r.step()
	for r.tok.kind != endToken {
		all = append(all, r.module())
	}
	if r.err == nil && len(all) == 0 {
		r.expect("a module, such as ACME-MIB DEFINITIONS ::= BEGIN")
	}
	return all, r.err
}

func (r *parser) step() token {
	was := r.tok
	if r.err == nil {
		r.tok = r.tokens.next()
	}
	return was
}

// expect records an error: something else was expected.
func (r *parser) expect(what string) {
	if r.err != nil {
		return
	}
	found := "the end of the file"
	if r.tok.kind != endToken {
		found = fmt.Sprintf("%.40q", r.tok.text)
	}
	r.err = fmt.Errorf("%s:%d: expected %s, found %s", r.file, r.tok.line, what, found)
	r.tok = token{line: r.tok.line}
}

func (r *parser) is(text string) bool {
	return r.tok.text == text && r.tok.kind != stringToken && r.tok.kind != endToken
}

// accept skips a word if it is there; need requires it.
func (r *parser) accept(text string) bool {
	if r.is(text) {
		r.step()
		return true
	}
	return false
}

func (r *parser) need(text string) {
	if !r.accept(text) {
		r.expect(text)
	}
}

func (r *parser) word(what string) string {
	if r.tok.kind != wordToken {
		r.expect(what)
	}
	return r.step().text
}

func (r *parser) module() *module {
	m := &module{file: r.file, imports: map[string]string{}, values: map[string]*value{}, types: map[string]*typeDef{}}
	m.name = r.word("the name of a module")
	if r.is("{") {
		r.braces()
	}
	r.need("DEFINITIONS")
	for r.tok.kind == wordToken && !r.is("BEGIN") { // IMPLICIT TAGS and the like
		r.step()
	}
	r.need("::=")
	r.need("BEGIN")
	for r.tok.kind != endToken && !r.is("END") {
		switch {
		case r.accept("IMPORTS"):
			r.importList(m)
		case r.accept("EXPORTS"):
			r.until(";")
			r.need(";")
		default:
			r.statement(m)
		}
	}
	r.need("END")
	return m
}

// importList parses a, b FROM M c FROM N;
func (r *parser) importList(m *module) {
	var list []string
	for r.tok.kind != endToken && !r.is(";") {
		switch {
		case r.accept("FROM"):
			from := r.word("the name of a module")
			for _, name := range list {
				m.imports[name] = from
			}
			list = nil
			if r.is("{") {
				r.braces()
			}
		case r.accept(","):
		default:
			list = append(list, r.word("a name, FROM or ;"))
		}
	}
	r.need(";")
}

// braces skips to the closing brace.
func (r *parser) braces() {
	r.need("{")
	for depth := 1; depth > 0 && r.tok.kind != endToken; r.step() {
		if r.is("{") {
			depth++
		} else if r.is("}") {
			depth--
		}
	}
}

// until skips to a word outside braces.
func (r *parser) until(text string) {
	for r.tok.kind != endToken && !r.is(text) {
		if r.is("{") {
			r.braces()
		} else {
			r.step()
		}
	}
}

var macros = []string{
	"OBJECT-TYPE", "MODULE-IDENTITY", "OBJECT-IDENTITY", "NOTIFICATION-TYPE", "TRAP-TYPE", "OBJECT-GROUP", "NOTIFICATION-GROUP",
	"MODULE-COMPLIANCE", "AGENT-CAPABILITIES",
}

// statement parses one definition.
func (r *parser) statement(m *module) {
	line := r.tok.line
	name := r.word("a definition or END")
	switch {
	case r.accept("MACRO"):
		r.until("END")
		r.need("END")
	case r.accept("::="):
		m.types[name] = r.typeOf()
	case r.accept("OBJECT"):
		r.need("IDENTIFIER")
		r.need("::=")
		v := &value{name: name, line: line}
		r.identifier(v)
		m.values[name] = v
	case slices.Contains(macros, r.tok.text):
		m.values[name] = r.macro(&value{name: name, line: line})
	default:
		r.expect("::=, OBJECT IDENTIFIER or OBJECT-TYPE and the like after " + name)
	}
}

// macro parses the clauses of OBJECT-TYPE and similar macros, of which few matter.
func (r *parser) macro(v *value) *value {
	macro := r.step().text
	switch macro {
	case "OBJECT-TYPE":
		v.kind = objectNode
	case "NOTIFICATION-TYPE", "TRAP-TYPE":
		v.kind = trapNode
	}
	for r.tok.kind != endToken && !r.is("::=") {
		switch {
		case macro == "OBJECT-TYPE" && v.typ == nil && r.accept("SYNTAX"):
			v.typ = r.typeOf()
		case macro == "TRAP-TYPE" && r.accept("ENTERPRISE"):
			inner := r.accept("{") // some authors write it as a value
			v.parent = r.word("the enterprise of the trap")
			if inner {
				r.need("}")
			}
		case r.is("{"):
			r.braces()
		default:
			r.step()
		}
	}
	r.need("::=")
	if macro != "TRAP-TYPE" {
		r.identifier(v)
		return v
	}
	if v.v1 = true; v.parent == "" {
		r.expect("ENTERPRISE in the TRAP-TYPE " + v.name)
	}
	v.arcs = []uint32{r.arc()}
	return v
}

const maxArcs = 128 // of an object identifier

// identifier parses { parent 1 }, { iso org(3) 6 } and so on.
func (r *parser) identifier(v *value) {
	r.need("{")
	if r.tok.kind == wordToken {
		v.parent = r.step().text
		if r.is("(") { // the number of a root is known
			r.step()
			r.arc()
			r.need(")")
		}
	}
	for r.tok.kind != endToken && !r.is("}") {
		if r.tok.kind == wordToken {
			r.step()
			r.need("(")
			v.arcs = append(v.arcs, r.arc())
			r.need(")")
		} else {
			v.arcs = append(v.arcs, r.arc())
		}
		if len(v.arcs) > maxArcs {
			r.expect("an object identifier of 128 numbers at most")
		}
	}
	r.need("}")
}

func (r *parser) arc() uint32 {
	n, err := strconv.ParseUint(r.tok.text, 10, 32)
	if r.tok.kind != numberToken || err != nil {
		r.expect("a number from 0 to 4294967295")
	}
	r.step()
	return uint32(n)
}

// typeOf parses a type, with the clauses of TEXTUAL-CONVENTION.
func (r *parser) typeOf() *typeDef {
	t := &typeDef{}
	if r.accept("TEXTUAL-CONVENTION") {
		for r.tok.kind != endToken && !r.is("SYNTAX") {
			if r.accept("DISPLAY-HINT") && r.tok.kind == stringToken {
				t.Hint = r.tok.text
			}
			r.step()
		}
		r.need("SYNTAX")
	}
	if r.accept("[") { // [APPLICATION 1] IMPLICIT
		r.until("]")
		r.need("]")
	}
	if !r.accept("IMPLICIT") {
		r.accept("EXPLICIT")
	}
	t.base = r.word("a type")
	switch t.base {
	case "OCTET":
		r.need("STRING")
	case "OBJECT":
		r.need("IDENTIFIER")
	case "SEQUENCE", "CHOICE":
		if r.accept("OF") {
			r.word("the type of an entry")
		}
	}
	if r.is("{") {
		r.named(t)
	}
	if r.is("(") {
		r.constraint()
	}
	return t
}

// named parses up(1), down(2). The braces of a SEQUENCE are skipped.
func (r *parser) named(t *typeDef) {
	if t.base == "SEQUENCE" || t.base == "CHOICE" {
		r.braces()
		return
	}
	r.need("{")
	t.Enum, t.Bits = map[int64]string{}, t.base == "BITS"
	for r.tok.kind != endToken && !r.is("}") {
		name := r.word("a name with its number, such as up(1)")
		r.need("(")
		n, err := strconv.ParseInt(r.tok.text, 10, 64)
		if r.tok.kind != numberToken || err != nil {
			r.expect("the number of " + name)
		}
		r.step()
		r.need(")")
		t.Enum[n] = name
		if !r.is("}") {
			r.accept(",") // often missing
		}
	}
	r.need("}")
}

// constraint skips (0..255), (SIZE (0..32)) and so on.
func (r *parser) constraint() {
	r.need("(")
	for depth := 1; depth > 0 && r.tok.kind != endToken; r.step() {
		if r.is("(") {
			depth++
		} else if r.is(")") {
			depth--
		}
	}
}
