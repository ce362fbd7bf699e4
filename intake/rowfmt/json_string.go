package rowfmt

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const backslashes = '\\' * ones

// string reads the string that opens at b[at] and returns the position after it. A string without escapes is a part of b.
func (p *objectParser) string(b []byte, at int) (text []byte, end int, bad *Fault) {
	from, high := at+1, uint64(0)
	i := from
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, escape := w^quotes, w^backslashes
		if ((quote-ones)&^quote|(escape-ones)&^escape|(w-' '*ones)&^w)&highs != 0 {
			break // a quote, a backslash or a control character is among the eight
		}
		high |= w
	}
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '"':
			text = b[from:i:i]
			if high&highs == 0 || utf8.Valid(text) {
				return text, i + 1, nil
			}
			at = from + firstInvalid(text)
			return nil, at, &Fault{problem: badText, at: at, found: b[at:]}
		case c == '\\':
			return p.escapedString(b, from, i)
		case c < ' ':
			return nil, i, &Fault{problem: controlInText, at: i, found: b[i:]}
		}
		high |= uint64(c)
	}
	return nil, i, &Fault{problem: unclosedText, at: at}
}

// escapedString reads a string whose text begins at from and has its first escape at i.
func (p *objectParser) escapedString(b []byte, from, i int) (text []byte, end int, bad *Fault) {
	opened, start := from-1, len(p.text)
	for {
		p.text = append(p.text, b[from:i]...)
		if i == len(b) {
			return nil, i, &Fault{problem: unclosedText, at: opened}
		}
		switch c := b[i]; {
		case c == '"':
			text = p.text[start:len(p.text):len(p.text)]
			if utf8.Valid(text) {
				return text, i + 1, nil
			}
			return nil, i, &Fault{problem: badText, at: opened, found: text[firstInvalid(text):]}
		case c == '\\':
			if from, bad = p.escape(b, i); bad != nil {
				return nil, i, bad
			}
			i = from
		default:
			return nil, i, &Fault{problem: controlInText, at: i, found: b[i:]}
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
	}
}

// escape undoes the escape at b[at] and returns the position after it.
func (p *objectParser) escape(b []byte, at int) (end int, bad *Fault) {
	if at+1 == len(b) || b[at+1] != 'u' {
		const short, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		i := -1
		if at+1 < len(b) {
			i = strings.IndexByte(short, b[at+1])
		}
		if i < 0 {
			return 0, &Fault{problem: badEscape, at: at, found: b[at:min(at+2, len(b))]}
		}
		p.text = append(p.text, means[i])
		return at + 2, nil
	}
	r := unit(b[at:])
	if r < 0 {
		return 0, &Fault{problem: badEscape, at: at, found: b[at:min(at+6, len(b))]}
	}
	end = at + 6
	if utf16.IsSurrogate(r) {
		r = utf16.DecodeRune(r, unit(b[end:]))
		if r == utf8.RuneError {
			return 0, &Fault{problem: loneSurrogate, at: at, found: b[at : at+6]}
		}
		end += 6
	}
	p.text = utf8.AppendRune(p.text, r)
	return end, nil
}

// unit reads \uXXXX at the start of b; -1 when it is something else.
func unit(b []byte) rune {
	if len(b) < 6 || !bytes.HasPrefix(b, []byte(`\u`)) {
		return -1
	}
	r := rune(0)
	for _, c := range b[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
