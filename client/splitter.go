package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"belfry"
	"belfry/intake/rowfmt"
)

// MaxPart is the maximum size of a request, header included. It is far below the server's limit.
const MaxPart = 8 << 20

// splitter splits a CSV file into parts that are CSV files too: each has the header and ends at the end of a row. It finds rows
// with the server's reader, so both agree on damaged ones.
type splitter struct {
	csv *rowfmt.CSV
	raw bytes.Buffer // bytes read by csv from the current position
	max int          // maximum bytes of a part

	// Ends of the blank lines before the next row and of that row, from the start of raw. At the end of the file there is no row.
	blank, size int
	long        bool // the row is longer than max and was not read to its end

	bom         bool
	header      []byte // with its line end
	headerLines int
	line        int   // line of the file at the current position, from 1
	consumed    int64 // bytes of the file before the current position
}

// part is a part of a file, ready to be sent.
type part struct {
	number int // from 1
	body   []byte
	rows   []rowAt
	line   int // line of the file after which the rows begin
	header int // lines of the header
	last   bool
}

// rowAt is the position of a row: its bytes in the body, and its line in the file.
type rowAt struct {
	from, to int
	line     int
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// newSplitter reads the header. Without one, the file is a single empty part, which the server refuses.
func newSplitter(r io.Reader, limit int) (*splitter, error) {
	c := &splitter{line: 1, max: limit}
	c.csv = rowfmt.NewCSV(io.TeeReader(r, &c.raw), limit)
	blanks, header, err := c.peek()
	if err != nil {
		return nil, err
	}
	c.advance(len(blanks))
	if c.long {
		return nil, c.tooLong()
	}
	c.header = bytes.Clone(header)
	c.advance(len(header))
	if n := len(header); n > 0 && c.header[n-1] != '\n' {
		c.header = append(c.header, '\n')
	}
	c.headerLines = bytes.Count(c.header, []byte{'\n'})
	return c, nil
}

// next returns a part of at most rows rows. A file without rows is one part, so that the server checks its header. Blank lines
// belong to the row before them.
func (c *splitter) next(number, rows int) (*part, error) {
	p := &part{number: number, line: c.line, header: c.headerLines, body: bytes.Clone(c.header)}
	for {
		blanks, row, err := c.peek()
		if err != nil {
			return nil, err
		}
		fit := len(blanks)
		if room := max(0, c.max-len(p.body)); fit > room {
			fit = bytes.LastIndexByte(blanks[:room], '\n') + 1
		}
		p.body = append(p.body, blanks[:fit]...)
		c.advance(fit)
		switch {
		case fit == len(blanks) && len(row) == 0:
			p.last = true
			return p, nil
		case fit == len(blanks) && len(p.rows) < rows && !c.long && len(p.body)+len(row) <= c.max:
			p.rows = append(p.rows, rowAt{len(p.body), len(p.body) + len(row), c.line})
			p.body = append(p.body, row...)
			c.advance(len(row))
		case len(p.rows) == 0:
			return nil, c.tooLong()
		default:
			return p, nil
		}
	}
}

// each calls f for the remaining rows, with the line where each begins.
func (c *splitter) each(f func(line int, text []byte) error) error {
	for {
		blanks, row, err := c.peek()
		if err != nil || len(row) == 0 {
			return err
		}
		c.advance(len(blanks))
		if c.long {
			return c.tooLong()
		}
		if err := f(c.line, row); err != nil {
			return err
		}
		c.advance(len(row))
	}
}

func (c *splitter) tooLong() error {
	return fmt.Errorf("line %d: the row and the header together are longer than %d MiB, which is more than one request may carry; shorten the row",
		c.line, c.max>>20)
}

// peek returns the next row and the blank lines before it, without advancing. At the end of the file the row is empty.
func (c *splitter) peek() (blanks, row []byte, err error) {
	if c.size == 0 {
		if err := c.read(); err != nil {
			return nil, nil, err
		}
	}
	text := c.raw.Bytes()[:c.size]
	return text[:c.blank], text[c.blank:], nil
}

func (c *splitter) read() error {
	_, line, err := c.csv.Next()
	fault, damaged := errors.AsType[rowfmt.Fault](err)
	refused, _ := errors.AsType[*belfry.Error](err)
	switch {
	case refused != nil:
		return err // not CSV
	case err != nil && err != io.EOF && !damaged:
		return fmt.Errorf("read line %d: %w", line, err)
	}
	if c.consumed == 0 && bytes.HasPrefix(c.raw.Bytes(), byteOrderMark) {
		c.bom = true
		c.raw.Next(len(byteOrderMark))
		c.consumed += int64(len(byteOrderMark))
	}
	c.size = int(c.csv.Offset() - c.consumed)
	c.blank = 0
	for range line - c.line {
		c.blank += bytes.IndexByte(c.raw.Bytes()[c.blank:], '\n') + 1
	}
	if err == io.EOF {
		c.blank = c.size
	}
	if c.long = fault.TooLong(); c.long {
		c.size = c.blank + 1
	}
	return nil
}

// advance moves past n bytes of what peek returned.
func (c *splitter) advance(n int) {
	c.line += bytes.Count(c.raw.Next(n), []byte{'\n'})
	c.consumed += int64(n)
	c.size -= n
	c.blank = max(0, c.blank-n)
}
