package belfry

import "testing"

// TestIdentity: replies under an Idempotency-Key are those of a user with the same rights, whatever the password; a session ends with
// either.
func TestIdentity(t *testing.T) {
	is := User{Name: "eve", Role: Operator, Password: "a", Created: 7}
	for name, c := range map[string]struct {
		change         func(*User)
		identity, ends bool // changes the identity, ends the sessions
	}{
		"nothing":      {func(*User) {}, false, false},
		"password":     {func(u *User) { u.Password = "b" }, false, true},
		"another user": {func(u *User) { u.Created = 8 }, true, true},
		"role":         {func(u *User) { u.Role = Viewer }, true, true},
		"instance":     {func(u *User) { u.Instance = true }, true, true},
		"views":        {func(u *User) { u.Views = []string{"Paris"} }, true, true},
		"login":        {func(u *User) { u.LastLogin = 9 }, false, false},
	} {
		u := is
		c.change(&u)
		if got := u.Identity() != is.Identity(); got != c.identity {
			t.Errorf("%s changes the identity: %v", name, got)
		}
		if got := u.Fingerprint() != is.Fingerprint(); got != c.ends {
			t.Errorf("%s ends sessions: %v", name, got)
		}
	}
	if other := (User{Name: "bob", Role: Operator, Password: "a", Created: 7}); other.Identity() == is.Identity() {
		t.Error("two users have one identity")
	}
}
