package collect

import (
	"strings"
	"time"
	"unicode/utf8"
)

// lineReader reads syslog messages: RFC 5424, RFC 3164, and what devices send that have read neither. It never refuses a
// line: what it does not understand is the message.
type lineReader struct {
	zone *time.Location   // of times that are given without one
	now  func() time.Time // for the year that RFC 3164 leaves out
}

// What a line without a priority is taken for: a notice of a user program, as RFC 3164 says.
const (
	noFacility = 1
	noSeverity = 5
)

// read takes one line apart.
func (r *lineReader) read(line string) (m Syslog) {
	line = clean(line)
	m.Facility, m.Severity = noFacility, noSeverity
	rest := line
	if pri, after, ok := priority(line); ok {
		m.Facility, m.Severity, rest = pri>>3, pri&7, after
	}
	if r.read5424(rest, &m) {
		return m
	}
	r.read3164(rest, &m)
	return m
}

// clean makes a text of what came: without what ends a line, and without bytes that are no characters.
func clean(line string) string {
	line = strings.TrimRight(line, "\r\n\x00")
	if !utf8.ValidString(line) {
		line = string([]rune(line)) // a mark for each of them
	}
	if strings.IndexByte(line, 0) >= 0 {
		line = strings.ReplaceAll(line, "\x00", "\u2400")
	}
	return strings.TrimPrefix(line, "\uFEFF")
}

// priority reads <0> to <191>.
func priority(s string) (pri int, rest string, ok bool) {
	if len(s) < 3 || s[0] != '<' {
		return 0, s, false
	}
	i := 1
	for ; i < len(s) && i < 4 && isDigit(s[i]); i++ {
		pri = pri*10 + int(s[i]-'0')
	}
	if i == 1 || i >= len(s) || s[i] != '>' || pri > 191 {
		return 0, s, false
	}
	return pri, s[i+1:], true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// read5424 reads what follows the priority of a message of RFC 5424; false when it is none.
func (r *lineReader) read5424(s string, m *Syslog) bool {
	rest, ok := strings.CutPrefix(s, "1 ")
	if !ok {
		return false
	}
	var head [5]string // time, host, app, procid, msgid
	for i := range head {
		if head[i], rest, ok = strings.Cut(rest, " "); !ok && i < 4 || head[i] == "" {
			return false
		}
	}
	var at time.Time
	if head[0] != "-" {
		if at, ok = r.numericTime(head[0]); !ok {
			return false
		}
	}
	data, text := structured(rest)
	m.DeviceTime, m.Host, m.App, m.ProcID, m.MsgID = at, dash(head[1]), dash(head[2]), dash(head[3]), dash(head[4])
	m.Data, m.Message = data, strings.TrimPrefix(text, "\uFEFF")
	return true
}

// dash turns the sign for nothing into nothing.
func dash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// structured splits the structured data from the message behind it. What only looks like data is part of the message.
func structured(s string) (data, text string) {
	if rest, ok := strings.CutPrefix(s, "-"); ok && (rest == "" || rest[0] == ' ') {
		return "", strings.TrimPrefix(rest, " ")
	}
	end := 0
	for end < len(s) && s[end] == '[' {
		n := element(s[end:])
		if n == 0 {
			return "", s
		}
		end += n
	}
	if end == 0 || end < len(s) && s[end] != ' ' {
		return "", s
	}
	return s[:end], strings.TrimPrefix(s[end:], " ")
}

// element is the length of the element of structured data at the start of s, [id name="value"]; 0 when there is none. An id without
// values is one if it is registered or has an @: else "[ERROR] disk full" would lose its first word.
func element(s string) int {
	i := 1 + dataName(s[1:])
	id := s[1:i]
	bare := id != "timeQuality" && id != "origin" && id != "meta" && !strings.Contains(id, "@")
	for id != "" && i < len(s) {
		if s[i] == ']' && !bare {
			return i + 1
		}
		rest := strings.TrimLeft(s[i:], " ")
		n := dataName(rest)
		if s[i] != ' ' || n == 0 || !strings.HasPrefix(rest[n:], `="`) {
			return 0
		}
		rest = rest[n+2:]
		n = dataValue(rest)
		if n == 0 {
			return 0
		}
		i, bare = len(s)-len(rest)+n, false
	}
	return 0
}

// dataName counts the bytes of a name in structured data.
func dataName(s string) (n int) {
	for n < len(s) && s[n] > ' ' && s[n] != '=' && s[n] != ']' && s[n] != '"' {
		n++
	}
	return n
}

// dataValue counts the bytes to the end of a value, with its quote; 0 when it does not end.
func dataValue(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
