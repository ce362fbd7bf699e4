package collect

import (
	"crypto/hmac"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/gosnmp/gosnmp"
)

// trapUser is a user of version 3, with keys instead of passwords.
type trapUser struct {
	name        string
	proof       gosnmp.SnmpV3AuthProtocol
	privacy     gosnmp.SnmpV3PrivProtocol
	proofKey    []byte // made from the password, for every engine; the keys of one engine are made from it
	privacyKey  []byte
	proofLength int

	mu   sync.Mutex
	keys map[string]trapKeys // by engine
}

// trapKeys are those of a user at one engine.
type trapKeys struct{ proof, privacy []byte }

// trapProof is a way to prove who sends.
type trapProof struct {
	protocol gosnmp.SnmpV3AuthProtocol
	length   int // of the proof in a packet
}

var trapProofs = map[string]trapProof{
	"none": {gosnmp.NoAuth, 0}, "md5": {gosnmp.MD5, 12}, "sha": {gosnmp.SHA, 12}, "sha1": {gosnmp.SHA, 12}, "sha224": {gosnmp.SHA224, 16},
	"sha256": {gosnmp.SHA256, 24}, "sha384": {gosnmp.SHA384, 32}, "sha512": {gosnmp.SHA512, 48},
}

// trapPrivacies are ways to hide what is sent. Those with a c make long keys as Cisco does.
var trapPrivacies = map[string]gosnmp.SnmpV3PrivProtocol{
	"none": gosnmp.NoPriv, "des": gosnmp.DES, "aes": gosnmp.AES, "aes128": gosnmp.AES, "aes192": gosnmp.AES192, "aes256": gosnmp.AES256,
	"aes192c": gosnmp.AES192C, "aes256c": gosnmp.AES256C,
}

const (
	trapUsers       = 100
	trapUserName    = 32 // bytes (RFC 3414, 5)
	trapPassword    = 8  // bytes at least (RFC 3414, 11.2)
	trapUserEngines = 10_000
)

// userLine is a user as it is written.
type userLine struct {
	name, proof, proofPassword, privacy, privacyPassword string
}

// parseUsers reads users, one a line. What it complains about it names by its place: never with the text that is there,
// which may be a password.
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
		if all = append(all, u); len(all) > trapUsers {
			return nil, fmt.Errorf("line %d: a receiver takes %d users at most; make another receiver for the others", number, trapUsers)
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
	u.proof, u.privacy = strings.ReplaceAll(u.proof, "-", ""), strings.ReplaceAll(u.privacy, "-", "")
	if u.proof == "" {
		u.proof = "none"
	}
	if u.privacy == "" {
		u.privacy = "none"
	}
	return u, u.check()
}

func (u *userLine) check() error {
	if len(u.name) < 1 || len(u.name) > trapUserName {
		return fmt.Errorf("field 1: the name has %d bytes; 1 to %d are possible", len(u.name), trapUserName)
	}
	if _, ok := trapProofs[u.proof]; !ok {
		return errors.New("field 2: the proof is none, md5, sha, sha224, sha256, sha384 or sha512")
	}
	if _, ok := trapPrivacies[u.privacy]; !ok {
		return errors.New("field 4: privacy is none, des, aes, aes192, aes256, aes192c or aes256c")
	}
	if u.proof == "none" && u.privacy != "none" {
		return errors.New("field 4: privacy without a proof is not possible; name one in field 2")
	}
	if err := checkPassword(3, "the proof", u.proof, u.proofPassword); err != nil {
		return err
	}
	return checkPassword(5, "privacy", u.privacy, u.privacyPassword)
}

func checkPassword(field int, of, protocol, password string) error {
	switch {
	case protocol == "none" && password != "":
		return fmt.Errorf("field %d: there is a password, but %s is none", field, of)
	case protocol != "none" && len(password) < trapPassword:
		return fmt.Errorf("field %d: the password of %s has %d characters; it needs %d or more", field, of, len(password), trapPassword)
	}
	return nil
}

