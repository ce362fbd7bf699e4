package syslog

import "strings"

// zones are names of zones and their offsets in hours. Those of North America are as in RFC 5322, and the others mean
// the same everywhere; other names are ambiguous.
var zones = map[string]int{
	"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "SAST": 2, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
	"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}

// readSuffix reads what may follow a clock time: a zone, a year, or both.
func (d *date) readSuffix(s string) (rest string) {
	if rest, ok := d.readOffset(s); ok { // 22:14:15Z, 22:14:15+02:00
		return rest
	}
	rest = d.readYear(s)
	rest = d.readZone(rest)
	return d.readYear(rest)
}

// readYear reads a blank and a year, unless there is one already.
func (d *date) readYear(s string) (rest string) {
	if year, ok := decimal(strings.TrimPrefix(s, " "), 4); ok && d.year == 0 && s[0] == ' ' && ends(s[5:]) {
		d.year = year
		return s[5:]
	}
	return s
}

// ends reports whether a word has ended. After a colon that does not end the time, an address continues.
func ends(rest string) bool {
	rest = strings.TrimPrefix(rest, ":")
	return rest == "" || rest[0] == ' ' || rest[0] == '%'
}

// readZone reads a blank and a zone: an offset, a name, or both as in "CET +01:00". An unknown name is a zone if a Cisco
// message, an offset or a year follows; otherwise it may be a host or a program.
func (d *date) readZone(s string) (rest string) {
	word := strings.TrimPrefix(s, " ")
	if word == s || word == "" {
		return s
	}
	if rest, ok := d.readOffset(word); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(word, "TZ"); ok { // an example of RFC 3164
		if rest, ok := d.readOffset(rest); ok {
			return rest
		}
	}
	if rest, ok := d.ciscoZone(word); ok {
		return rest
	}
	n := 0
	for n < len(word) && word[n] >= 'A' && word[n] <= 'Z' {
		n++
	}
	name, rest := word[:n], word[n:]
	if n < 2 || n > 5 || !ends(rest) {
		return s
	}
	if after, ok := d.readOffset(strings.TrimPrefix(rest, " ")); ok && rest != "" && rest[0] == ' ' {
		d.zone = name
		return after
	}
	_, known := zones[name]
	if year, ok := decimal(strings.TrimPrefix(rest, " "), 4); ok && year > 1969 && d.year == 0 {
		known = true
	}
	if known || strings.HasPrefix(rest, ": %") {
		d.zone = name
		return rest
	}
	return s
}

// ciscoZone reads a zone before a Cisco message, where it is free text: "cet", "UTC+1", "Berlin". An unknown name may also be a
// host, unless other parts of a Cisco header precede the time.
func (d *date) ciscoZone(s string) (rest string, ok bool) {
	name, message, ok := strings.Cut(s, ": ")
	if !ok || !strings.HasPrefix(message, "%") && !ciscoProcess(message) {
		return s, false
	}
	rest, zone := s[len(name):], strings.ToUpper(name)
	if offset := strings.TrimPrefix(strings.TrimPrefix(zone, "UTC"), "GMT"); offset != zone {
		if after, ok := d.readOffset(offset); ok && after == "" {
			return rest, true
		}
	}
	if _, known := zones[zone]; !known && !d.cisco || !hostName(name) || strings.Contains(name, ":") {
		return s, false
	}
	d.zone = zone
	return rest, true
}

// ciscoProcess reports whether an IOS XR message begins with its process, "ifmgr[211]: %PKT_INFRA-…".
func ciscoProcess(s string) bool {
	process, _, ok := strings.Cut(s, ": %")
	return ok && strings.HasSuffix(process, "]") && !strings.Contains(process, " ")
}

// readOffset reads Z, +02:00, +0200, +02 or +2.
func (d *date) readOffset(s string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(s, "Z"); ok && ends(rest) {
		d.fixed = true
		return rest, true
	}
	if s == "" || s[0] != '+' && s[0] != '-' {
		return s, false
	}
	var hours, minutes int
	switch text := s[1:]; {
	case matchesShape(text, "00:00"):
		hours, _ = decimal(text, 2)
		minutes, _ = decimal(text[3:], 2)
		rest = text[5:]
	case matchesShape(text, "0000"):
		hours, _ = decimal(text, 2)
		minutes, _ = decimal(text[2:], 2)
		rest = text[4:]
	case matchesShape(text, "00"):
		hours, _ = decimal(text, 2)
		rest = text[2:]
	case matchesShape(text, "0"):
		hours, _ = decimal(text, 1)
		rest = text[1:]
	default:
		return s, false
	}
	if hours > 14 || minutes > 59 || !ends(rest) {
		return s, false
	}
	d.offset, d.fixed = hours*3600+minutes*60, true
	if s[0] == '-' {
		d.offset = -d.offset
	}
	return rest, true
}
