package client

import (
	"bytes"
	"fmt"
	"io"
)

// MaxPart is how many bytes one request carries at most, header included. It is far below what a server takes.
const MaxPart = 8 << 20

// splitter cuts a CSV file into parts that are CSV files themselves: each has the header, and each ends where a row ends.
//
// Where a row ends is decided as the server does it, also for damaged rows: a field whose quotes are wrong costs the
// physical line on which it begins, and a quote that is never closed does not take the rest of the file along.
type splitter struct {
	r    io.Reader
	err  error // what r ended with
	max  int   // bytes of a part
	buf  []byte
	from int // the unread input is buf[from:]
	line int // physical line of its first byte, counted from 1

	bom         bool
	header      []byte // with its line end
	headerLines int
	consumed    int64 // bytes handed out so far, in the file
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
	c := &splitter{r: r, line: 1, max: limit}
	c.fill()
	if bytes.HasPrefix(c.buf, byteOrderMark) {
		c.bom = true
		c.take(len(byteOrderMark))
	}
	for {
		n, err := c.row()
		if err != nil {
			return nil, err
		}
		if n > 0 && isBlank(c.buf[c.from:c.from+n]) {
			c.take(n)
			continue
		}
		c.header = bytes.Clone(c.buf[c.from : c.from+n])
		c.take(n)
		if n > 0 && c.header[n-1] != '\n' {
			c.header = append(c.header, '\n')
		}
		c.headerLines = bytes.Count(c.header, []byte{'\n'})
		return c, nil
	}
}

// next gives a part of at most so many rows. A file without rows has one part too, as its header wants to be checked.
func (c *splitter) next(number, rows int) (*part, error) {
	p := &part{number: number, line: c.line, header: c.headerLines, body: bytes.Clone(c.header)}
	for {
		n, err := c.row()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			p.last = true
			return p, nil
		}
		text := c.buf[c.from : c.from+n]
		blank := isBlank(text)
		if len(p.rows) == rows && !blank {
			return p, nil
		}
		if len(p.body)+n > c.max {
			if len(p.rows) == 0 {
				return nil, c.tooLong()
			}
			return p, nil
		}
		if !blank {
			p.rows = append(p.rows, rowAt{len(p.body), len(p.body) + n, c.line})
		}
		p.body = append(p.body, text...)
		c.take(n)
	}
}

func (c *splitter) tooLong() error {
	return fmt.Errorf("line %d: the row and the header together are longer than %d MiB, which is more than one request may carry; shorten the row",
		c.line, c.max>>20)
}

// take marks n bytes as handed out.
func (c *splitter) take(n int) {
	c.line += bytes.Count(c.buf[c.from:c.from+n], []byte{'\n'})
	c.from += n
	c.consumed += int64(n)
}

// fill reads until the buffer is full, a larger one than before when nothing of it has been handed out: so a long row is
// looked at a few times and not once for every read.
func (c *splitter) fill() {
	size := max(64<<10, cap(c.buf))
	if c.from == 0 && len(c.buf) == cap(c.buf) {
		size = max(64<<10, 2*cap(c.buf))
	}
	to := make([]byte, 0, size)
	to = append(to, c.buf[c.from:]...)
	// Not io.ReadFull: it calls a short read what a body or a packed file that broke off calls itself.
	for len(to) < cap(to) && c.err == nil {
		var n int
		n, c.err = c.r.Read(to[len(to):cap(to)])
		to = to[:len(to)+n]
	}
	c.buf, c.from = to, 0
}

// row measures the row, or the blank line, at which the unread input starts; 0 at the end.
func (c *splitter) row() (int, error) {
	for {
		text := c.buf[c.from:]
		n, whole := rowEnd(text, c.err == io.EOF || len(text) > c.max)
		if whole {
			return n, nil
		}
		if len(text) > c.max {
			return 0, c.tooLong()
		}
		if c.err != nil {
			return 0, fmt.Errorf("read line %d: %w", c.line, c.err)
		}
		c.fill()
	}
}

// rowEnd measures the row at the start of text. It is not whole when more input could change the answer; final says that
// no more of it will be looked at.
func rowEnd(text []byte, final bool) (n int, whole bool) {
	end := bytes.IndexByte(text, '\n')
	line := text
	if end >= 0 {
		line = text[:end+1]
	}
	if bytes.IndexByte(line, '"') < 0 {
		return len(line), end >= 0 || final
	}
	for pos := 0; ; {
		stop, state := fieldEnd(text, pos, final)
		switch state {
		case fieldOpen:
			return 0, false
		case fieldBroken:
			return lineEnd(text, pos, final)
		case rowEnded:
			return stop, true
		}
		pos = stop
	}
}

type fieldState int

const (
	fieldEnded  fieldState = iota // another follows
	rowEnded                      // it was the last of its row
	fieldBroken                   // its quotes are wrong
	fieldOpen                     // its end has not been read yet
)

// fieldEnd gives the place behind the field at pos and the comma or line end after it.
func fieldEnd(text []byte, pos int, final bool) (stop int, state fieldState) {
	if pos < len(text) && text[pos] == '"' {
		return quotedEnd(text, pos+1, final)
	}
	for i := pos; i < len(text); i++ {
		switch text[i] {
		case ',':
			return i + 1, fieldEnded
		case '\n':
			return i + 1, rowEnded
		case '"':
			return pos, fieldBroken
		}
	}
	return unfinished(text, final, rowEnded)
}

func quotedEnd(text []byte, pos int, final bool) (stop int, state fieldState) {
	for {
		i := bytes.IndexByte(text[pos:], '"')
		if i < 0 {
			return unfinished(text, final, fieldBroken)
		}
		pos += i + 1
		rest := text[pos:]
		switch {
		case len(rest) == 0, len(rest) == 1 && rest[0] == '\r':
			return unfinished(text, final, rowEnded)
		case rest[0] == '"':
			pos++
		case rest[0] == ',':
			return pos + 1, fieldEnded
		case rest[0] == '\n':
			return pos + 1, rowEnded
		case rest[0] == '\r' && rest[1] == '\n':
			return pos + 2, rowEnded
		default:
			return pos, fieldBroken
		}
	}
}

func unfinished(text []byte, final bool, then fieldState) (int, fieldState) {
	if final {
		return len(text), then
	}
	return 0, fieldOpen
}

func lineEnd(text []byte, pos int, final bool) (n int, whole bool) {
	if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
		return pos + i + 1, true
	}
	return len(text), final
}

// isBlank tells whether a line is none to the server either: nothing but blanks and tabs before its line end.
func isBlank(line []byte) bool {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
	return len(bytes.Trim(line, " \t")) == 0
}
