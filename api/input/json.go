// Package input reads what clients write: JSON bodies of fields, actions and settings. Errors name the field and do not repeat
// keys or passwords.
package input

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"belfry"
)

// CheckJSON refuses texts that the decoder would silently change: bytes that are not UTF-8, and single surrogates, both of which it
// turns into U+FFFD. The error does not repeat the body: it may hold a password.
func CheckJSON(text []byte) error {
	if !utf8.Valid(text) {
		return belfry.Errorf(belfry.BadJSON, "the body is not UTF-8; send it as UTF-8")
	}
	if at := halfCharacter(text); at >= 0 {
		return belfry.Errorf(belfry.BadJSON, `the escape at byte %d is one half of a character without the other, as \ud800 is; send the character itself in UTF-8`, at)
	}
	return nil
}

// halfCharacter is the position of a surrogate that is not one of a pair; -1 when there is none.
func halfCharacter(text []byte) int {
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '\\')
		if n < 0 {
			break
		}
		i += n
		r := unit(text[i:])
		switch {
		case !utf16.IsSurrogate(r):
			i += 2
		case utf16.DecodeRune(r, unit(text[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 12
		}
	}
	return -1
}

// unit reads \uXXXX at the start of text; -1 when there is none.
func unit(text []byte) rune {
	if len(text) < 6 || text[1] != 'u' || text[0] != '\\' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
