package input

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// keyShape is what API keys look like.
var keyShape = regexp.MustCompile(`(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)

// LooksLikeKey reports whether a text contains something that looks like a key.
func LooksLikeKey(text string) bool { return keyShape.MatchString(text) }

// HideKeys hides what looks like a key.
func HideKeys(text string) string { return keyShape.ReplaceAllString(text, "***") }

// Mask hides keys in an address or another text of a client: the parameter apikey, and everything that looks like a key.
func Mask(address string) string {
	before, raw, found := strings.Cut(address, "?")
	if plain, err := url.PathUnescape(before); err != nil || plain != before && keyShape.MatchString(plain) {
		before = "/***"
	}
	before = keyShape.ReplaceAllString(before, "***")
	if !found {
		return before
	}
	parts := strings.FieldsFunc(raw, func(c rune) bool { return c == '&' || c == ';' })
	for i, p := range parts {
		parts[i] = maskPair(p)
	}
	return before + "?" + strings.Join(parts, "&")
}

func maskPair(pair string) string {
	name, value, found := strings.Cut(pair, "=")
	plain, err := url.QueryUnescape(name)
	if err != nil || strings.EqualFold(strings.TrimSpace(plain), "apikey") {
		return "apikey=***"
	}
	if plain == "code" { // of an OpenID Connect provider
		return "code=***"
	}
	if plain != name && keyShape.MatchString(plain) {
		return "***"
	}
	if !found {
		return keyShape.ReplaceAllString(name, "***")
	}
	text, err := url.QueryUnescape(value)
	if err != nil || (text != value && keyShape.MatchString(text)) {
		value = "***"
	}
	return keyShape.ReplaceAllString(name+"="+value, "***")
}

// Clip shortens a text of a client that is repeated in an error.
func Clip(text string) string {
	if short := fmt.Sprintf("%.100s", text); short != text {
		return short + "…"
	}
	return text
}
