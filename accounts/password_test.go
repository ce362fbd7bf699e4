package accounts

import (
	"regexp"
	"strings"
	"testing"

	"belfry"
)

func TestHashPassword(t *testing.T) {
	a, b := HashPassword("secret"), HashPassword("secret")
	if a == b {
		t.Error("two hashes of one password are alike: there is no salt")
	}
	if !regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`).MatchString(a) {
		t.Errorf("not in PHC form: %s", a)
	}
}

func TestNewPassword(t *testing.T) {
	a, b := NewPassword(), NewPassword()
	if a == b || !regexp.MustCompile(`^([a-z2-7]{5}-){3}[a-z2-7]{5}$`).MatchString(a) {
		t.Errorf("%s, %s", a, b)
	}
}

func TestCheckPassword(t *testing.T) {
	stored := HashPassword("secret")
	f := func(stored, password string, want bool) {
		t.Helper()
		if got := CheckPassword(stored, password); got != want {
			t.Errorf("%q against %q: %t", password, stored, got)
		}
	}
	f(stored, "secret", true)
	f(stored, "Secret", false)
	f(stored, "", false)
	f(HashPassword(""), "", true)
	f(unknownPassword(), "", false)
	f(unknownPassword(), "secret", false)
	f("", "", false)
	f("secret", "secret", false)
	f(strings.Replace(stored, "argon2id", "argon2i", 1), "secret", false)
	f(strings.Replace(stored, "v=19", "v=16", 1), "secret", false)
	f(strings.Replace(stored, "m=19456", "m=999999999", 1), "secret", false) // would take all memory
	f(strings.Replace(stored, "t=2", "t=999999999", 1), "secret", false)     // would never end
	f(strings.Replace(stored, "p=1", "p=0", 1), "secret", false)
	f(stored[:len(stored)-1], "secret", false)
	f(stored[:strings.LastIndex(stored, "$")+1], "secret", false)
	if a, b := strings.Split(stored, "$"), strings.Split(unknownPassword(), "$"); a[3] != b[3] || len(a[4]) != len(b[4]) || len(a[5]) != len(b[5]) {
		t.Errorf("a user who does not exist costs something else: %v, %v", a, b)
	}
}

func TestPasswordRules(t *testing.T) {
	f := func(user, password, want string) {
		t.Helper()
		err := checkPassword(user, password)
		if want == "" && err != nil || want != "" && (belfry.CodeOf(err) != belfry.BadParameter || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", password, err, want)
		}
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("the error tells the password: %v", err)
		}
	}
	f("eve", "ten signs!", "")
	f("eve", "nine sign", "less than 10")
	f("eve", "äöüäöüäöüß", "") // characters, not bytes
	f("eve", strings.Repeat("ab", 512), "")
	f("eve", strings.Repeat("ab", 512)+"c", "more than 1024")
	f("a long name", "A Long Name", "name of the user")
	f("eve", "qwertyuiop", "tried first")
	f("eve", "PASSWORD123", "tried first")
	f("eve", "aaaaaaaaaaaa", "tried first")
	if n := strings.Count(commonPasswords, "\n"); n < 100 {
		t.Errorf("%d common passwords", n)
	}
	for line := range strings.Lines(commonPasswords) {
		if l := strings.TrimSpace(line); len([]rune(l)) < minPassword || l != strings.ToLower(l) {
			t.Errorf("%q would never be met", l)
		}
	}
}
