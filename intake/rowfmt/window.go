package rowfmt

import (
	"bytes"
	"io"

	"belfry"
)

// window is the stretch of a body that is being looked at: a row and what has been read behind it, never more than a row
// of the largest size and a read buffer.
type window struct {
	r      io.Reader
	err    error // what r ended with; nil while there may be more
	format belfry.Format
	maxRow int
	begun  bool
	skip   bool // the unread input starts inside a line that is to be dropped
	line   int  // physical line at which the unread input starts

	buf        []byte
	start, end int   // the unread input is buf[start:end]
	read       int64 // bytes of the body that have been in buf
}

const (
	firstBuffer = 1 << 10 // enough for a body of a few rows, of which a service may get thousands a second
	fullBuffer  = 256 << 10
)

// Reset makes the window start afresh on another body, keeping its buffer.
func (w *window) Reset(r io.Reader) {
	w.r, w.err, w.begun, w.skip, w.line = r, nil, false, false, 1
	w.start, w.end, w.read = 0, 0, 0
}

// Offset is where in the body the next row, or the blank lines before it, begins.
func (w *window) Offset() int64 { return w.read - int64(w.end-w.start) }

// begin looks at the first bytes: a UTF-8 byte order mark is dropped, UTF-16 is refused as a whole, since every one of
// its rows would be.
func (w *window) begin() {
	w.begun = true
	for w.end-w.start < 3 && w.err == nil {
		w.fill()
	}
	b := w.buf[w.start:w.end]
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		w.start += 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")),
		len(b) >= 2 && (b[0] == 0) != (b[1] == 0):
		w.start = w.end
		w.err = utf16Error(w.format, b[:2])
	}
}

// fill reads more input behind the unread part, or sets err.
func (w *window) fill() {
	if w.end == len(w.buf) {
		w.makeRoom()
	}
	for range 100 {
		n, err := w.r.Read(w.buf[w.end:])
		w.end += n
		w.read += int64(n)
		w.err = err
		if n > 0 || err != nil {
			return
		}
	}
	w.err = io.ErrNoProgress
}

// makeRoom moves the unread part to the front of the buffer, and of a larger buffer when that leaves little room. The
// largest holds any row with its line end and more, so no row within the limit is ever too large for it.
func (w *window) makeRoom() {
	to := w.buf
	largest := max(fullBuffer, w.maxRow+4<<10)
	if len(to) < fullBuffer || w.start < len(to)/2 && len(to) < largest {
		to = make([]byte, min(max(4*len(to), firstBuffer), largest))
	}
	w.end = copy(to, w.buf[w.start:w.end])
	w.start, w.buf = 0, to
}

// consume marks n bytes and so many physical lines as read.
func (w *window) consume(n, lines int) {
	w.start += n
	w.line += lines
}

// skipBlankLines drops the blank lines at the start of what is in the buffer. One that is not there completely, or is longer
// than a row may be, is left. A body can have hundreds of millions of them and be small when packed, so a line must cost no
// more than its bytes.
func (w *window) skipBlankLines() {
	b := w.buf[w.start:w.end]
	read, lines := 0, 0
scan:
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n':
			read = i + 1
			lines++
		case c == '\r' && i+1 < len(b) && b[i+1] == '\n':
		case (c == ' ' || c == '\t') && i-read < w.maxRow:
		default:
			break scan
		}
	}
	w.consume(read, lines)
}

// lineEnd finds, as offsets from the start of the row, where the text of a physical line ends and where the line after
// it begins; from is any place in that line. At the end of the body both are where the input ends. When the row gets too
// long, the rest of the line is to be skipped.
func (w *window) lineEnd(from int) (end, next int, err error) {
	seen := from
	for {
		b := w.buf[w.start:w.end]
		i := bytes.IndexByte(b[seen:], '\n')
		if i < 0 && w.err != io.EOF {
			seen = len(b)
			if seen > w.maxRow+1 {
				w.skip = true
				return from, from, Fault{problem: tooLong, number: w.maxRow}
			}
			if w.err != nil {
				return 0, 0, w.err
			}
			w.fill()
			continue
		}
		end, next = len(b), len(b)
		if i >= 0 {
			end, next = seen+i, seen+i+1
		}
		if end > from && b[end-1] == '\r' {
			end--
		}
		if end > w.maxRow {
			w.skip = true
			return from, from, Fault{problem: tooLong, number: w.maxRow}
		}
		return end, next, nil
	}
}

// skipLine drops what is left of a physical line that is too long, and reports whether it has an end. Quotes have no
// meaning to it: one left open must not take the rest of the body along.
func (w *window) skipLine() bool {
	for {
		if i := bytes.IndexByte(w.buf[w.start:w.end], '\n'); i >= 0 {
			w.skip = false
			w.consume(i+1, 1)
			return true
		}
		w.start = w.end
		if w.err != nil {
			return false
		}
		w.fill()
	}
}

func utf16Error(f belfry.Format, first []byte) error {
	const text = "the body is UTF-16 (it begins with the bytes % x); send it as UTF-8"
	if f == belfry.CSV {
		return belfry.Errorf(belfry.BadCSV, text+`, which spreadsheets offer as "CSV UTF-8"`, first)
	}
	return belfry.Errorf(belfry.BadJSON, text, first)
}
