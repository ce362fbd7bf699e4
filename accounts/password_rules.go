package accounts

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"belfry"
)

const (
	minPassword = 10   // characters
	maxPassword = 1024 // bytes: hashing takes longer for longer ones
)

// commonPasswords are those that are tried first, one on a line, as far as they are long enough to be taken at all.
//
//go:embed common_passwords.txt
var commonPasswords string

// checkPassword says what is wrong with a password that people choose by HTTP. It asks for length and not for signs of
// several kinds, which people put where everybody puts them.
func checkPassword(user, password string) error {
	plain := strings.ToLower(strings.TrimSpace(password))
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return belfry.Errorf(belfry.BadParameter, "the password has less than %d characters; choose a longer one", minPassword)
	case len(password) > maxPassword:
		return belfry.Errorf(belfry.BadParameter, "the password has more than %d bytes; choose a shorter one", maxPassword)
	case plain == strings.ToLower(user):
		return belfry.Errorf(belfry.BadParameter, "the password is the name of the user; choose another")
	case isCommon(plain):
		return belfry.Errorf(belfry.BadParameter, "the password is one of those that are tried first; choose another")
	}
	return nil
}

// isCommon looks a password up in the list; one sign over and over is as common as those.
func isCommon(plain string) bool {
	if first, _ := utf8.DecodeRuneInString(plain); strings.Trim(plain, string(first)) == "" {
		return true
	}
	for line := range strings.Lines(commonPasswords) {
		if strings.TrimSpace(line) == plain {
			return true
		}
	}
	return false
}
