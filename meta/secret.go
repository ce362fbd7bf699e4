package meta

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"belfry"
	"belfry/meta/sqlite"
)

// Secrets seals the secret answers of resources, so that journal and database hold them encrypted: AES-256-GCM, bound to the
// customer, the name of the item and the column, so that what was sealed for one cannot be opened as that of another. A nil
// *Secrets keeps them as they are.
type Secrets struct {
	keys  []secretKey // the first seals, all open
	fault error       // why there are none
}

type secretKey struct {
	id   string
	aead cipher.AEAD
}

// SecretKeySize is the size of a key in bytes.
const SecretKeySize = 32

// sealedMark begins every sealed text; the id of its key and what was sealed follow. What does not begin with it is an
// answer that was stored before its question was made a secret one.
const sealedMark = "sealed:1:"

// NewSecrets makes Secrets from keys. The first key seals; the others only open what they have sealed.
func NewSecrets(keys ...[]byte) (*Secrets, error) {
	s := &Secrets{}
	for _, k := range keys {
		if len(k) != SecretKeySize {
			return nil, fmt.Errorf("a key has %d bytes, and needs %d", len(k), SecretKeySize)
		}
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		id := sha256.Sum256(append([]byte("belfry secret key "), k...))
		s.keys = append(s.keys, secretKey{hex.EncodeToString(id[:4]), aead})
	}
	if len(s.keys) == 0 {
		return nil, errors.New("there is no key")
	}
	return s, nil
}

// LockedSecrets returns Secrets that can neither seal nor open; err says why.
func LockedSecrets(err error) *Secrets { return &Secrets{fault: err} }

// SecretRef identifies a secret answer.
type SecretRef struct {
	Customer belfry.CustomerID
	Item     string
	Column   string
}

// bound is the additional data that binds a sealed text to its answer. No name contains a control character.
func (p SecretRef) bound() []byte {
	return []byte(strconv.FormatUint(uint64(p.Customer), 10) + "\x00" + p.Item + "\x00" + p.Column)
}

// Seal encrypts a secret.
func (s *Secrets) Seal(p SecretRef, text string) (string, error) {
	if s == nil {
		return text, nil
	}
	if s.fault != nil {
		return "", s.fault
	}
	k := s.keys[0]
	return sealedMark + k.id + ":" + base64.RawStdEncoding.EncodeToString(k.aead.Seal(nil, nil, []byte(text), p.bound())), nil
}

// Open decrypts a sealed text. A text that was never sealed is returned unchanged.
func (s *Secrets) Open(p SecretRef, text string) (string, error) {
	if !Sealed(text) {
		return text, nil
	}
	if s == nil {
		return "", errors.New("it is sealed, and there is no key")
	}
	if s.fault != nil {
		return "", s.fault
	}
	id, body, _ := strings.Cut(strings.TrimPrefix(text, sealedMark), ":")
	for _, k := range s.keys {
		if k.id != id {
			continue
		}
		sealed, err := base64.RawStdEncoding.DecodeString(body)
		if err == nil {
			var plain []byte
			if plain, err = k.aead.Open(nil, nil, sealed, p.bound()); err == nil {
				return string(plain), nil
			}
		}
		return "", fmt.Errorf("it is damaged, or was sealed for another item: %w", err)
	}
	return "", fmt.Errorf("it was sealed with key %s, which the key file does not have", id)
}

// Current reports whether a text is sealed the way Seal would do it now.
func (s *Secrets) Current(text string) bool {
	return s == nil || s.fault == nil && strings.HasPrefix(text, sealedMark+s.keys[0].id+":")
}

// Sealed reports whether a text is a sealed secret.
func Sealed(text string) bool { return strings.HasPrefix(text, sealedMark) }

// ReadSecrets calls each with the sealed secrets in a database file that no process has open.
func ReadSecrets(ctx context.Context, path string, each func(SecretRef, string)) error {
	return sqlite.ReadItems(ctx, path, sealedMark, func(it *belfry.Item) {
		for column, text := range it.Details.Answers {
			if Sealed(text) {
				each(SecretRef{it.Customer, it.Name, column}, text)
			}
		}
	})
}

// SetSecrets sets how secrets are sealed. It is called before anything else uses the tree.
func (t *Tree) SetSecrets(s *Secrets) { t.secrets = s }

// Secrets seals and opens the secret answers in the tree.
func (t *Tree) Secrets() *Secrets { return t.secrets }

// ItemsToSeal lists by customer the items with secret answers that are not sealed with the first key.
func (t *Tree) ItemsToSeal() map[belfry.CustomerID][]belfry.ID {
	list := map[belfry.CustomerID][]belfry.ID{}
	t.eachSecret(func(n *Node, _, text string) {
		if have := list[n.Customer]; !t.secrets.Current(text) && (len(have) == 0 || have[len(have)-1] != n.ID) {
			list[n.Customer] = append(have, n.ID)
		}
	})
	return list
}

// SecretState reports whether there are sealed secrets, and names the resources with secrets that cannot be opened.
func (t *Tree) SecretState() (sealed bool, unreadable []string) {
	t.eachSecret(func(n *Node, column, text string) {
		sealed = sealed || Sealed(text)
		if _, err := t.secrets.Open(SecretRef{n.Customer, n.Name, column}, text); err != nil {
			unreadable = append(unreadable, n.Name)
		}
	})
	return sealed, unreadable
}

// eachSecret calls f for the secret answers of existing items, and for sealed answers whose column is no longer secret.
func (t *Tree) eachSecret(f func(n *Node, column, text string)) {
	packages := t.Catalog()
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, n := range t.nodes.From(0) {
		if n.Removed != 0 || n.Package == "" || n.Details == nil {
			continue
		}
		pt := packages.Package(n.Package)
		for column, text := range n.Details.Answers {
			if Sealed(text) || pt != nil && pt.Question(column) != nil && pt.Question(column).Secret {
				f(n, column, text)
			}
		}
	}
}
