package rowfmt

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"unicode/utf8"
)

// CSV splits a CSV body into rows without ever holding more of it than one row and a read buffer.
//
// A row that cannot be read must not spoil its neighbours, which is what encoding/csv cannot promise: there an unclosed
// quote swallows the rest of the body. Here a quoting error costs the physical line on which the offending field
// begins; whatever the stray quote seemed to enclose is read again from the next line on. Lines that a quoted field
// did enclose are therefore never handed out as rows of their own unless their field turned out to be broken.
//
// What RFC 4180 leaves open is settled so:
//   - a line of blanks and tabs only is a blank line, and skipped;
//   - a carriage return counts as part of the line end before a line feed or as the last byte of the body, elsewhere
//     it is data; line ends inside quotes are kept as they came;
//   - blanks around a field belong to it, so a quote after a blank is a bare one;
//   - NUL and other control characters are data; the code that interprets a field refuses them.
//
// The time spent is linear in the body, also for hostile bodies: a quote that fails to close makes lines be read
// twice, but no line can lie inside two such quotes, as one of them would have closed the other.
type CSV struct {
	window
	fields [][]byte
	spans  []span
}

// span is a field of a row with quotes, as offsets from the start of the row.
type span struct {
	from, to int
	escaped  bool // has doubled quotes in it
}

// maxFields bounds what a row of commas can cost: a field takes 24 bytes where its comma took one.
const maxFields = 1 << 16

// NewCSV reads from r rows of at most maxRow bytes, line end not counted.
func NewCSV(r io.Reader, maxRow int) *CSV {
	c := &CSV{window: window{maxRow: maxRow}}
	c.Reset(r)
	return c
}

// Next returns the next record and the physical line on which it starts, counted from 1. The fields point into the
// reader's buffer and are valid until the following call.
//
// After a Fault the following call continues with the row after it. io.EOF ends the body. Any other error means that
// the body broke off or is no CSV at all; rows that had arrived whole have been given before, and a row that was still
// missing its line end is dropped, since it may be incomplete.
func (c *CSV) Next() (fields [][]byte, line int, err error) {
	if !c.begun {
		c.begin()
	}
	if c.skip && !c.skipLine() {
		return nil, c.line, c.err
	}
	for {
		line = c.line
		end, next, err := c.lineEnd(0)
		if err != nil {
			return nil, line, err
		}
		if next == 0 {
			return nil, line, io.EOF
		}
		row := c.buf[c.start : c.start+end]
		if isBlank(row) {
			c.consume(next, 1)
			c.skipBlankLines()
			continue
		}
		quoted, ascii := c.split(row)
		if quoted {
			if err := c.quotedRow(end, next); err != nil {
				return nil, line, err
			}
			return c.fields, line, nil
		}
		c.consume(next, 1)
		if len(c.fields) > maxFields {
			return nil, line, Fault{problem: tooManyFields}
		}
		if !ascii && !utf8.Valid(row) {
			return nil, line, badUTF8(c.fields)
		}
		return c.fields, line, nil
	}
}

// NextOf is Next in a body whose header has so many columns: it returns a row without the empty fields that it may have beyond
// them. A row with others is a Fault.
func (c *CSV) NextOf(columns int) (fields [][]byte, line int, err error) {
	if fields, line, err = c.Next(); err != nil {
		return nil, line, err
	}
	for n := len(fields); n > columns; n-- {
		if extra := fields[n-1]; len(bytes.TrimSpace(extra)) > 0 {
			return nil, line, Fault{problem: beyondHeader, field: n, number: columns, found: extra}
		}
		fields = fields[:n-1]
	}
	return fields, line, nil
}

const (
	ones   = 0x0101010101010101
	sevens = 0x7f * ones
	highs  = 0x80 * ones
	commas = ',' * ones
	quotes = '"' * ones
)

// split cuts a row without quotes into fields, eight bytes at a time, and reports whether it has quotes (then
// the fields mean nothing) and whether it is pure ASCII.
func (c *CSV) split(row []byte) (quoted, ascii bool) {
	fields := c.fields[:0]
	var high, quote uint64
	from, i := 0, 0
	for ; i+8 <= len(row); i += 8 {
		w := binary.LittleEndian.Uint64(row[i:])
		high |= w
		q := w ^ quotes
		quote |= (q - ones) &^ q & highs // not zero if and only if q has a zero byte
		x := w ^ commas
		// The exact form: the shorter one above takes the minus in ",-" for a comma.
		for m := ^((x&sevens + sevens) | x | sevens); m != 0; m &= m - 1 {
			at := i + bits.TrailingZeros64(m)/8
			fields = append(fields, row[from:at:at])
			from = at + 1
		}
		if quote != 0 || len(fields) > maxFields {
			c.fields = fields
			return quote != 0, true
		}
	}
	for ; i < len(row); i++ {
		b := row[i]
		high |= uint64(b)
		switch b {
		case ',':
			fields = append(fields, row[from:i:i])
			from = i + 1
		case '"':
			quote = 1
		}
	}
	c.fields = append(fields, row[from:len(row):len(row)])
	return quote != 0, high&highs == 0
}

