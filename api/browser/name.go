package browser

import (
	"fmt"
	"strings"
	"unicode"
)

// Length is how many characters of a name are kept at most.
const Length = 60

// sign is a part of the User-Agent header that identifies a browser by name. Browsers claim to be others as well, so the first sign
// that is found counts.
type sign struct{ text, name string }

var browserSigns = []sign{
	{"Edg/", "Edge"},
	{"EdgA/", "Edge"},
	{"EdgiOS/", "Edge"},
	{"OPR/", "Opera"},
	{"SamsungBrowser/", "Samsung Internet"},
	{"Firefox/", "Firefox"},
	{"FxiOS/", "Firefox"},
	{"CriOS/", "Chrome"},
	{"Chrome/", "Chrome"},
	{"Version/", "Safari"},
}

var systemSigns = []sign{
	{"Windows", "Windows"},
	{"Android", "Android"},
	{"iPhone", "iPhone"},
	{"iPad", "iPad"},
	{"CrOS", "ChromeOS"},
	{"Macintosh", "macOS"},
	{"Linux", "Linux"},
}

// Name summarises a User-Agent, as in Firefox 142 on Linux. Other programs are named by their first word. The text is shown to
// users later, so only printable characters are kept, and few of them.
func Name(agent string) string {
	agent = printable(agent)
	if !strings.HasPrefix(agent, "Mozilla/") {
		name, _, _ := strings.Cut(agent, " ")
		return short(strings.Replace(name, "/", " ", 1))
	}
	text := "a browser"
	for _, s := range browserSigns {
		if _, after, ok := strings.Cut(agent, s.text); ok {
			text = strings.TrimSpace(s.name + " " + digits(after))
			break
		}
	}
	for _, s := range systemSigns {
		if strings.Contains(agent, s.text) {
			return short(text + " on " + s.name)
		}
	}
	return short(text)
}

// printable leaves out what does not show, or changes how the rest does.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// digits are those with which a text begins: of a version, the part that people know.
func digits(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return text
	}
	return text[:end]
}

func short(text string) string { return fmt.Sprintf("%.*s", Length, text) }
