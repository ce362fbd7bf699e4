package audit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// valueSize is how many bytes of a value the trail shows; a script may be longer. shownSize is the same of an event.
const (
	valueSize = 4000
	shownSize = 100
)

// Hidden is shown instead of a secret; sent back, it keeps the secret.
const Hidden = "***"

// TextField describes a text that differs. A secret is hidden.
func TextField(name, before, after string, secret bool) Field {
	if secret {
		before, after = hide(before), hide(after)
	}
	return Field{name, Quoted(before), Quoted(after)}
}

// Quoted returns a text as JSON, clipped to valueSize.
func Quoted(v string) string { return string(appendQuoted(nil, clipTo(v, valueSize))) }

// appendQuoted appends a text as JSON. Nearly all names need no escape.
func appendQuoted(dst []byte, v string) []byte {
	for i := range len(v) {
		if b := v[i]; b < ' ' || b == '"' || b == '\\' || b >= 0x7f {
			text := bytes.TrimSuffix(encode(v), []byte("\n"))
			return append(dst, text...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, v...)
	return append(dst, '"')
}

// appendValues appends the values of fields, before or after the change, as a JSON object. It appends nothing if there are none.
func appendValues(dst []byte, fields []Field, value func(*Field) string) []byte {
	empty := true
	for i := range fields {
		v := value(&fields[i])
		if v == "" {
			continue
		}
		if empty {
			dst = append(dst, '{')
		} else {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, fields[i].Name)
		dst = append(dst, ':')
		dst = append(dst, v...)
		empty = false
	}
	if !empty {
		dst = append(dst, '}')
	}
	return dst
}

func valueBefore(f *Field) string { return f.Before }
func valueAfter(f *Field) string  { return f.After }

// jsonText returns a value as JSON.
func jsonText(v any) string { return strings.TrimSuffix(string(encode(v)), "\n") }

// encode returns a value as JSON; nil: none.
func encode(v any) []byte {
	if v == nil {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // configuration holds nothing that JSON cannot express
	}
	return b.Bytes()
}

// hide replaces a secret unless it is empty.
func hide(secret string) string {
	if secret == "" {
		return ""
	}
	return Hidden
}

// Shown returns a value as an event shows it: short and on one line.
func Shown(v string) string {
	v = clipTo(v, shownSize)
	if v == "" || strings.ContainsFunc(v, unicode.IsControl) {
		return strconv.Quote(v)
	}
	return v
}

// clipTo shortens a text to at most that many bytes.
func clipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
