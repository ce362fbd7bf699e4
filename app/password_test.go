package app

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
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
	var out bytes.Buffer
	announce(&out, "http://127.0.0.1:8080/ui/", "admin", a)
	if !strings.Contains(out.String(), a) || !strings.Contains(out.String(), "admin") || !strings.Contains(out.String(), "open      http://127.0.0.1:8080/ui/\n") {
		t.Error(out.String())
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
