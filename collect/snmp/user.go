package snmp

import (
	"crypto/hmac"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/gosnmp/gosnmp"
)

// user is an SNMPv3 user, with keys instead of passwords.
type user struct {
	name       string
	auth       gosnmp.SnmpV3AuthProtocol
	privacy    gosnmp.SnmpV3PrivProtocol
	authKey    []byte // from the password, for all engines; localized for each
	privacyKey []byte
	authLength int

	mu   sync.Mutex
	keys map[string]userKeys // localized keys by engine
}

// userKeys are the localized keys of a user.
type userKeys struct{ auth, privacy []byte }

// authProtocol is an authentication protocol.
type authProtocol struct {
	protocol gosnmp.SnmpV3AuthProtocol
	length   int // of the authentication parameters
}

var authProtocols = map[string]authProtocol{
	"none": {gosnmp.NoAuth, 0}, "md5": {gosnmp.MD5, 12}, "sha": {gosnmp.SHA, 12}, "sha1": {gosnmp.SHA, 12}, "sha224": {gosnmp.SHA224, 16},
	"sha256": {gosnmp.SHA256, 24}, "sha384": {gosnmp.SHA384, 32}, "sha512": {gosnmp.SHA512, 48},
}

// privacyProtocols are ways to hide what is sent. Those with a c make long keys as Cisco does.
var privacyProtocols = map[string]gosnmp.SnmpV3PrivProtocol{
	"none": gosnmp.NoPriv, "des": gosnmp.DES, "aes": gosnmp.AES, "aes128": gosnmp.AES, "aes192": gosnmp.AES192, "aes256": gosnmp.AES256,
	"aes192c": gosnmp.AES192C, "aes256c": gosnmp.AES256C,
}

const (
	maxUsers       = 100
	maxUserName    = 32 // bytes (RFC 3414, 5)
	minPassword    = 8  // minimum bytes (RFC 3414, 11.2)
	maxUserEngines = 10_000
)

// userLine is a user as it is written in the answers.
type userLine struct {
	name, auth, authPassword, privacy, privacyPassword string
}

