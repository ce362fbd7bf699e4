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
	announce(&out, "admin", a)
	if !strings.Contains(out.String(), a) || !strings.Contains(out.String(), "admin") {
		t.Error(out.String())
	}
}
