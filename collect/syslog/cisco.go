package syslog

import "strings"

// readCisco reads messages of Cisco devices: their own header, which ends with a colon, and a message that usually begins
// with its mnemonic. All parts of the header are optional, depending on the device and its configuration:
//
//	123: sw-1: 000045: *Mar  1 2026 18:46:11.123 CET: %SYS-5-CONFIG_I: …   IOS: counts of messages, its name, the time
//	sw-1 45: Mar  1 18:46:11: %SYS-5-CONFIG_I: …                           the name before the count, put there by a relay
//	45: 3w2d: %SYS-5-CONFIG_I: …                                           IOS: how long it has been running, which is no time
//	12: xr-1 RP/0/RSP0/CPU0:Mar  1 18:46:11.123 : ifmgr[211]: %PKT_INFRA-LINK-3-UPDOWN : …   IOS XR
//	: 2026 Mar  1 18:46:11 CET: %ETHPORT-5-IF_UP: …                        NX-OS
//	wlc-1: *spamApTask7: Mar  1 18:46:11.123: %CAPWAP-3-DTLS_CLOSED_ERR: …  wireless controllers: the task
//	fw-1 : %ASA-6-302013: …                                                ASA
//
// The line itself does not begin with a time.
func (p *Parser) readCisco(s string, m *Message) bool {
	var head Message
	rest, parts, strict := strings.TrimLeft(strings.TrimPrefix(s, ":"), " "), 0, true
	if rest != s {
		parts = 1
	}
	name, counted := ciscoName(rest)
	if name != "" {
		head.Host, rest = name, counted
	}
	for ; parts == 0 || !mnemonic(rest); parts++ {
		at, after, colon, ok := p.timestamp(rest, true)
		if ok {
			head.DeviceTime, rest, strict = at, strings.TrimLeft(after, " "), colon
			break
		}
		if rest, ok = head.ciscoPart(rest); !ok || parts > 6 {
			return false
		}
	}
	if name != "" && !mnemonic(rest) { // "line 45: …" is message text
		return false
	}
	if !strict && head.Host == "" {
		head.Host, rest = host(rest)
	}
	m.DeviceTime, m.Host, m.App, m.Message = head.DeviceTime, head.Host, head.App, rest
	if app, procid, text := tag(rest, true); procid != "" || !strict && app != "" { // after a colon, "IP: " is part of the message
		m.App, m.ProcID, m.Message = app, procid, text
	}
	return true
}

// ciscoName reads the name of a device before a count, "sw-1 45: …".
func ciscoName(s string) (name, rest string) {
	name, rest, _ = strings.Cut(s, " ")
	count, _, ok := strings.Cut(rest, ": ")
	if !ok || !allDigits(count) || strings.HasSuffix(name, ":") || !hostName(name) {
		return "", s
	}
	return name, rest
}

// ciscoPart reads what may precede the time: a count, a host, a task, or a node.
func (m *Message) ciscoPart(s string) (rest string, ok bool) {
	if rest, ok = ciscoNode(s, m); ok {
		return rest, true
	}
	word, rest, ok := strings.Cut(s, ": ")
	rest = strings.TrimLeft(rest, " ")
	switch word = strings.TrimSuffix(word, " "); {
	case !ok || word == "":
		return s, false
	case allDigits(word) && len(word) < 12, uptime(word) && mnemonic(rest):
	case word[0] == '*' && m.App == "" && letters(word) == len(word):
		m.App = word[1:]
	case m.Host == "" && hostName(word):
		m.Host = word
	default:
		return s, false
	}
	return rest, true
}

// ciscoNode skips the node of an IOS XR device, "RP/0/RSP0/CPU0:", and reads the host before it.
func ciscoNode(s string, m *Message) (rest string, ok bool) {
	place, rest, _ := strings.Cut(s, ":")
	name, card, named := strings.Cut(place, " ")
	if !named {
		name, card = m.Host, place
	}
	if strings.Count(card, "/") != 3 || letters(card) != len(card) || named && (m.Host != "" || !hostName(name)) {
		return s, false
	}
	m.Host = name
	return rest, true
}

// mnemonic reports whether a text begins with %, facility, severity and a name.
func mnemonic(s string) bool {
	word, _, ok := strings.Cut(strings.TrimPrefix(s, "%"), ":")
	word = strings.TrimSuffix(word, " ")
	if !ok || s[0] != '%' || letters(word) != len(word) {
		return false
	}
	for i := 1; i < len(word)-2; i++ {
		if word[i] == '-' && word[i+1] >= '0' && word[i+1] <= '7' && word[i+2] == '-' {
			return true
		}
	}
	return false
}

// uptime reports whether a word is an uptime: 00:00:46, 1d02h, 3w2d.
func uptime(word string) bool {
	return isDigit(word[0]) && strings.Trim(word, "0123456789ywdhms:.") == "" && strings.ContainsAny(word, "ywdhms:")
}
