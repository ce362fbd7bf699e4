package syslog

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Parser parses the lines of one receiver.
type Parser struct {
	Zone *time.Location   // for times without a zone
	Now  func() time.Time // for the year, which RFC 3164 omits
}

// Parse parses one line.
func (p *Parser) Parse(line string) (m Message) {
	line = sanitize(line)
	m.Facility, m.Severity = DefaultFacility, DefaultSeverity
	rest := line
	if pri, after, ok := Priority(line); ok {
		m.Facility, m.Severity, rest = pri>>3, pri&7, after
	}
	if p.read5424(rest, &m) {
		return m
	}
	p.read3164(rest, &m)
	return m
}

// Unparsed returns a line as the text of a message.
func Unparsed(line string) Message {
	return Message{Facility: DefaultFacility, Severity: DefaultSeverity, Message: sanitize(line)}
}

// sanitize removes the end of the line and replaces invalid UTF-8.
func sanitize(line string) string {
	line = strings.TrimRight(line, "\r\n\x00")
	if !utf8.ValidString(line) {
		line = string([]rune(line)) // a mark per byte
	}
	if strings.IndexByte(line, 0) >= 0 {
		line = strings.ReplaceAll(line, "\x00", "\u2400")
	}
	return strings.TrimPrefix(line, "\uFEFF")
}

// Priority reads <0> to <191>.
func Priority(s string) (pri int, rest string, ok bool) {
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

// read5424 reads what follows the priority of an RFC 5424 message; false if it is none.
func (p *Parser) read5424(s string, m *Message) bool {
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
		if at, ok = p.numericTime(head[0]); !ok {
			return false
		}
	}
	data, text := structured(rest)
	m.DeviceTime, m.Host, m.App, m.ProcID, m.MsgID = at, nilValue(head[1]), nilValue(head[2]), nilValue(head[3]), nilValue(head[4])
	m.Data, m.Message = data, strings.TrimPrefix(text, "\uFEFF")
	return true
}

// nilValue returns "" for the NILVALUE "-".
func nilValue(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// structured splits structured data from the message. What only looks like data is part of the message.
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

// element returns the length of the SD-ELEMENT at the start of s, [id name="value"]; 0 if there is none. An id without
// parameters must be registered or have an @: otherwise "[ERROR] disk full" would lose its first word.
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

// dataName returns the length of a name in structured data.
func dataName(s string) (n int) {
	for n < len(s) && s[n] > ' ' && s[n] != '=' && s[n] != ']' && s[n] != '"' {
		n++
	}
	return n
}

// dataValue returns the length of a value with its quote; 0 if it does not end.
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
