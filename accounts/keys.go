package accounts

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"

	"belfry"
	"belfry/engine/audit"
)

// maxKeys is how many keys a customer can have.
const maxKeys = 1_000_000

// KeyWish describes a key to create.
type KeyWish struct {
	Name    string
	Level   belfry.Level
	Expires belfry.Time // 0: never
	belfry.Narrowing
}

// CreateKey creates an API key and returns its secret, which is not stored.
func (a *Accounts) CreateKey(who Caller, wish KeyWish) (secret string, err error) {
	c, name := who.Customer, wish.Name
	if err := checkActorName("key", name); err != nil {
		return "", err
	}
	secret = newSecret()
	err = a.do(c, who.Actor(), func(t change) error {
		if _, have := a.tree.Access().KeyNamed(c, name); have {
			return belfry.Errorf(belfry.NameInUse, "there is a key %q already; revoke it or choose another name", name)
		}
		if a.tree.Access().CountKeys(c) >= maxKeys {
			return belfry.Errorf(belfry.LimitReached, "there are %d keys already; revoke unused ones", maxKeys)
		}
		narrowed, err := checkNarrowing(a.tree, c, wish.Narrowing)
		if err != nil {
			return err
		}
		key := belfry.Key{
			Name: name, Customer: c, Hash: belfry.HashOf(secret).String(), Last4: secret[len(secret)-4:],
			Level: wish.Level, Creator: who.Name, Created: t.Now, Expires: wish.Expires, Narrowing: narrowed,
		}
		if err := t.Budget().ReserveDocument(belfry.DocKey, name, key); err != nil {
			return err
		}
		t.Put(belfry.DocKey, c, name, key)
		t.keyChanged(audit.ActionCreated, nil, &key, fmt.Sprintf("key %s created with level %s%s", name, key.Level, keyTerms(&key)))
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// keyTerms describes in an event how long a key lasts and to what it is narrowed.
func keyTerms(k *belfry.Key) (text string) {
	if k.Expires != 0 {
		text = ", until " + k.Expires.String()
	}
	if n := k.Narrowing.String(); n != "" {
		text += ", narrowed to " + n
	}
	return text
}

// RevokeKey removes a key.
func (a *Accounts) RevokeKey(who Caller, name string) error {
	c := who.Customer
	return a.once(who, func(t change) error {
		key, have := a.tree.Access().KeyNamed(c, name)
		if !have {
			return belfry.Errorf(belfry.NotFound, "there is no key %q", name)
		}
		t.Document(belfry.Doc{Kind: belfry.DocKey, Customer: c, Name: name})
		t.forgetUses(&key, nil)
		t.keyChanged(actionRevoked, &key, nil, fmt.Sprintf("key %s revoked, had level %s", name, key.Level))
		return nil
	})
}

// usesAtOnce is how many uses of keys share a record.
const usesAtOnce = 10_000

// KeysUsed stores the last use of keys that were used since its last call.
func (a *Accounts) KeysUsed() error {
	for part := range slices.Chunk(a.tree.Access().UnsavedKeyUses(), usesAtOnce) {
		err := a.do(0, nil, func(t change) error {
			for _, u := range part {
				if a.tree.Access().Valid(u) { // else the key was revoked or rotated since
					t.Document(belfry.Doc{
						Kind: belfry.DocKeyUse, Customer: u.Customer, Name: u.Name,
						Body: strconv.AppendInt(nil, int64(u.At), 10),
					})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// newSecret returns a random version 4 UUID.
func newSecret() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
