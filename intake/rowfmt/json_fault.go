package rowfmt

import (
	"bytes"
	"fmt"

	"belfry"
)

// jsonFault says why an object cannot be a row. What it shows of the body must be asked for before the next row is read.
type jsonFault struct {
	problem jsonProblem
	column  []byte
	at      int // place in the row, counted in bytes
	want    string
	found   []byte // the text there, and maybe more
	number  int    // the limit
	columns Columns
}

type jsonProblem uint8

const (
	badSyntax jsonProblem = iota
	badNumber
	notObject
	unknownKey
	keyTwice
	tooManyKeys
	badKind
	badText
	controlInText
	unclosedText
	badEscape
	loneSurrogate
)

func (e jsonFault) Error() string { return e.Refuse().Message }

func (e jsonFault) Refuse() *belfry.RowError {
	bad := &belfry.RowError{Column: belfry.Clip(e.column), Code: belfry.BadRow}
	if e.problem == badKind {
		bad.Code = belfry.BadValue
	}
	if bad.Message = e.message(); e.hasPlace() {
		bad.Message = fmt.Sprintf("byte %d of the row: %s", e.at+1, bad.Message)
	}
	return bad
}

func (e jsonFault) hasPlace() bool {
	switch e.problem {
	case notObject, unknownKey, keyTwice, tooManyKeys, badKind:
		return false
	}
	return true
}

func (e jsonFault) message() string {
	switch e.problem {
	case badSyntax:
		return fmt.Sprintf("expected %s, found %s", e.want, shown(e.found))
	case badNumber:
		n := bytes.IndexAny(e.found, ",}] \t\r\n")
		if n < 0 {
			n = len(e.found)
		}
		return fmt.Sprintf("%q is no number of JSON; write it as -12.5e3, or as a string", belfry.Clip(e.found[:n]))
	case notObject:
		return e.notObject()
	case unknownKey:
		return e.columns.Unknown(ColumnName(e.column))
	case keyTwice:
		return fmt.Sprintf("the object names the column %q twice; name it once", belfry.Clip(e.column))
	case tooManyKeys:
		return fmt.Sprintf("the object names more than %d columns", e.number)
	case badKind:
		return fmt.Sprintf("%s takes a string, a number or null, got %s", e.column, kindOf(e.found))
	case badText:
		return fmt.Sprintf("the text is not valid UTF-8 at its byte 0x%02x; send the body in UTF-8", e.found[0])
	case controlInText:
		return fmt.Sprintf(`the control character 0x%02x stands in a string; write it as \u%04x, or close the string before it`, e.found[0], e.found[0])
	case unclosedText:
		return "the string that begins here is not closed in the row"
	case badEscape:
		return fmt.Sprintf("%s is no escape of JSON; write \\\\ for a backslash", shownEscape(e.found))
	case loneSurrogate:
		return fmt.Sprintf("%s is one half of a character without the other; send the character itself in UTF-8", e.found)
	}
	panic("a fault of no known kind")
}

func (e jsonFault) notObject() string {
	what := kindOf(e.found)
	if what == "an array" {
		return "the row is an array, and each row must be an object" + e.want
	}
	return "the row is " + what + ", and each row must be an object, for example " + jsonExample[1:len(jsonExample)-1]
}

// kindOf names what a value is, seen from its first bytes.
func kindOf(b []byte) string {
	if len(b) == 0 {
		return "empty"
	}
	switch c := b[0]; {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == '-' || isDigit(c):
		return "a number"
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return word
		}
	}
	return "no JSON (it begins with " + shown(b) + ")"
}

// shownEscape returns an escape as it was written, without what would disturb a message.
func shownEscape(b []byte) string {
	for i, c := range b {
		if c < '!' || c > '~' {
			b = b[:i]
			break
		}
	}
	return string(b)
}