// parseUsers parses users, one per line. Errors name positions and never quote the text, which may be a password.
func parseUsers(text string) (all []userLine, err error) {
	seen := map[string]int{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		u, err := parseUser(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if first := seen[u.name]; first > 0 {
			return nil, fmt.Errorf("line %d: field 1: the user of line %d has the same name", number, first)
		}
		seen[u.name] = number
		if all = append(all, u); len(all) > maxUsers {
			return nil, fmt.Errorf("line %d: a receiver takes %d users at most; make another receiver for the others", number, maxUsers)
		}
	}
	return all, nil
}

func parseUser(line string) (u userLine, err error) {
	r := csv.NewReader(strings.NewReader(line))
	r.TrimLeadingSpace = true
	fields, err := r.Read()
	if err != nil || len(fields) > 5 {
		return u, errors.New("a user has five fields: name, proof, its password, privacy, its password; put one with commas or quotes in quotes, each quote in it twice")
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	fields = append(fields, make([]string, 5-len(fields))...)
	u = userLine{fields[0], strings.ToLower(fields[1]), fields[2], strings.ToLower(fields[3]), fields[4]}
	u.auth, u.privacy = strings.ReplaceAll(u.auth, "-", ""), strings.ReplaceAll(u.privacy, "-", "")
	if u.auth == "" {
		u.auth = "none"
	}
	if u.privacy == "" {
		u.privacy = "none"
	}
	return u, u.check()
}

func (u *userLine) check() error {
	if len(u.name) < 1 || len(u.name) > maxUserName {
		return fmt.Errorf("field 1: the name has %d bytes; 1 to %d are possible", len(u.name), maxUserName)
	}
	if _, ok := authProtocols[u.auth]; !ok {
		return errors.New("field 2: the proof is none, md5, sha, sha224, sha256, sha384 or sha512")
	}
	if _, ok := privacyProtocols[u.privacy]; !ok {
		return errors.New("field 4: privacy is none, des, aes, aes192, aes256, aes192c or aes256c")
	}
	if u.auth == "none" && u.privacy != "none" {
		return errors.New("field 4: privacy without a proof is not possible; name one in field 2")
	}
	if err := checkPassword(3, "the proof", u.auth, u.authPassword); err != nil {
		return err
	}
	return checkPassword(5, "privacy", u.privacy, u.privacyPassword)
}

func checkPassword(field int, of, protocol, password string) error {
	switch {
	case protocol == "none" && password != "":
		return fmt.Errorf("field %d: there is a password, but %s is none", field, of)
	case protocol != "none" && len(password) < minPassword:
		return fmt.Errorf("field %d: the password of %s has %d characters; it needs %d or more", field, of, len(password), minPassword)
	}
	return nil
}

// user derives the keys, which takes a while.
func (u *userLine) user() *user {
	p := authProtocols[u.auth]
	t := &user{name: u.name, auth: p.protocol, authLength: p.length, privacy: privacyProtocols[u.privacy], keys: map[string]userKeys{}}
	if t.auth != gosnmp.NoAuth {
		t.authKey = passwordKey(t.auth, []byte(u.authPassword))
	}
	if t.privacy != gosnmp.NoPriv {
		t.privacyKey = passwordKey(t.auth, []byte(u.privacyPassword))
	}
	return t
}

// passwordKey derives a key from a password (RFC 3414, A.2): the hash of one mebibyte of it. The library does that, too, but
// caches every key for ever, also for engines that strangers invent.
func passwordKey(p gosnmp.SnmpV3AuthProtocol, password []byte) []byte {
	const all = 1 << 20
	h := p.HashType().New()
	chunk := make([]byte, 0, 64+len(password))
	for len(chunk) < 64 {
		chunk = append(chunk, password...)
	}
	for left := all; left > 0; left -= len(chunk) {
		h.Write(chunk[:min(left, len(chunk))])
	}
	return h.Sum(nil)
}

// localize derives the key for one engine.
func localize(p gosnmp.SnmpV3AuthProtocol, key []byte, engine string) []byte {
	h := p.HashType().New()
	h.Write(key)
	h.Write([]byte(engine))
	h.Write(key)
	return h.Sum(nil)
}

// level returns the security level that packets of the user must have.
func (u *user) level() (flags gosnmp.SnmpV3MsgFlags) {
	switch {
	case u.privacy != gosnmp.NoPriv:
		return gosnmp.AuthPriv
	case u.auth != gosnmp.NoAuth:
		return gosnmp.AuthNoPriv
	}
	return gosnmp.NoAuthNoPriv
}

// authentic checks the authentication of a packet and returns the keys. Only keys of authentic packets are cached, so that
// strangers can neither fill the cache nor evict others.
func (u *user) authentic(h *header, packet []byte) (k userKeys, ok bool) {
	if u.auth == gosnmp.NoAuth {
		return k, true
	}
	u.mu.Lock()
	k, known := u.keys[h.engine]
	u.mu.Unlock()
	if !known {
		k.auth = localize(u.auth, u.authKey, h.engine)
	}
	if len(h.authParams) != u.authLength {
		return k, false
	}
	mac := hmac.New(u.auth.HashType().New, k.auth)
	mac.Write(packet[:h.authOffset])
	mac.Write(make([]byte, len(h.authParams)))
	mac.Write(packet[h.authOffset+len(h.authParams):])
	if !hmac.Equal(mac.Sum(nil)[:u.authLength], h.authParams) {
		return k, false
	}
	if !known {
		k.privacy = u.localPrivacy(h.engine)
		u.mu.Lock()
		if len(u.keys) >= maxUserEngines {
			clear(u.keys)
		}
		u.keys[h.engine] = k
		u.mu.Unlock()
	}
	return k, true
}

// localPrivacy derives the privacy key for one engine, with the length that the cipher needs.
func (u *user) localPrivacy(engine string) []byte {
	if u.privacy == gosnmp.NoPriv {
		return nil
	}
	key := localize(u.auth, u.privacyKey, engine)
	length := 16
	switch u.privacy {
	case gosnmp.AES192, gosnmp.AES192C:
		length = 24
	case gosnmp.AES256, gosnmp.AES256C:
		length = 32
	}
	for last := key; len(key) < length; {
		if u.privacy == gosnmp.AES192C || u.privacy == gosnmp.AES256C {
			last = localize(u.auth, passwordKey(u.auth, last), engine)
		} else {
			h := u.auth.HashType().New()
			h.Write(key)
			last = h.Sum(nil)
		}
		key = append(key, last...)
	}
	return key[:length]
}

// parameters returns the security parameters for the library.
func (u *user) parameters(engine string, k userKeys) *gosnmp.UsmSecurityParameters {
	return &gosnmp.UsmSecurityParameters{
		UserName: u.name, AuthoritativeEngineID: engine,
		AuthenticationProtocol: u.auth, SecretKey: k.auth, PrivacyProtocol: u.privacy, PrivacyKey: k.privacy,
	}
}
