package syslog

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// read3164 reads what follows the priority of any other message: an optional time, host and program. The rest is the message.
func (p *Parser) read3164(s string, m *Message) {
	s = strings.TrimLeft(s, " ")
	at, rest, colon, ok := p.timestamp(s, false)
	if !ok && (p.readCisco(s, m) || readSnare(s, m)) {
		return
	}
	if !ok {
		at, rest, ok = epoch(s)
	}
	if !ok {
		// Without a time a host cannot be distinguished from a word; a program may still be recognized.
		m.name(s, false)
		return
	}
	m.DeviceTime, rest = at, strings.TrimLeft(rest, " ")
	if readSnare(rest, m) {
		return
	}
	if !colon {
		m.Host, rest = host(rest)
	}
	if readSnare(rest, m) {
		return
	}
	m.name(rest, true)
}

// name reads the program and its process; the rest is the message.
func (m *Message) name(s string, header bool) {
	if m.App, m.ProcID, m.Message = tag(m.level(s, header), header); m.App == "" {
		m.App, m.ProcID, m.Message = tag(s, header) // what looks like a level may be a program: "mail:error no connection"
	}
}

// epoch reads a Unix time after a version, as Meraki devices write it: "1 1794651072.345 MX84 events".
func epoch(s string) (at time.Time, rest string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimPrefix(s, "1 "), " ")
	whole, fraction, ok := strings.Cut(word, ".")
	seconds, good := decimal(whole, 10)
	if !ok || !good || len(whole) != 10 || len(fraction) == 0 || len(fraction) > 9 {
		return at, s, false
	}
	nanos, ok := decimal(fraction+"000000000"[len(fraction):], 9)
	if !ok {
		return at, s, false
	}
	return time.Unix(int64(seconds), int64(nanos)).UTC(), rest, true
}

// forwarded is what AIX puts before the host of a message that it forwards.
const forwarded = "Message forwarded from "

// host reads the host name: a word that is followed by more, and is not the name of a program.
func host(s string) (name, rest string) {
	if after, ok := strings.CutPrefix(s, forwarded); ok {
		if name, rest, ok := strings.Cut(after, ": "); ok && hostName(name) {
			return name, rest
		}
	}
	word, rest, ok := strings.Cut(s, " ")
	if !ok || strings.HasPrefix(s, "last message repeated ") || strings.HasPrefix(s, "message repeated ") {
		return "", s
	}
	if strings.HasSuffix(word, ":") && !isIPv6(word) && !mnemonic(strings.TrimLeft(rest, " ")) || word != "-" && !hostName(word) { // Cisco ASA: "asa1: %ASA-6-302013: …"
		return "", s
	}
	if more, ok := strings.CutPrefix(rest, ": "); ok {
		if !strings.HasPrefix(more, "%") && !numberedList(more) { // NetScaler without a name: "0-PPE-0 : default …"
			return "", s
		}
		rest = more // Cisco: "Mar  1 18:46:11 host : %SYS-5…"
	}
	return nilValue(strings.TrimSuffix(word, ":")), strings.TrimLeft(rest, " ")
}

// numberedList reports whether a comma-separated list begins with a number, as those of PAN-OS: "1,2026/11/16
// 10:11:12,001234,SYSTEM".
func numberedList(s string) bool {
	first, _, ok := strings.Cut(s, ",")
	return ok && allDigits(first)
}

// hostName reports whether a word can be a host name or an address, and not a number, list, JSON or URL.
func hostName(word string) bool {
	letter, digit, part := false, false, false
	for i := range len(word) {
		switch b := word[i]; {
		case isLetter(b) || b >= 0x80:
			letter = true
		case isDigit(b):
			digit = true
		case b == ':' && strings.HasPrefix(word[i:], "://"):
			return false
		case b == '.' || b == ':':
			part = true
		case b == '%' && i == 0 || strings.IndexByte("-_/@%+", b) < 0:
			return false
		}
	}
	return letter || digit && part
}

// isIPv6 reports whether a word that may end with a colon is an IPv6 address rather than a program.
func isIPv6(word string) bool { return strings.Count(word, ":") > 2 }

// levels are the words that some devices write before the name of the program: F5 the severity, busybox and AIX also the facility before it.
var levels = []string{"emerg", "panic", "alert", "crit", "err", "error", "warning", "warn", "notice", "info", "debug"}

// severities are the names that F5 writes.
var severities = [...]string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}

// facilities are those of AIX; some of them are followed by a number.
var facilities = []string{"kern", "user", "mail", "daemon", "auth", "authpriv", "security", "syslog", "lpr", "news", "uucp", "cron", "ftp", "local", "aso", "caa"}

