package accounts

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"

	"belfry"
	"belfry/engine"
)

// maxKeys is how many keys a customer can have.
const maxKeys = 1_000_000

// CreateKey makes an API key and gives its text, which is kept nowhere.
func (a *Accounts) CreateKey(who Caller, name string, level belfry.Level, expires belfry.Time) (secret string, err error) {
	c := who.Customer
	if bad := engine.CheckName("name", name); bad != nil {
		return "", belfry.Errorf(belfry.BadParameter, "key: %s", bad.Message)
	}
	secret = newSecret()
	err = a.do(c, func(t change) error {
		if _, have := a.tree.KeyNamed(c, name); have {
			return belfry.Errorf(belfry.NameInUse, "there is a key %q already; revoke it or choose another name", name)
		}
		if a.tree.CountKeys(c) >= maxKeys {
			return belfry.Errorf(belfry.LimitReached, "there are %d keys already; revoke those that nobody uses", maxKeys)
		}
		key := belfry.Key{
			Name: name, Customer: c, Hash: belfry.HashOf(secret).String(), Last4: secret[len(secret)-4:],
			Level: level, Creator: who.Name, Created: t.Now, Expires: expires,
		}
		if err := t.ReserveValue(belfry.DocKey, name, key); err != nil {
			return err
		}
		t.Put(belfry.DocKey, c, name, key)
		text := fmt.Sprintf("key %s created with level %s", name, level)
		if expires != 0 {
			text += ", until " + expires.String()
		}
		t.Configured(text, who.Name)
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Revoked is the answer to RevokeKey.
type Revoked struct {
	Revoked string `json:"revoked" help:"Name of the key."`
}

// RevokeKey removes a key; from then on nothing is accepted under it.
func (a *Accounts) RevokeKey(ctx context.Context, who Caller, name string) (code int, answer []byte, err error) {
	c := who.Customer
	return a.engine.Once(ctx, who.Sender, who.Repeat, a.once(who, Revoked{name}, func(t change) error {
		key, have := a.tree.KeyNamed(c, name)
		if !have {
			return belfry.Errorf(belfry.NotFound, "there is no key %q", name)
		}
		t.Document(belfry.Doc{Kind: belfry.DocKey, Customer: c, Name: name})
		t.Document(belfry.Doc{Kind: belfry.DocKeyUse, Customer: c, Name: name})
		t.Configured(fmt.Sprintf("key %s revoked, had level %s", name, key.Level), who.Name)
		return nil
	}))
}

// usesAtOnce is how many uses of keys share a record.
const usesAtOnce = 10_000

// KeysUsed stores when keys were last used, of those that were since it last did.
func (a *Accounts) KeysUsed() error {
	for part := range slices.Chunk(a.tree.KeysUsed(), usesAtOnce) {
		err := a.do(0, func(t change) error {
			for _, k := range part {
				if _, have := a.tree.KeyNamed(k.Customer, k.Name); have { // else it was revoked meanwhile
					t.Document(belfry.Doc{
						Kind: belfry.DocKeyUse, Customer: k.Customer, Name: k.Name,
						Body: strconv.AppendInt(nil, int64(k.LastUse), 10),
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

// newSecret makes a random version 4 UUID.
func newSecret() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
