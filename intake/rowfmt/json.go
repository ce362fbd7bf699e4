package rowfmt

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"belfry"
)

// JSON returns the objects of a JSON array, or of a body with one object a line, as rows of CSV would be: fields
// under columns. These grow as objects name columns that none before them had. It never holds more of the body than one
// row and a read buffer.
//
// A row that cannot be read must not spoil its neighbours. With an object a line that is simple: the line feed ends a
// row, whatever is on the line, since a string cannot hold one. In an array the end of a bad element is found by its
// strings and brackets; where these do not match, or there is something between elements that should not be there, nothing shows
// where the next row begins, and the rest of the body is given up.
//
// The time spent is linear in the body: an element of an array is tried where it lies in the buffer, and looked at twice
// more only when that does not succeed.
type JSON struct {
	window
	objectParser
	passed int // bytes of its physical line before the unread input; kept for arrays alone
	state  arrayState
	broken error // why the array cannot be read any further
}

type arrayState uint8

const (
	beforeArray arrayState = iota
	beforeElement
	afterElement
	afterArray
)

// NewJSON returns a reader of rows of at most maxRow bytes, each an object that names at most limit columns. It calls add with
// the name of each column when it first appears; the error says why there is no such column.
func NewJSON(r io.Reader, f belfry.Format, add func(name string) error, maxRow, limit int) *JSON {
	j := &JSON{window: window{format: f, maxRow: maxRow}, objectParser: newObjectParser(add, limit)}
	if f == belfry.NDJSON {
		j.advice = "; one array of all rows goes with Content-Type: application/json"
	}
	j.Reset(r)
	return j
}

// Next returns the fields of the next row, valid until the following call, and the physical line on which it starts. Errors are those of
// CSV.Next.
func (j *JSON) Next() (fields [][]byte, line int, err error) {
	if !j.begun {
		j.begin()
	}
	if j.format == belfry.NDJSON {
		return j.nextLine()
	}
	if j.broken == nil {
		fields, line, err = j.nextElement()
		if _, row := err.(Fault); err == nil || row {
			return fields, line, err
		}
		j.broken = err
	}
	return nil, j.line, j.broken
}

// nextLine returns the object on the next line that is not blank. A last line without a line end counts when the body has
// ended well: an object that was cut off would not be whole.
func (j *JSON) nextLine() (fields [][]byte, line int, err error) {
	if j.skip && !j.skipLine() {
		return nil, j.line, j.err
	}
	for {
		line = j.line
		end, next, err := j.lineEnd(0)
		if err != nil {
			return nil, line, err
		}
		if next == 0 {
			return nil, line, io.EOF
		}
		row := j.buf[j.start : j.start+end]
		j.consume(next, 1)
		if skipBlanks(row, 0) == len(row) {
			j.skipBlankLines()
			continue
		}
		fields, err = j.parseAll(row)
		return fields, line, err
	}
}

// nextElement returns the next element of the array.
func (j *JSON) nextElement() (fields [][]byte, line int, err error) {
	if err := j.toElement(); err != nil {
		return nil, j.line, err
	}
	line = j.line
	j.state = afterElement
	size, bad := j.parse(j.buf[j.start:j.end])
	if bad == nil && size <= j.maxRow {
		j.advance(size)
		return j.row(), line, nil
	}
	// It is wrong, or has not arrived yet, or is too long.
	if size, err = j.elementEnd(); err != nil {
		return nil, line, err
	}
	fields, err = j.parseAll(j.buf[j.start : j.start+size])
	j.advance(size)
	return fields, line, err
}

// advance marks n bytes as read and counts the lines in them.
func (j *JSON) advance(n int) {
	read := j.buf[j.start : j.start+n]
	if last := bytes.LastIndexByte(read, '\n'); last >= 0 {
		j.line += bytes.Count(read, []byte{'\n'})
		j.passed = n - last - 1
	} else {
		j.passed += n
	}
	j.start += n
}

// toElement goes to the first byte of the next element. io.EOF means that the array and the body have ended.
func (j *JSON) toElement() error {
	switch j.state {
	case beforeArray:
		if err := j.openArray(); err != nil {
			return err
		}
	case afterElement:
		switch b, err := j.peek(); {
		case err != nil:
			return j.cut(err)
		case b == ']':
			return j.closeArray()
		case b != ',':
			return j.unexpected(`"," or "]" after a row`)
		}
		j.advance(1)
	}
	b, err := j.peek()
	switch {
	case err != nil:
		return j.cut(err)
	case b == ']' && j.state == beforeArray:
		return j.closeArray()
	case b == ']' || b == '}' || b == ',' || b == ':':
		return j.unexpected("an object")
	}
	return nil
}

func (j *JSON) openArray() error {
	b, err := j.peek()
	switch {
	case err == io.EOF:
		return belfry.Errorf(belfry.BadJSON, "the body is empty; send an array of objects, for example %s", jsonExample)
	case err != nil:
		return err
	case b == '{':
		return belfry.Errorf(belfry.BadJSON, "the body is an object, not an array; put it in [ ], as in %s, or send one object "+
			"a line as Content-Type: application/x-ndjson", jsonExample)
	case b != '[':
		return j.unexpected("an array of objects, for example " + jsonExample)
	}
	j.advance(1)
	return nil
}

const jsonExample = `[{"type":"data","object":"cpu","i1":12.5}]`

// closeArray reads what follows the array, which may only be blanks.
func (j *JSON) closeArray() error {
	j.advance(1)
	j.state = afterArray
	if _, err := j.peek(); err != nil {
		return err
	}
	return j.unexpected(`nothing behind the "]" that closes the array`)
}

// peek skips blanks and returns the byte after them.
func (j *JSON) peek() (byte, error) {
	for {
		b := j.buf[j.start:j.end]
		at := skipBlanks(b, 0)
		j.advance(at)
		if at < len(b) {
			return b[at], nil
		}
		if j.err != nil {
			return 0, j.err
		}
		j.fill()
	}
}

// cut is the error of an array that ends too soon.
func (j *JSON) cut(err error) error {
	if err != io.EOF {
		return err
	}
	return belfry.Errorf(belfry.BadJSON, `line %d, column %d: the body ends before its array does; expected more rows or "]"`, j.line, j.passed+1)
}

// unexpected is the error of a syntax that leaves unclear where the next row begins.
func (j *JSON) unexpected(want string) error {
	for j.err == nil && !utf8.FullRune(j.buf[j.start:j.end]) {
		j.fill()
	}
	return belfry.Errorf(belfry.BadJSON, "line %d, column %d: expected %s, found %s", j.line, j.passed+1, want, shown(j.buf[j.start:j.end]))
}

// shown returns the character at the start of b for a message.
func shown(b []byte) string {
	if len(b) == 0 {
		return "the end"
	}
	_, n := utf8.DecodeRune(b)
	return strconv.Quote(string(slices.Clone(b[:n])))
}
