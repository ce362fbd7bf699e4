package belfry

import (
	"crypto/sha256"
	"encoding/hex"
)

// User is a person who logs in to the web interface.
type User struct {
	Name     string `json:"name"`
	Password string `json:"password"` // argon2id, in PHC form; empty for one whom only a provider knows
	Role     string `json:"role"`     // viewer, operator, administrator
	Instance bool   `json:"instance,omitempty"`
	Created  Time   `json:"created"`
	// Subject is who the user is at an OpenID provider: the issuer, a blank, and the name that it never gives to another.
	Subject   string `json:"subject,omitempty"`
	LastLogin Time   `json:"lastlogin,omitempty"`

	// Views are what the user may see and touch, with their content; see Scope. None: the whole customer.
	Views []string `json:"views,omitempty"`
}

// The roles of a user.
const (
	Viewer        = "viewer"
	Operator      = "operator"
	Administrator = "administrator"
)

// InstanceAdministrator is how the role of an administrator of the whole instance is called.
const InstanceAdministrator = "instance administrator"

// RoleName is the name of the role that users see and SetRole accepts.
func (u *User) RoleName() string {
	if u.Level() == LevelInstance {
		return InstanceAdministrator
	}
	return u.Role
}

// SetRole gives the user a role by its name; false when there is no such role.
func (u *User) SetRole(name string) bool {
	switch name {
	case Viewer, Operator, Administrator:
		u.Role, u.Instance = name, false
	case InstanceAdministrator:
		u.Role, u.Instance = Administrator, true
	default:
		return false
	}
	return true
}

// Level is what a session of the user may do. A role that is not known may do nothing.
func (u *User) Level() Level {
	switch {
	case u.Role == Viewer:
		return LevelRead
	case u.Role == Operator:
		return LevelReadWrite
	case u.Role == Administrator && u.Instance:
		return LevelInstance
	case u.Role == Administrator:
		return LevelAdministrator
	}
	return LevelNone
}

// Fingerprint changes whenever the user gets another password or other rights, and for another user of the same name: the salt
// in the password is random. A session has the fingerprint of the user who began it and ends when the two differ.
func (u *User) Fingerprint() string { return HashOf(u.Password + "\n" + u.rights()).String() }

// Identity is that of this user with these rights, whatever the password: another user of the same name has another one, and so has
// this one with other rights.
func (u *User) Identity() string { return HashOf("user " + u.Name + "\n" + u.rights()).String() }

func (u *User) rights() string {
	instance := ""
	if u.Instance {
		instance = " of the instance"
	}
	text := u.Role + instance + "\n" + u.Created.String()
	for _, v := range u.Views {
		text += "\n" + v // no name holds a line break
	}
	return text
}

// Session is a user who is logged in. Its secret is in the user's browser and nowhere else.
type Session struct {
	User        string `json:"user"`
	Fingerprint string `json:"mark"` // of the user at the login
	Created     Time   `json:"created"`
	Expires     Time   `json:"expires"`
	LastUse     Time   `json:"lastuse,omitempty"`
	Origin
	// Acting is the customer in which an administrator of the instance works, when that is not the user's own.
	Acting CustomerID `json:"acting,omitempty"`
	// ActingIn is the name of that customer, for an error when it was removed.
	ActingIn string `json:"actingin,omitempty"`
}

// mostAhead is how far ahead of the time a session may have begun, in microseconds: a clock that is off by up to a day is believed.
const mostAhead Time = 24 * 3600 * 1_000_000

// Over reports whether the session has ended at a time.
func (s Session) Over(now Time) bool { return s.Expires <= now || s.Ahead(now) }

// Ahead reports that the session began by a clock that was more than a day ahead. Such a session would last until that time has come.
func (s Session) Ahead(now Time) bool { return s.Created > now+mostAhead }

// Origin is where a session was begun, so that people recognise it as theirs. Both are what the login said, and prove nothing.
type Origin struct {
	Address string `json:"address,omitempty"` // the other end of the connection
	Browser string `json:"browser,omitempty"` // in a few words
	Request string `json:"-"`                 // id of the request that began it
}

// SessionID names a session where it is shown. It is a hash over the hash of the secret: who reads it cannot come in with it,
// and learns nothing about what is stored.
func SessionID(h Hash) string {
	id := HashOf("session " + h.String())
	return hex.EncodeToString(id[:16])
}

// Removal says that a customer has been removed. It stays for ever: its number is never given to another customer, so
// that nothing of the one can turn up with the other.
type Removal struct {
	Customer CustomerID `json:"customer"`
	Removed  Time       `json:"removed"`
	Erased   Time       `json:"erased,omitempty"` // when its rows were gone from the disk; 0: not yet
}

// Level is what a key or a session may do. Levels nest: each includes the ones before it.
type Level uint8

// The levels. Keys have the first three; the last two are for sessions alone.
const (
	LevelNone Level = iota
	LevelRead
	LevelReadWrite
	LevelReadWriteDelete
	LevelAdministrator
	LevelInstance
)

var levelNames = [...]string{"none", "read", "readwrite", "readwritedelete", "administrator", "instance administrator"}

func (l Level) String() string { return levelNames[min(int(l), len(levelNames)-1)] }

// ParseLevel reads the name of a level that a key can have.
func ParseLevel(s string) (Level, error) {
	for l := LevelRead; l <= LevelReadWriteDelete; l++ {
		if l.String() == s {
			return l, nil
		}
	}
	return LevelNone, Errorf(BadParameter, "level must be read, readwrite or readwritedelete, got %q", s)
}

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name of a level that a key can have.
func (l *Level) UnmarshalText(b []byte) (err error) {
	*l, err = ParseLevel(string(b))
	return err
}

// Hash is the SHA-256 of a secret, an API key or the token of a session: all that is kept of it.
type Hash [sha256.Size]byte

// HashOf hashes a secret. Secrets are random and long, so that nothing slower is needed.
func HashOf(secret string) Hash {
	var room [64]byte // a key fits, and needs no allocation
	return sha256.Sum256(append(room[:0], secret...))
}

// String gives the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String wrote.
func ParseHash(s string) (h Hash, ok bool) {
	if len(s) != hex.EncodedLen(len(h)) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(s))
	return h, err == nil
}