// user makes keys of passwords, which takes a while.
func (u *userLine) user() *trapUser {
	p := trapProofs[u.proof]
	t := &trapUser{name: u.name, proof: p.protocol, proofLength: p.length, privacy: trapPrivacies[u.privacy], keys: map[string]trapKeys{}}
	if t.proof != gosnmp.NoAuth {
		t.proofKey = stretch(t.proof, []byte(u.proofPassword))
	}
	if t.privacy != gosnmp.NoPriv {
		t.privacyKey = stretch(t.proof, []byte(u.privacyPassword))
	}
	return t
}

// stretch makes a key of a password (RFC 3414, A.2): the hash of a mebibyte of it. The library does it, too, but forgets no
// key it has ever made, also of engines that strangers invent.
func stretch(p gosnmp.SnmpV3AuthProtocol, password []byte) []byte {
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

// localize makes the key for one engine.
func localize(p gosnmp.SnmpV3AuthProtocol, key []byte, engine string) []byte {
	h := p.HashType().New()
	h.Write(key)
	h.Write([]byte(engine))
	h.Write(key)
	return h.Sum(nil)
}

// level is what a packet of the user must be: proved, and hidden.
func (u *trapUser) level() (flags gosnmp.SnmpV3MsgFlags) {
	switch {
	case u.privacy != gosnmp.NoPriv:
		return gosnmp.AuthPriv
	case u.proof != gosnmp.NoAuth:
		return gosnmp.AuthNoPriv
	}
	return gosnmp.NoAuthNoPriv
}

// authentic tells whether a packet was sent by someone who knows the password, and gives the keys if so. Keys are kept for
// packets that are; a stranger can neither fill the memory nor push others out.
func (u *trapUser) authentic(h *trapHeader, packet []byte) (k trapKeys, ok bool) {
	if u.proof == gosnmp.NoAuth {
		return k, true
	}
	u.mu.Lock()
	k, known := u.keys[h.engine]
	u.mu.Unlock()
	if !known {
		k.proof = localize(u.proof, u.proofKey, h.engine)
	}
	if len(h.proof) != u.proofLength {
		return k, false
	}
	mac := hmac.New(u.proof.HashType().New, k.proof)
	mac.Write(packet[:h.proofAt])
	mac.Write(make([]byte, len(h.proof)))
	mac.Write(packet[h.proofAt+len(h.proof):])
	if !hmac.Equal(mac.Sum(nil)[:u.proofLength], h.proof) {
		return k, false
	}
	if !known {
		k.privacy = u.localPrivacy(h.engine)
		u.mu.Lock()
		if len(u.keys) >= trapUserEngines {
			clear(u.keys)
		}
		u.keys[h.engine] = k
		u.mu.Unlock()
	}
	return k, true
}

// localPrivacy makes the privacy key for one engine, as long as the cipher wants it.
func (u *trapUser) localPrivacy(engine string) []byte {
	if u.privacy == gosnmp.NoPriv {
		return nil
	}
	key := localize(u.proof, u.privacyKey, engine)
	length := 16
	switch u.privacy {
	case gosnmp.AES192, gosnmp.AES192C:
		length = 24
	case gosnmp.AES256, gosnmp.AES256C:
		length = 32
	}
	for last := key; len(key) < length; {
		if u.privacy == gosnmp.AES192C || u.privacy == gosnmp.AES256C {
			last = localize(u.proof, stretch(u.proof, last), engine)
		} else {
			h := u.proof.HashType().New()
			h.Write(key)
			last = h.Sum(nil)
		}
		key = append(key, last...)
	}
	return key[:length]
}

// parameters are what the library needs to read and write packets of the user.
func (u *trapUser) parameters(engine string, k trapKeys) *gosnmp.UsmSecurityParameters {
	return &gosnmp.UsmSecurityParameters{
		UserName: u.name, AuthoritativeEngineID: engine,
		AuthenticationProtocol: u.proof, SecretKey: k.proof, PrivacyProtocol: u.privacy, PrivacyKey: k.privacy,
	}
}