// level skips a severity before the name of a program: "notice mcpd[5678]: …", "daemon.info dnsmasq: …", "auth|security:info
// sshd[123]: …". The less header precedes it, the stricter it is.
func (m *Message) level(s string, header bool) string {
	word, rest, _ := strings.Cut(s, " ")
	severity := word
	if facility, after, ok := strings.Cut(word, ":"); ok { // AIX, with aliases: "err|error"
		facility, _, _ = strings.Cut(facility, "|")
		severity, _, _ = strings.Cut(after, "|")
		if !facilityName(facility) { // "shop:error …" is a program
			return s
		}
	} else if facility, after, ok := strings.Cut(word, "."); ok {
		severity = after
		if facility == "" || strings.Trim(facility, "abcdefghijklmnopqrstuvwxyz01234567") != "" || !header && !facilityName(facility) {
			return s
		}
	} else if !header || !strings.HasPrefix(rest[program(rest):], "[") && (m.Host == "" || word != severities[m.Severity]) {
		// The severity may be message text, as in "error disk: full". F5 repeats that of the priority.
		return s
	}
	if !slices.Contains(levels, severity) {
		return s
	}
	return rest
}

// facilityName reports whether a word is a facility, with or without a number.
func facilityName(word string) bool {
	return slices.Contains(facilities, strings.TrimRight(word, "01234567"))
}

// snares are the names that Snare and similar agents put before a tab.
var snares = []string{
	"MSWinEventLog", "LinuxKAudit", "LinuxAudit", "SolarisBSM", "AIXAudit", "IrixAudit", "GenericLog", "ApacheLog", "SquidLog", "IISWebLog", "IISFtpLog", "IISSmtpLog",
	"ISAFWSLog", "ISAWebLog", "SMTPSvcLog", "FTPSvcLog", "MSSQLLog", "ExchangeLog",
}

// readSnare reads "MSWinEventLog", a tab and the message, with an optional host and tab before.
func readSnare(s string, m *Message) bool {
	name, rest, ok := strings.Cut(s, "\t")
	if ok && !slices.Contains(snares, name) && m.Host == "" && hostName(name) {
		m.Host = name
		if readSnare(rest, m) {
			return true
		}
		m.Host = ""
	}
	if !ok || !slices.Contains(snares, name) {
		return false
	}
	m.App, m.Message = name, rest
	return true
}

// longestTag limits the name of a program; RFC 3164 says 32, but programs do not care.
const longestTag = 64

// tag splits the program and its process from the message, if they are there: "sshd[123]: text". After a header the colon may be
// missing behind the number in brackets.
//
// Some messages begin with what only looks like a program: "%LINK-3-UPDOWN:" of Cisco, "http://", and the markers of CEE, CEF and LEEF.
func tag(s string, header bool) (app, procid, text string) {
	i := program(s)
	if i == 0 || i == len(s) || i > longestTag || payload(s) {
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
		if rest[0] == ' ' && header && allDigits(procid) {
			return app, procid, strings.TrimPrefix(rest[1:], ": ")
		}
	}
	if rest[0] != ':' || procid == "" && !plainName(app) || strings.HasPrefix(rest, "://") {
		return "", "", s
	}
	return app, procid, strings.TrimPrefix(rest[1:], " ")
}

// plainName reports whether a word can be a program without a process number. A number or a date cannot, and "größe: 5" is more
// likely a message.
func plainName(word string) (letter bool) {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return false
		}
		letter = letter || isLetter(word[i])
	}
	return letter
}

// program returns the length of the program name at the start, with parentheses: "sshd(pam_unix)[1]:", "(sd-pam)[1]:".
func program(s string) int {
	i := letters(s)
	if inner, ok := strings.CutPrefix(s[i:], "("); ok {
		if n := letters(inner); n > 0 && strings.HasPrefix(inner[n:], ")") && (i > 0 || strings.HasPrefix(inner[n+1:], "[")) {
			i += n + 2
		}
	}
	return i
}

// letters returns the length of the characters at the start that program names consist of.
func letters(s string) (n int) {
	for n < len(s) && n <= longestTag {
		size := 1
		if b := s[n]; b >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[n:]); !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
				break
			}
		} else if !isLetter(b) && !isDigit(b) && strings.IndexByte("-_./@+#*", b) < 0 {
			break
		}
		n += size
	}
	return n
}

// payload reports whether a message begins with the marker of its format.
func payload(s string) bool {
	for _, mark := range []string{"CEF:", "LEEF:"} {
		if rest, ok := strings.CutPrefix(s, mark); ok && rest != "" && isDigit(rest[0]) {
			return true
		}
	}
	return strings.HasPrefix(s, "@cee:")
}

func allDigits(word string) bool {
	for i := range len(word) {
		if !isDigit(word[i]) {
			return false
		}
	}
	return word != ""
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
