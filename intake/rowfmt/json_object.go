package rowfmt

import (
	"bytes"
	"unicode/utf8"
)

// objectParser reads one flat object at a time into fields under its columns: a string without its escapes, a number as it
// is written, null as an empty field. It takes what RFC 8259 allows and no more, and of that refuses what cannot be a
// row: values with a structure, truth values, a column named twice, text that is not Unicode.
type objectParser struct {
	add    func(name string) error // adds a column after those so far; an error says that there is no such column
	names  []string                // of the columns so far
	limit  int                     // number of columns an object may name
	advice string                  // for whoever sends an array as a row

	known  map[string]*knownKey // by how they were written
	last   []*knownKey          // those of the object before, which are likely to recur in the same order
	fields [][]byte
	used   int    // fields of the object at hand, up to its last one that is not empty
	keys   int    // of the object at hand
	marks  []int  // by field: the object that set it last
	object int    // counts objects
	text   []byte // strings of the object at hand that had escapes in them
}

// knownKey is a way to write the name of a column.
type knownKey struct {
	text   string
	column int
}

func newObjectParser(add func(name string) error, limit int) objectParser {
	return objectParser{add: add, limit: limit, known: map[string]*knownKey{}}
}

// Of keys as they were written, so many are remembered, and none that is longer. Others are looked at again each time.
const (
	maxKnown = 1000
	maxKey   = 64
)

// parseAll reads an object that must be all there is in b.
func (p *objectParser) parseAll(b []byte) ([][]byte, error) {
	n, err := p.parse(b)
	if err != nil {
		return nil, err
	}
	if n = skipBlanks(b, n); n < len(b) {
		return nil, unexpected(b, n, "nothing behind the object, which ends the row")
	}
	return p.row(), nil
}

// row returns the fields of the object that was parsed, valid until the next one is.
func (p *objectParser) row() [][]byte { return p.fields[:p.used] }

// parse reads the object at the start of b and says how long it is. The fault it finds is a Fault.
func (p *objectParser) parse(b []byte) (n int, err error) {
	clear(p.fields[:p.used])
	p.used, p.keys, p.text = 0, 0, p.text[:0]
	p.object++
	at := skipBlanks(b, 0)
	if at == len(b) || b[at] != '{' {
		return at, Fault{problem: notObject, found: b[at:], want: p.advice}
	}
	if at = skipBlanks(b, at+1); at < len(b) && b[at] == '}' {
		return at + 1, nil
	}
	for {
		if at, err = p.member(b, at); err != nil {
			return at, err
		}
		at = skipBlanks(b, at)
		if at < len(b) && b[at] == '}' {
			return at + 1, nil
		}
		if at == len(b) || b[at] != ',' {
			return at, unexpected(b, at, `"," or "}" after a value`)
		}
		at = skipBlanks(b, at+1)
	}
}

// member reads a column name and its value at b[at:] and returns the position after them.
func (p *objectParser) member(b []byte, at int) (int, error) {
	if at == len(b) || b[at] != '"' {
		return at, unexpected(b, at, "the name of a column in quotes")
	}
	key, at, bad := p.string(b, at)
	if bad != nil {
		return at, *bad
	}
	column, err := p.column(key)
	if err != nil {
		return at, err
	}
	at = skipBlanks(b, at)
	if at == len(b) || b[at] != ':' {
		return at, unexpected(b, at, `":" after the name of a column`)
	}
	value, at, bad := p.value(b, skipBlanks(b, at+1))
	if bad != nil {
		bad.column = []byte(p.names[column])
		return at, *bad
	}
	if len(value) > 0 {
		p.fields[column] = value
		p.used = max(p.used, column+1)
	}
	return at, nil
}

