package ingest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unicode/utf8"

	"belfry"
)

// csvReader splits a CSV body into rows without ever holding more of it than one row and a read buffer.
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
//   - NUL and other control characters are data; who gives a field its meaning refuses them.
//
// The time spent is linear in the body, also for hostile bodies: a quote that fails to close makes lines be read
// twice, but no line can lie inside two such quotes, as one of them would have closed the other.
type csvReader struct {
	r      io.Reader
	err    error // what r ended with; nil while there may be more
	maxRow int
	begun  bool
	skip   bool // the unread input starts inside a line that is to be dropped
	line   int  // physical line at which the unread input starts

	buf        []byte
	start, end int // the unread input is buf[start:end]

	fields [][]byte
	spans  []span
}

// span is a field of a row with quotes, as offsets from the start of the row.
type span struct {
	from, to int
	escaped  bool // has doubled quotes in it
}

const (
	firstBuffer = 16 << 10 // enough for the small bodies of single senders
	fullBuffer  = 256 << 10
	// maxFields bounds what a row of commas can cost: a field takes 24 bytes where its comma took one.
	maxFields = 1 << 16
)

// newCSVReader reads from r rows of at most maxRow bytes, line end not counted.
func newCSVReader(r io.Reader, maxRow int) *csvReader {
	c := &csvReader{maxRow: maxRow}
	c.reset(r)
	return c
}

// reset makes the reader start afresh on another body, keeping its buffers.
func (c *csvReader) reset(r io.Reader) {
	c.r, c.err, c.begun, c.skip, c.line = r, nil, false, false, 1
	c.start, c.end = 0, 0
}

// next gives the next record and the physical line on which it starts, counted from 1. The fields point into the
// reader's buffer and are valid until the following call.
//
// After a rowError the following call goes on with the row after it. io.EOF ends the body. Any other error means that
// the body broke off or is no CSV at all; rows that had arrived whole have been given before, and a row that was still
// missing its line end is not given, since nothing tells whether it was whole.
func (c *csvReader) next() (fields [][]byte, line int, err error) {
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
			return nil, line, rowError{problem: tooManyFields}
		}
		if !ascii && !utf8.Valid(row) {
			return nil, line, badUTF8(c.fields)
		}
		return c.fields, line, nil
	}
}

// begin looks at the first bytes: a UTF-8 byte order mark is dropped, UTF-16 is refused as a whole, since every one of
// its rows would be.
func (c *csvReader) begin() {
	c.begun = true
	for c.end-c.start < 3 && c.err == nil {
		c.fill()
	}
	b := c.buf[c.start:c.end]
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		c.start += 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")),
		len(b) >= 2 && (b[0] == 0) != (b[1] == 0):
		c.start = c.end
		c.err = belfry.Errorf(belfry.BadCSV, "the body is UTF-16 (it begins with the bytes % x); send it as UTF-8, "+
			`which spreadsheets offer as "CSV UTF-8"`, b[:2])
	}
}

// fill reads more input behind the unread part, or sets err.
func (c *csvReader) fill() {
	if c.end == len(c.buf) {
		c.makeRoom()
	}
	for range 100 {
		n, err := c.r.Read(c.buf[c.end:])
		c.end += n
		c.err = err
		if n > 0 || err != nil {
			return
		}
	}
	c.err = io.ErrNoProgress
}

// makeRoom moves the unread part to the front of the buffer, and of a larger buffer when that leaves little room. The
// largest holds any row with its line end and more, so no row within the limit is ever too large for it.
func (c *csvReader) makeRoom() {
	to := c.buf
	largest := max(fullBuffer, c.maxRow+4<<10)
	if len(to) < fullBuffer || c.start < len(to)/2 && len(to) < largest {
		to = make([]byte, min(max(4*len(to), firstBuffer), largest))
	}
	c.end = copy(to, c.buf[c.start:c.end])
	c.start, c.buf = 0, to
}

// consume marks n bytes and so many physical lines as read.
func (c *csvReader) consume(n, lines int) {
	c.start += n
	c.line += lines
}

// lineEnd finds, as offsets from the start of the row, where the text of a physical line ends and where the line after
// it begins; from is any place in that line. At the end of the body both are where the input ends. When the row gets too
// long, the rest of the line is to be skipped.
func (c *csvReader) lineEnd(from int) (end, next int, err error) {
	seen := from
	for {
		b := c.buf[c.start:c.end]
		i := bytes.IndexByte(b[seen:], '\n')
		if i < 0 && c.err != io.EOF {
			seen = len(b)
			if seen > c.maxRow+1 {
				c.skip = true
				return from, from, rowError{problem: tooLong, number: c.maxRow}
			}
			if c.err != nil {
				return 0, 0, c.err
			}
			c.fill()
			continue
		}
		end, next = len(b), len(b)
		if i >= 0 {
			end, next = seen+i, seen+i+1
		}
		if end > from && b[end-1] == '\r' {
			end--
		}
		if end > c.maxRow {
			c.skip = true
			return from, from, rowError{problem: tooLong, number: c.maxRow}
		}
		return end, next, nil
	}
}

