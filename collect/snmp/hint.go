package snmp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"belfry/collect/mib"
)

// hintNumber formats a number by a display hint (RFC 2579, 3.1): d-2 has two decimals; x, o and b are bases.
func hintNumber(hint string, n int64, plain string) string {
	kind, places, _ := strings.Cut(hint, "-")
	switch kind {
	case "x":
		return "0x" + strconv.FormatInt(n, 16)
	case "o":
		return "0" + strconv.FormatInt(n, 8)
	case "b":
		return strconv.FormatInt(n, 2)
	case "d":
		if p, err := strconv.Atoi(places); err == nil && p > 0 && p < 19 {
			return decimalPoint(n, p)
		}
	}
	return plain
}

// decimalPoint inserts a decimal point.
func decimalPoint(n int64, places int) string {
	text, sign := strconv.FormatInt(n, 10), ""
	if text[0] == '-' {
		text, sign = text[1:], "-"
	}
	if short := places + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	return sign + text[:len(text)-places] + "." + text[len(text)-places:]
}

// hintPart is one octet-format specification of a hint.
type hintPart struct {
	repeat    bool // the first octet is the repeat count
	length    int
	format    byte
	separator string
	end       string // after the last repetition
}

// hintOctets formats octets by a display hint; false if it does not fit.
func hintOctets(hint string, b []byte) (text string, ok bool) {
	var out strings.Builder
	rest, last := hint, hintPart{}
	for len(b) > 0 {
		if rest != "" {
			if last, rest, ok = nextHint(rest); !ok {
				return "", false
			}
		} else if last.length == 0 {
			return "", false // it consumes nothing, so it would never end
		}
		times := 1
		if last.repeat {
			times, b = int(b[0]), b[1:]
		}
		for i := 0; i < times && len(b) > 0; i++ {
			n := min(last.length, len(b))
			if !last.show(&out, b[:n]) {
				return "", false
			}
			if b = b[n:]; len(b) > 0 {
				if i == times-1 && last.repeat && last.end != "" {
					out.WriteString(last.end)
				} else {
					out.WriteString(last.separator)
				}
			}
			if last.length == 0 {
				break
			}
		}
	}
	text = strings.TrimRight(out.String(), "\x00")
	return text, hint != "" && printable(text) && (text != "" || out.Len() == 0) // only NULs are no text
}

// nextHint parses one specification: an optional *, a length, a format, and up to two separators.
func nextHint(hint string) (p hintPart, rest string, ok bool) {
	hint, p.repeat = strings.CutPrefix(hint, "*")
	digits := len(hint) - len(strings.TrimLeft(hint, "0123456789"))
	n, err := strconv.Atoi(hint[:digits])
	if err != nil || n > 65535 || digits == len(hint) || strings.IndexByte("dxoat", hint[digits]) < 0 {
		return p, "", false
	}
	p.length, p.format, rest = n, hint[digits], hint[digits+1:]
	sign := func() (s string) {
		if rest != "" && rest[0] != '*' && !isDigit(rest[0]) {
			s, rest = rest[:1], rest[1:]
		}
		return s
	}
	if p.separator = sign(); p.repeat && p.separator != "" {
		p.end = sign()
	}
	return p, rest, true
}

func (p *hintPart) show(out *strings.Builder, b []byte) bool {
	if p.format == 'a' || p.format == 't' {
		out.Write(b)
		return true
	}
	if len(b) > 8 {
		return false
	}
	n := uint64(0)
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	switch p.format {
	case 'd':
		out.WriteString(strconv.FormatUint(n, 10))
	case 'x':
		fmt.Fprintf(out, "%0*x", 2*len(b), n)
	case 'o':
		fmt.Fprintf(out, "%o", n)
	}
	return true
}

// hintDate is the display hint of DateAndTime, by which the type is recognized under any name.
const hintDate = "2d-1d-1d,1d:1d:1d.1d,1a1d:1d"

// dateText formats a DateAndTime: 2026-11-15T13:30:15.0+01:00, without offset if it has none.
func dateText(b []byte, hint string) (text string, ok bool) {
	if hint != hintDate || len(b) != 8 && len(b) != 11 {
		return "", false
	}
	text = fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%d", int(b[0])<<8|int(b[1]), b[2], b[3], b[4], b[5], b[6], b[7])
	if len(b) == 11 {
		if b[8] != '+' && b[8] != '-' {
			return "", false
		}
		text += fmt.Sprintf("%c%02d:%02d", b[8], b[9], b[10])
	}
	return text, true
}

// dateOf returns the time of a variable that is a DateAndTime with an offset.
func dateOf(v *gosnmp.SnmpPDU, s *mib.Syntax) (at time.Time, ok bool) {
	b, is := v.Value.([]byte)
	if !is || s == nil || len(b) != 11 {
		return at, false
	}
	text, ok := dateText(b, s.Hint)
	if !ok {
		return at, false
	}
	at, err := time.Parse("2006-01-02T15:04:05.9Z07:00", text)
	return at, err == nil && at.Year() >= 1980
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