// place is where reading has got to within a row with quotes: a physical line, of which the text ends at end, the next
// one begins at next, and which is the lines-th of the row.
type place struct{ end, next, lines int }

// quotedRow reads a row whose first physical line ends at end, has a quote somewhere, and is followed at next.
func (c *CSV) quotedRow(end, next int) error {
	c.spans = c.spans[:0]
	at := place{end, next, 1}
	for pos := 0; ; pos++ {
		var err error
		switch {
		case len(c.spans) >= maxFields:
			err = Fault{problem: tooManyFields}
		case pos < at.end && c.buf[c.start+pos] == '"':
			pos, at, err = c.quotedField(pos, at)
		default:
			pos, err = c.plainField(pos, at.end)
		}
		if _, bad := err.(Fault); bad {
			// Reading continues after the line on which the offending field begins.
			c.consume(at.next, at.lines)
		}
		if err != nil {
			return err
		}
		if pos == at.end {
			return c.finishQuoted(at)
		}
	}
}

// plainField adds the field without quotes at pos and returns the position after it.
func (c *CSV) plainField(pos, end int) (stop int, err error) {
	text := c.buf[c.start+pos : c.start+end]
	if i := bytes.IndexByte(text, ','); i >= 0 {
		text = text[:i]
	}
	if bytes.IndexByte(text, '"') >= 0 {
		return pos, Fault{problem: bareQuote, field: len(c.spans) + 1}
	}
	c.spans = append(c.spans, span{pos, pos + len(text), false})
	return pos + len(text), nil
}

// quotedField adds the field that opens with a quote at pos and returns the position after it, which may be some lines
// further on.
func (c *CSV) quotedField(pos int, opened place) (stop int, at place, err error) {
	closing, escaped, err := c.closingQuote(pos + 1)
	if err != nil {
		return pos, opened, err
	}
	stop, at = closing+1, opened
	inside := bytes.Count(c.buf[c.start+pos:c.start+closing], []byte{'\n'})
	if inside > 0 {
		at.end, at.next, err = c.lineEnd(stop)
		if err != nil {
			at.lines += inside - 1 // the last line is counted when its rest has been skipped
			return pos, at, err
		}
		at.lines += inside
	}
	if stop < at.end && c.buf[c.start+stop] != ',' {
		bad := Fault{problem: textAfterQuote, field: len(c.spans) + 1, other: int(c.buf[c.start+stop])}
		if inside > 0 {
			line := c.line + opened.lines - 1
			bad.problem, bad.number, bad.other = closedElsewhere, line, line+inside
		}
		return pos, opened, bad
	}
	c.spans = append(c.spans, span{pos + 1, closing, escaped})
	return stop, at, nil
}

// closingQuote finds the quote that ends the field whose text starts at from.
func (c *CSV) closingQuote(from int) (closing int, escaped bool, err error) {
	for at := from; ; {
		b := c.buf[c.start:c.end]
		i := bytes.IndexByte(b[at:], '"')
		switch {
		case i < 0:
			at = len(b)
		case at+i+1 < len(b) && b[at+i+1] == '"':
			at += i + 2
			escaped = true
			continue
		case at+i < c.maxRow && (at+i+1 < len(b) || c.err == io.EOF):
			return at + i, escaped, nil
		default:
			at += i // the byte behind this quote has to be seen
		}
		switch {
		case at >= c.maxRow:
			return 0, false, Fault{problem: unclosedInRow, field: len(c.spans) + 1, number: c.maxRow}
		case c.err == io.EOF:
			return 0, false, Fault{problem: unclosedInBody, field: len(c.spans) + 1}
		case c.err != nil:
			return 0, false, c.err
		}
		c.fill()
	}
}

// finishQuoted makes fields from spans. Doubled quotes are undone in place, which only now does no harm: while the row
// could still turn out to be broken, its text might have had to be read again.
func (c *CSV) finishQuoted(at place) error {
	row := c.buf[c.start : c.start+at.end]
	valid := utf8.Valid(row)
	c.fields = c.fields[:0]
	for _, s := range c.spans {
		to := s.to
		if s.escaped {
			to = s.from + undouble(row[s.from:s.to])
		}
		c.fields = append(c.fields, row[s.from:to:to])
	}
	c.consume(at.next, at.lines)
	if !valid {
		return badUTF8(c.fields)
	}
	return nil
}

// undouble replaces each doubled quote by one and returns the new length.
func undouble(text []byte) int {
	to := 0
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			i++ // the second of the two
		}
		text[to] = text[i]
		to++
	}
	return to
}

func isBlank(row []byte) bool {
	for _, b := range row {
		if b != ' ' && b != '\t' {
			return false
		}
	}
	return true
}

// LooksSemicolon reports whether a header was written with semicolons, as spreadsheets do where the comma is the decimal
// sign.
func LooksSemicolon(header [][]byte) bool {
	return len(header) == 1 && bytes.IndexByte(header[0], ';') >= 0
}