// column finds the place of a column and checks that the object has not named it before.
func (p *objectParser) column(key []byte) (int, error) {
	k, err := p.find(key)
	if err != nil {
		return 0, Fault{problem: unknownKey, column: key, err: err}
	}
	if p.marks[k.column] == p.object {
		return 0, Fault{problem: keyTwice, column: []byte(p.names[k.column])}
	}
	p.marks[k.column] = p.object
	if p.keys++; p.keys > p.limit {
		return 0, Fault{problem: tooManyKeys, number: p.limit}
	}
	return k.column, nil
}

// find returns the meaning of the next key of an object.
func (p *objectParser) find(key []byte) (k *knownKey, err error) {
	if p.keys < len(p.last) && p.last[p.keys].text == string(key) {
		return p.last[p.keys], nil
	}
	if k = p.known[string(key)]; k == nil {
		if k, err = p.learn(key); err != nil {
			return nil, err
		}
	}
	if p.keys < len(p.last) {
		p.last[p.keys] = k
	} else {
		p.last = append(p.last, k)
	}
	return k, nil
}

// learn finds the place of a key that has not been written so before. A column that is new is put behind the others.
func (p *objectParser) learn(key []byte) (*knownKey, error) {
	name := ColumnName(key)
	k := p.known[name]
	if k == nil {
		if err := p.add(name); err != nil {
			return nil, err
		}
		k = &knownKey{name, len(p.names)}
		p.names = append(p.names, name)
		p.fields, p.marks = append(p.fields, nil), append(p.marks, 0)
		p.known[name] = k // there are not many names, so these are always remembered
	}
	if name == string(key) {
		return k, nil
	}
	k = &knownKey{string(key), k.column}
	if len(p.known) < maxKnown && len(key) <= maxKey {
		p.known[k.text] = k
	}
	return k, nil
}

// value reads a value at b[at:] and returns the position after it.
func (p *objectParser) value(b []byte, at int) (value []byte, end int, bad *Fault) {
	if at == len(b) {
		return nil, at, &Fault{problem: badSyntax, at: at, want: "a value"}
	}
	switch c := b[at]; {
	case c == '"':
		return p.string(b, at)
	case c == '-' || isDigit(c):
		if end = numberEnd(b, at); end < 0 {
			return nil, at, &Fault{problem: badNumber, at: at, found: b[at:]}
		}
		return b[at:end:end], end, nil
	case c == '{' || c == '[':
		return nil, at, &Fault{problem: badKind, found: b[at : at+1]}
	}
	for _, word := range []string{"null", "true", "false"} {
		if bytes.HasPrefix(b[at:], []byte(word)) {
			if word != "null" {
				return nil, at, &Fault{problem: badKind, found: b[at : at+len(word)]}
			}
			return nil, at + len(word), nil
		}
	}
	return nil, at, &Fault{problem: badSyntax, at: at, want: "a string, a number or null", found: b[at:]}
}

// numberEnd finds the end of the number at b[at:]; -1 when it is not written as JSON wants it.
func numberEnd(b []byte, at int) int {
	if b[at] == '-' {
		at++
	}
	first := at
	if at = digitsEnd(b, at); at == first || b[first] == '0' && at > first+1 {
		return -1
	}
	if at < len(b) && b[at] == '.' {
		first = at + 1
		if at = digitsEnd(b, first); at == first {
			return -1
		}
	}
	if at < len(b) && (b[at] == 'e' || b[at] == 'E') {
		at++
		if at < len(b) && (b[at] == '+' || b[at] == '-') {
			at++
		}
		first = at
		if at = digitsEnd(b, first); at == first {
			return -1
		}
	}
	return at
}

func digitsEnd(b []byte, at int) int {
	for at < len(b) && isDigit(b[at]) {
		at++
	}
	return at
}

// skipBlanks returns the first place from at on that is no blank.
func skipBlanks(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\r' || b[at] == '\t') {
		at++
	}
	return at
}

func unexpected(b []byte, at int, want string) Fault {
	return Fault{problem: badSyntax, at: at, want: want, found: b[at:]}
}

// firstInvalid finds the first byte that is not UTF-8.
func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
