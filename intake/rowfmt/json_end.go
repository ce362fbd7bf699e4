package rowfmt

import "io"

// elementEnd finds the size of the element at the start of the unread input, whatever it is. One that is larger than a
// row may be is read over without being held, and refused.
func (j *JSON) elementEnd() (size int, err error) {
	var s nesting
	long := false
	for at := 0; ; {
		n, found := s.scan(j.buf[j.start+at : j.end])
		at += n
		long = long || at > j.maxRow
		if long || found == mismatch {
			j.advance(at)
			at = 0
		}
		switch {
		case found == mismatch:
			return 0, j.unexpected(s.wanted())
		case found == ended && long:
			return 0, Fault{problem: tooLong, number: j.maxRow}
		case found == ended:
			return at, nil
		case j.err == io.EOF:
			j.advance(at)
			return 0, j.cut(j.err)
		case j.err != nil:
			return 0, j.err
		}
		j.fill()
	}
}

// nesting follows the strings and brackets of an element. Of brackets deeper than kinds has room for it knows only how
// many are open: an element so deep is refused in any case, only its end has to be found.
type nesting struct {
	depth   int
	kinds   uint64 // a bit for each open bracket, the innermost lowest: 1 is a brace
	string  bool   // inside one
	escaped bool   // behind a backslash
	word    bool   // inside a number, or whatever else has no mark at its end
}

const knownKinds = 64

type scanned uint8

const (
	more     scanned = iota // the element continues behind what has been seen
	ended                   // it ends
	mismatch                // a bracket closes what is not open
)

// scan continues with the bytes of b and says how many of them belong to the element.
func (s *nesting) scan(b []byte) (n int, found scanned) {
	for i, c := range b {
		switch {
		case s.escaped:
			s.escaped = false
		case s.string && c == '\\':
			s.escaped = true
		case s.string && c == '"':
			if s.string = false; s.depth == 0 {
				return i + 1, ended
			}
		case s.string:
		case s.word && endsWord(c):
			return i, ended
		case c == '"':
			s.string = true
		case c == '{' || c == '[':
			s.open(c == '{')
		case c == '}' || c == ']':
			if !s.close(c == '}') {
				return i, mismatch
			}
			if s.depth == 0 {
				return i + 1, ended
			}
		case s.depth == 0:
			s.word = true
		}
	}
	return len(b), more
}

func (s *nesting) open(brace bool) {
	if s.depth++; s.depth > knownKinds {
		return
	}
	s.kinds <<= 1
	if brace {
		s.kinds |= 1
	}
}

func (s *nesting) close(brace bool) bool {
	if s.depth <= knownKinds {
		if s.depth == 0 || (s.kinds&1 == 1) != brace {
			return false
		}
		s.kinds >>= 1
	}
	s.depth--
	return true
}

// wanted is what could have closed where something else did.
func (s *nesting) wanted() string {
	if s.kinds&1 == 1 {
		return `"}" to close an object`
	}
	return `"]" to close an array`
}

func endsWord(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '"', '[', ']', '{', '}':
		return true
	}
	return false
}
