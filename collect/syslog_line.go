package collect

import (
	"strconv"
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
		line = strings.ToValidUTF8(line, "\uFFFD")
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
	at, known := time.Time{}, head[0] == "-"
	if !known {
		var err error
		if at, err = time.Parse(time.RFC3339Nano, head[0]); err != nil {
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

// structured splits the structured data from the message behind it. Data that do not end properly are part of the message.
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

// element is the length of the element of structured data at the start of s; 0 when it does not end.
func element(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return i + 1
		}
	}
	return 0
}

// read3164 reads what follows the priority of any other message: perhaps a sequence number, perhaps a time, perhaps a host,
// perhaps the name of a program. Each part that is not there is left out, and the rest is the message.
func (r *lineReader) read3164(s string, m *Syslog) {
	rest := sequence(s)
	at, after, ok := r.stamp(rest)
	if !ok { // Cisco, when it is told to name itself: "57: switch-1: Nov 14 10:11:12"
		if name, behind, named := strings.Cut(rest, ": "); named && !strings.Contains(name, " ") {
			if at, after, ok = r.stamp(behind); ok {
				m.DeviceTime, m.Host = at, name
				m.App, m.ProcID, m.Message = tag(strings.TrimLeft(after, " "))
				return
			}
		}
	}
	if !ok {
		// Without a time nobody can tell a host from a word; the name of a program may still be told.
		m.App, m.ProcID, m.Message = tag(strings.TrimLeft(s, " "))
		return
	}
	m.DeviceTime = at
	m.Host, rest = host(strings.TrimLeft(after, " "))
	m.App, m.ProcID, m.Message = tag(rest)
}

// sequence skips the numbers that Cisco devices may put before the time: a count of messages, then "host: ".
func sequence(s string) string {
	s = strings.TrimLeft(s, " ")
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if rest, ok := strings.CutPrefix(s[i:], ": "); ok && i > 0 && i < 12 {
		return strings.TrimLeft(rest, " ")
	}
	return s
}

// host takes the host name from the start: a word that is followed by more, and is not the name of a program.
func host(s string) (name, rest string) {
	word, after, ok := strings.Cut(s, " ")
	if !ok || word == "" || strings.HasSuffix(word, ":") && !isIPv6(word) || word[0] == '%' || strings.ContainsAny(word, "[]()=\"") {
		return "", s
	}
	// Cisco: "Mar  1 18:46:11 host : %SYS-5…"
	if more, ok := strings.CutPrefix(after, ": "); ok {
		after = more
	}
	return strings.TrimSuffix(word, ":"), strings.TrimLeft(after, " ")
}

// isIPv6 tells an address that ends with a colon, as ::, from the name of a program.
func isIPv6(word string) bool { return strings.Count(word, ":") > 2 }

// longestTag is how long the name of a program may be; RFC 3164 says 32, programs do not.
const longestTag = 64

// tag takes the name of the program and of its process from the start of a message, if they are there: "sshd[123]: text".
// The message is then what follows; a Cisco mnemonic, "%LINK-3-UPDOWN:", stays in the message.
func tag(s string) (app, procid, text string) {
	if s == "" || s[0] == '%' {
		return "", "", s
	}
	i := 0
	for i < len(s) && i <= longestTag && tagByte(s[i]) {
		i++
	}
	if i == 0 || i == len(s) || i > longestTag {
		return "", "", s
	}
	app, rest := s[:i], s[i:]
	if rest[0] == '[' {
		end := strings.IndexByte(rest, ']')
		if end < 0 || end > longestTag {
			return "", "", s
		}
		procid, rest = rest[1:end], rest[end+1:]
		if rest == "" {
			return app, procid, ""
		}
	}
	if rest[0] != ':' {
		return "", "", s
	}
	return app, procid, strings.TrimPrefix(rest[1:], " ")
}

// tagByte tells the bytes of which names of programs are made.
func tagByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || isDigit(b) || strings.IndexByte("-_./@+#*", b) >= 0
}

// decimal reads a number of so many digits.
func decimal(s string, digits int) (n int, ok bool) {
	if len(s) < digits {
		return 0, false
	}
	n, err := strconv.Atoi(s[:digits])
	return n, err == nil && isDigit(s[0])
}
