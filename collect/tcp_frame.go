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
)

const (
	tcpLength     = 1 << 16                // of a message; what is longer is cut
	delimiterWait = 250 * time.Millisecond // after which a connection has to show what ends its messages
)

// framer cuts what comes over a connection into messages.
//
// A message that begins with its length, "57 <13>1 …", is as long as that, whatever is in it: a sender shows this with every
// message. All others end with a line feed, or all with a NUL; then the other one is part of the text. The first of them that is
// followed by the beginning of a message tells which. Until there is one, each message is judged by what has come, see guess.
type framer struct {
	in            *bufio.Reader
	conn          net.Conn // its read deadline limits how long to wait for more
	delimiterWait time.Duration

	end     byte // of messages
	known   bool // that it is
	guessed bool // that the last message ended with it
	looked  int  // bytes of what has arrived in which nothing tells
	waited  int  // bytes of what has arrived after which nothing came for a while

	line []byte // the message
	size int    // of all of it, also of what is not kept
	tail int    // of that, what only ends the line
}

// next reads a message. Long is how many bytes it had if it was cut, else 0. At the end of a stream the last message need not be
// ended.
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

// opening tells what the next message begins with. The count before it is read.
func (f *framer) opening() (what opened, count int, err error) {
	for want := min(f.in.Buffered(), longestOpening); ; want++ {
		b, err := f.in.Peek(max(want, 1))
		if len(b) == 0 {
			return openText, 0, err
		}
		if f.known && !isDigit(b[0]) {
			return openText, 0, nil // and nobody needs to know more
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

// opened is what may stand where a message begins.
type opened int

const (
	openText     opened = iota // anything
	openPriority               // <13>
	openCounted                // 57 <13>
	openPartly                 // the first bytes of one of these, or nothing yet
)

const (
	longestCount    = 9 // digits
	longestPriority = len("<191>")
	longestOpening  = longestCount + 1 + longestPriority
)

// opening tells what b begins with; if it is a count, also that, and how many bytes it takes.
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
	if _, _, ok := priority(string(head)); ok {
		return what, count, size
	}
	if len(head) < longestPriority && priorityPart(head) {
		return openPartly, 0, 0
	}
	return openText, 0, 0
}

// priorityPart tells that a priority may begin like this.
func priorityPart(b []byte) bool {
	for i, c := range b {
		if i == 0 && c != '<' || i > 0 && !isDigit(c) {
			return false
		}
	}
	return true
}

// counted reads a message whose length is known.
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

// lineRoom is how much of a message is read before the rest is skipped: with one byte more than is kept one can tell whether a
// character is cut.
const lineRoom = tcpLength + 1

// delimited reads to the end of a message. One that is bare has no priority.
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

// cut gives what is kept of a message, and its length if that is not all.
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
	return f.line[:tcpLength], size // which are no characters
}

// trimLine takes away what ends a line.
func trimLine(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == 0) {
		b = b[:len(b)-1]
	}
	return b
}

// guess finds out what ends the message that begins here, and if possible all of the connection. It waits for what follows a line
// feed or a NUL, but not for long: if nothing does, a message has come.
func (f *framer) guess(bare bool) {
	defer f.conn.SetReadDeadline(time.Time{})
	f.guessed = true
	var until time.Time
	for late, over := f.in.Buffered() > 0 && f.in.Buffered() <= f.waited, false; ; {
		b, _ := f.in.Peek(f.in.Buffered())
		line, full := bytes.IndexByte(b, '\n'), len(b) == f.in.Size()
		if bare && line >= 0 && bytes.IndexByte(b[:line], 0) < 0 {
			f.end = '\n' // whatever follows, as the next one may have no priority either
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

// follows looks in what has arrived for a line feed or a NUL behind which a message begins: that is what ends messages.
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
