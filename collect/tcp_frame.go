package collect

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"belfry/collect/syslog"
)

const (
	tcpLength     = 1 << 16                // of a message; longer ones are truncated
	delimiterWait = 250 * time.Millisecond // how long to wait for data that shows the delimiter
)

// framer splits the data of a connection into messages.
//
// A message with octet counting, "57 <13>1 …", has that length, whatever it contains. All others of a connection end with a
// line feed, or all with a NUL; the other character is part of the text. The first of them that is followed by the beginning of
// a message decides. Until then each message is decided by the data that has arrived, see guess.
type framer struct {
	in            *bufio.Reader
	conn          net.Conn // its read deadline limits how long to wait for more
	delimiterWait time.Duration

	end     byte // delimiter
	known   bool // the delimiter is certain
	guessed bool // the last message was assumed to end with it
	looked  int  // buffered bytes that do not decide
	waited  int  // buffered bytes after which no data came for a while

	line []byte // current message
	size int    // its full size, with what is truncated
	tail int    // bytes at its end that only end the line
}

// next reads a message. Long is its full size if it was truncated, else 0. The last message of a stream needs no delimiter.
func (f *framer) next() (message []byte, long int, err error) {
	f.line, f.size, f.tail = f.line[:0], 0, 0
	what, n, err := f.opening()
	if err != nil {
		return nil, 0, err
	}
	f.known = f.known || f.guessed && what != openText
	if what == openCounted {
		err = f.counted(n)
	} else {
		err = f.delimited(what == openText)
	}
	message, long = f.cut()
	return message, long, err
}

// opening determines how the next message begins, and consumes a count.
func (f *framer) opening() (what opened, count int, err error) {
	for want := min(f.in.Buffered(), longestOpening); ; want++ {
		b, err := f.in.Peek(max(want, 1))
		if len(b) == 0 {
			return openText, 0, err
		}
		if f.known && !isDigit(b[0]) {
			return openText, 0, nil // no need to read more
		}
		what, count, size := opening(b)
		switch {
		case what == openPartly && err == nil:
		case what == openPartly:
			return openText, 0, nil
		case what == openCounted:
			f.in.Discard(size)
			return what, count, nil
		default:
			return what, 0, nil
		}
	}
}

// opened is the beginning of a message.
type opened int

const (
	openText     opened = iota // anything
	openPriority               // <13>
	openCounted                // 57 <13>
	openPartly                 // incomplete
)

const (
	longestCount    = 9 // digits
	longestPriority = len("<191>")
	longestOpening  = longestCount + 1 + longestPriority
)

// opening determines how b begins; for a count also its value and size.
func opening(b []byte) (what opened, count, size int) {
	for size < len(b) && size < longestCount && isDigit(b[size]) && (size > 0 || b[0] != '0') {
		count = count*10 + int(b[size]-'0')
		size++
	}
	what = openPriority
	if size > 0 {
		if size == len(b) {
			return openPartly, 0, 0
		}
		if b[size] != ' ' {
			return openText, 0, 0
		}
		what = openCounted
		size++
	}
	head := b[size:min(len(b), size+longestPriority)]
	if _, _, ok := syslog.Priority(string(head)); ok {
		return what, count, size
	}
	if len(head) < longestPriority && priorityPart(head) {
		return openPartly, 0, 0
	}
	return openText, 0, 0
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// priorityPart reports whether b may be the beginning of a priority.
func priorityPart(b []byte) bool {
	for i, c := range b {
		if i == 0 && c != '<' || i > 0 && !isDigit(c) {
			return false
		}
	}
	return true
}

// counted reads a message of known length.
func (f *framer) counted(n int) error {
	f.looked, f.waited = 0, 0
	keep := min(n, lineRoom)
	f.line = slices.Grow(f.line, keep)[:keep]
	got, err := io.ReadFull(f.in, f.line)
	f.line, f.size = f.line[:got], got
	if err == nil && n > keep {
		var rest int64
		rest, err = io.CopyN(io.Discard, f.in, int64(n-keep))
		f.size += int(rest)
		return err
	}
	f.tail = got - len(trimLine(f.line))
	return err
}

// lineRoom is how much of a message is read before the rest is skipped: one byte more than is kept shows whether a character is
// cut.
const lineRoom = tcpLength + 1

// delimited reads up to the delimiter. A bare message has no priority.
func (f *framer) delimited(bare bool) error {
	for {
		if !f.known {
			f.guess(bare)
		}
		part, err := f.in.ReadSlice(f.end)
		f.line = append(f.line, part[:min(len(part), lineRoom-len(f.line))]...)
		f.size += len(part)
		f.looked, f.waited = max(f.looked-len(part), 0), f.waited-len(part)
		if text := len(trimLine(part)); text > 0 {
			f.tail, part = 0, part[text:]
		}
		f.tail += len(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// cut returns the part of the message that is kept, and its full size if that is not all.
func (f *framer) cut() (message []byte, long int) {
	size := f.size - f.tail
	if size <= tcpLength {
		return f.line[:size], 0
	}
	for n := tcpLength; n > tcpLength-utf8.UTFMax; n-- {
		if utf8.RuneStart(f.line[n]) {
			return f.line[:n], size
		}
	}
	return f.line[:tcpLength], size // not valid UTF-8
}

// trimLine removes the end of a line.
func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == 0) {
		b = b[:len(b)-1]
	}
	return b
}

// guess determines the delimiter of the next message, and if possible of the connection. It waits a short time for what follows
// a line feed or a NUL; if nothing does, the message is complete.
func (f *framer) guess(bare bool) {
	defer f.conn.SetReadDeadline(time.Time{})
	f.guessed = true
	var until time.Time
	for late, over := f.in.Buffered() > 0 && f.in.Buffered() <= f.waited, false; ; {
		b, _ := f.in.Peek(f.in.Buffered())
		line, full := bytes.IndexByte(b, '\n'), len(b) == f.in.Size()
		if bare && line >= 0 && bytes.IndexByte(b[:line], 0) < 0 {
			f.end = '\n' // whatever follows: the next one may have no priority either
			return
		}
		if f.follows(b) {
			return
		}
		switch f.end = '\n'; {
		case !late && !over && !full:
		case !full && bytes.HasSuffix(b, []byte{0}):
			f.end = 0
			return
		case line >= 0:
			return
		case over || full:
			if bare {
				f.end = 0
			}
			return
		}
		if until.IsZero() && !late && bytes.ContainsAny(b, "\n\x00") {
			until = time.Now().Add(f.delimiterWait)
			f.conn.SetReadDeadline(until)
		}
		if _, err := f.in.Peek(len(b) + 1); errors.Is(err, os.ErrDeadlineExceeded) {
			late, f.waited = true, len(b)
			f.conn.SetReadDeadline(time.Time{})
		} else {
			over = err != nil
		}
	}
}

// follows looks for a line feed or a NUL that is followed by the beginning of a message: that is the delimiter.
func (f *framer) follows(b []byte) bool {
	for ; f.looked < len(b); f.looked++ {
		c := b[f.looked]
		if c != '\n' && c != 0 {
			continue
		}
		switch what, _, _ := opening(b[f.looked+1:]); what {
		case openPriority, openCounted:
			f.end, f.known = c, true
			return true
		case openPartly:
			return false
		}
	}
	return false
}
