package rowfmt

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"belfry"
)

// Fault is the error in one row; the reader continues with the next one. The message is built on demand, before the next row is
// read, because of a body full of bad rows only the first few are ever shown.
type Fault struct {
	problem
	field  int    // of CSV
	number int    // the offending byte, the limit, or the line on which the quote opens
	other  int    // the line on which it might have closed, or the byte behind the closing quote
	column []byte // of an object
	at     int    // place in an object, counted in bytes
	want   string
	found  []byte // the text there, and maybe more
	err    error  // why there is no such column
}

type problem uint8

// Problems of CSV rows.
const (
	notUTF8 problem = iota
	tooManyFields
	tooLong
	unclosedInRow
	unclosedInBody
	closedElsewhere
	textAfterQuote
	bareQuote
	beyondHeader
)

// Problems of objects.
const (
	badSyntax problem = 100 + iota
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

func (e Fault) Error() string { return e.Refuse().Message }

// Refuse returns the error for the report.
func (e Fault) Refuse() *belfry.RowError {
	if e.problem < badSyntax {
		return &belfry.RowError{Code: belfry.BadRow, Message: e.csvMessage()}
	}
	bad := &belfry.RowError{Column: belfry.Clip(e.column), Code: belfry.BadRow}
	if e.problem == badKind {
		bad.Code = belfry.BadValue
	}
	if bad.Message = e.jsonMessage(); e.hasPlace() {
		bad.Message = fmt.Sprintf("byte %d of the row: %s", e.at+1, bad.Message)
	}
	return bad
}

// TooLong reports whether the row is longer than the reader allows. The rest of its line has not been read yet then.
func (e Fault) TooLong() bool { return e.problem == tooLong }

// AfterQuote returns the byte behind the closing quote of a field that continues there; 0 if that is not what is wrong.
func (e Fault) AfterQuote() byte {
	if e.problem != textAfterQuote {
		return 0
	}
	return byte(e.other)
}

func (e Fault) csvMessage() string {
	const remedy = `close it, and write "" for a quote inside a quoted field`
	switch e.problem {
	case notUTF8:
		return fmt.Sprintf("field %d is not valid UTF-8 at its byte 0x%02x; send the body in UTF-8", e.field, e.number)
	case tooManyFields:
		return fmt.Sprintf("the row has more than %d fields", maxFields)
	case tooLong:
		return fmt.Sprintf("the row is longer than the limit of %d bytes; split it or shorten its texts", e.number)
	case unclosedInRow:
		return fmt.Sprintf("the quote that opens field %d is not closed within the limit of a row, %d bytes; %s", e.field, e.number, remedy)
	case unclosedInBody:
		return fmt.Sprintf("the quote that opens field %d is not closed before the end of the body; %s", e.field, remedy)
	case closedElsewhere:
		return fmt.Sprintf("the quote that opens field %d on line %d is not closed there, and the next single quote, on line %d, "+
			"does not end a field; %s", e.field, e.number, e.other, remedy)
	case textAfterQuote:
		return fmt.Sprintf(`field %d continues after its closing quote; write "" for a quote inside a quoted field`, e.field)
	case bareQuote:
		return fmt.Sprintf(`field %d has a quote inside but does not begin with one; write the field as "…" with "" for `+
			"each quote inside", e.field)
	case beyondHeader:
		return fmt.Sprintf("the row has %d fields, the header %d columns, and field %d holds %q; quote commas inside a value",
			e.field, e.number, e.field, belfry.Clip(e.found))
	}
	panic("a row error of no known kind")
}

func (e Fault) hasPlace() bool {
	switch e.problem {
	case notObject, unknownKey, keyTwice, tooManyKeys, badKind:
		return false
	}
	return true
}

func (e Fault) jsonMessage() string {
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
		return e.err.Error()
	case keyTwice:
		return fmt.Sprintf("the object names the column %q twice; name it once", belfry.Clip(e.column))
	case tooManyKeys:
		return fmt.Sprintf("the object names more than %d columns", e.number)
	case badKind:
		return fmt.Sprintf("%s takes a string, a number or null, got %s", e.column, kindOf(e.found))
	case badText:
		return fmt.Sprintf("the text is not valid UTF-8 at its byte 0x%02x; send the body in UTF-8", e.found[0])
	case controlInText:
		return fmt.Sprintf(`the control character 0x%02x is not allowed in a string; write it as \u%04x, or close the string before it`, e.found[0], e.found[0])
	case unclosedText:
		return "the string that begins here is not closed in the row"
	case badEscape:
		return fmt.Sprintf("%s is no escape of JSON; write \\\\ for a backslash", shownEscape(e.found))
	case loneSurrogate:
		return fmt.Sprintf("%s is one half of a character without the other; send the character itself in UTF-8", e.found)
	}
	panic("a fault of no known kind")
}

func (e Fault) notObject() string {
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

// badUTF8 finds the first byte of the row that is not UTF-8.
func badUTF8(fields [][]byte) Fault {
	for i, f := range fields {
		for len(f) > 0 {
			r, n := utf8.DecodeRune(f)
			if r == utf8.RuneError && n == 1 {
				return Fault{problem: notUTF8, field: i + 1, number: int(f[0])}
			}
			f = f[n:]
		}
	}
	panic("a row is invalid though its fields are valid") // commas and quotes between them are ASCII
}