// skipLine drops what is left of a physical line that is too long, and tells whether it has an end. Quotes have no
// meaning to it: one left open must not take the rest of the body along.
func (c *csvReader) skipLine() bool {
	for {
		if i := bytes.IndexByte(c.buf[c.start:c.end], '\n'); i >= 0 {
			c.skip = false
			c.consume(i+1, 1)
			return true
		}
		c.start = c.end
		if c.err != nil {
			return false
		}
		c.fill()
	}
}

const (
	ones   = 0x0101010101010101
	sevens = 0x7f * ones
	highs  = 0x80 * ones
	commas = ',' * ones
	quotes = '"' * ones
)

// split cuts a row without quotes into fields, eight bytes at a time, and tells on the way whether it has quotes (then
// the fields mean nothing) and whether it is pure ASCII.
func (c *csvReader) split(row []byte) (quoted, ascii bool) {
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
func (c *csvReader) quotedRow(end, next int) error {
	c.spans = c.spans[:0]
	at := place{end, next, 1}
	for pos := 0; ; pos++ {
		var err error
		switch {
		case len(c.spans) >= maxFields:
			err = rowError{problem: tooManyFields}
		case pos < at.end && c.buf[c.start+pos] == '"':
			pos, at, err = c.quotedField(pos, at)
		default:
			pos, err = c.plainField(pos, at.end)
		}
		if _, bad := err.(rowError); bad {
			// Reading goes on after the line on which the offending field begins.
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

// plainField adds the field without quotes at pos and gives the place behind it.
func (c *csvReader) plainField(pos, end int) (stop int, err error) {
	text := c.buf[c.start+pos : c.start+end]
	if i := bytes.IndexByte(text, ','); i >= 0 {
		text = text[:i]
	}
	if bytes.IndexByte(text, '"') >= 0 {
		return pos, rowError{problem: bareQuote, field: len(c.spans) + 1}
	}
	c.spans = append(c.spans, span{pos, pos + len(text), false})
	return pos + len(text), nil
}

// quotedField adds the field that opens with a quote at pos and gives the place behind it, which may be some lines
// further on.
func (c *csvReader) quotedField(pos int, opened place) (stop int, at place, err error) {
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
		line := c.line + opened.lines - 1
		bad := rowError{problem: textAfterQuote, field: len(c.spans) + 1, number: line, other: line + inside}
		if inside > 0 {
			bad.problem = closedElsewhere
		}
		return pos, opened, bad
	}
	c.spans = append(c.spans, span{pos + 1, closing, escaped})
	return stop, at, nil
}

// closingQuote finds the quote that ends the field whose text starts at from.
func (c *csvReader) closingQuote(from int) (closing int, escaped bool, err error) {
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
			return 0, false, rowError{problem: unclosedInRow, field: len(c.spans) + 1, number: c.maxRow}
		case c.err == io.EOF:
			return 0, false, rowError{problem: unclosedInBody, field: len(c.spans) + 1}
		case c.err != nil:
			return 0, false, c.err
		}
		c.fill()
	}
}

// finishQuoted makes fields from spans. Doubled quotes are undone in place, which only now does no harm: while the row
// could still turn out to be broken, its text might have had to be read again.
func (c *csvReader) finishQuoted(at place) error {
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

// looksSemicolon tells whether a header was written with semicolons, as spreadsheets do where the comma is the decimal
// sign.
func looksSemicolon(header [][]byte) bool {
	return len(header) == 1 && bytes.IndexByte(header[0], ';') >= 0
}

// rowError says why one row cannot be read. The rows around it are not concerned. Its text is made when asked for: of a
// body full of bad rows only the first few are ever shown.
type rowError struct {
	problem
	field  int
	number int // the offending byte, the limit, or the line on which the quote opens
	other  int // the line on which it might have closed
}

type problem uint8

const (
	notUTF8 problem = iota
	tooManyFields
	tooLong
	unclosedInRow
	unclosedInBody
	closedElsewhere
	textAfterQuote
	bareQuote
)

func (e rowError) Error() string {
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
		return fmt.Sprintf(`field %d goes on after its closing quote; write "" for a quote inside a quoted field`, e.field)
	case bareQuote:
		return fmt.Sprintf(`field %d has a quote inside but does not begin with one; write the field as "…" with "" for `+
			"each quote inside", e.field)
	}
	panic("a row error of no known kind")
}

// badUTF8 finds the first byte of the row that is not UTF-8.
func badUTF8(fields [][]byte) rowError {
	for i, f := range fields {
		for len(f) > 0 {
			r, n := utf8.DecodeRune(f)
			if r == utf8.RuneError && n == 1 {
				return rowError{problem: notUTF8, field: i + 1, number: int(f[0])}
			}
			f = f[n:]
		}
	}
	panic("a row is invalid though its fields are valid") // commas and quotes between them are ASCII
}
