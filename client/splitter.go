package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"belfry"
	"belfry/intake/rowfmt"
)

// MaxPart is how many bytes one request carries at most, header included. It is far below what a server takes.
const MaxPart = 8 << 20

// splitter cuts a CSV file into parts that are CSV files themselves: each has the header, and each ends where a row ends.
// Rows are found by the reader that the server has, so both agree on damaged ones, too.
type splitter struct {
	csv *rowfmt.CSV
	raw bytes.Buffer // what csv has read, from the current position
	max int          // bytes of a part

	// The next row, with the blank lines before it. At the end of the file there are only blank lines.
	blank, size int  // both count from the start of raw
	long        bool // the row is longer than max, and has not been read to its end

	bom         bool
	header      []byte // with its line end
	headerLines int
	line        int   // physical line of the current position, counted from 1
	consumed    int64 // bytes passed so far, in the file
}

// part is a piece of a file, ready to be sent.
type part struct {
	number int // from 1
	body   []byte
	rows   []rowAt
	line   int // of the file, where the first line after the header stands
	header int // physical lines of the header
	last   bool
}

// rowAt is where a row stands: its bytes in the body, and its line in the file.
type rowAt struct {
	from, to int
	line     int
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// newSplitter reads the header. A file without one gives a single part with nothing in it, for the server to refuse.
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

// next gives a part of at most so many rows. A file without rows has one part too, as its header wants to be checked. Blank
// lines belong to the part of the row before them.
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

// each gives the rows that are left, each with the line where it begins.
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

// peek gives the next row and the blank lines before it, without moving past them. At the end of the
// file there is no row.
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
		return err // it is no CSV at all
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
