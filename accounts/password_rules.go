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

// commonPasswords are those that attackers try first and that are long enough to be accepted, one per line.
//
//go:embed common_passwords.txt
var commonPasswords string

// checkPassword rejects a weak password. It requires length, not characters of several kinds, which add little.
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

// isCommon reports whether a password is in the list or repeats a single character.
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
