package ingest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"belfry"
)

// maxKeys is how many keys a customer can have.
const maxKeys = 1_000_000

// CreateKey makes an API key and gives its text, which is kept nowhere.
func (s *Sequencer) CreateKey(c belfry.CustomerID, name string, level belfry.Level, expires belfry.Time, by string) (secret string, err error) {
	if bad := checkName("name", name); bad != nil {
		return "", belfry.Errorf(belfry.BadParameter, "key: %s", bad.Message)
	}
	secret = newSecret()
	err = s.do(&command{customer: c, alone: true, decide: func(t *tx) error {
		if _, have := s.cfg.Tree.KeyNamed(c, name); have {
			return belfry.Errorf(belfry.NameInUse, "there is a key %q already; revoke it or choose another name", name)
		}
		if s.cfg.Tree.CountKeys(c) >= maxKeys {
			return belfry.Errorf(belfry.LimitReached, "there are %d keys already; revoke those that nobody uses", maxKeys)
		}
		key := belfry.Key{
			Name: name, Customer: c, Hash: belfry.HashOf(secret).String(), Last4: secret[len(secret)-4:],
			Level: level, Creator: by, Created: t.now, Expires: expires,
		}
		if err := t.takeValue(belfry.DocKey, name, key); err != nil {
			return err
		}
		t.configure(belfry.DocKey, c, name, key)
		text := fmt.Sprintf("key %s created with level %s", name, level)
		if expires != 0 {
			text += ", until " + expires.String()
		}
		t.configured(text, by)
		return nil
	}})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// RevokeKey removes a key; from then on nothing is taken under it.
func (s *Sequencer) RevokeKey(c belfry.CustomerID, name, by string) error {
	_, _, err := s.revokeKey(Sender{Scope: belfry.Whole(c), Name: by}, name, Repeat{})
	return err
}

// RevokeKeyOnce does the same for a client that may repeat its request, and gives the answer.
func (s *Sequencer) RevokeKeyOnce(ctx context.Context, who Sender, name string, r Repeat) (code int, answer []byte, err error) {
	if r.Key == "" {
		return s.revokeKey(who, name, r)
	}
	return s.once(ctx, who, r, func() (int, []byte, error) { return s.revokeKey(who, name, r) })
}

func (s *Sequencer) revokeKey(who Sender, name string, r Repeat) (code int, answer []byte, err error) {
	c := who.Customer
	err = s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
		key, have := s.cfg.Tree.KeyNamed(c, name)
		if !have {
			return belfry.Errorf(belfry.NotFound, "there is no key %q", name)
		}
		t.document(belfry.Doc{Kind: belfry.DocKey, Customer: c, Name: name})
		t.document(belfry.Doc{Kind: belfry.DocKeyUse, Customer: c, Name: name})
		t.configured(fmt.Sprintf("key %s revoked, had level %s", name, key.Level), who.Name)
		code, answer = http.StatusOK, revoked(name)
		t.answer(who, r, code, answer)
		return nil
	}})
	return code, answer, err
}

func revoked(name string) []byte {
	text, err := json.Marshal(map[string]string{"revoked": name})
	if err != nil {
		panic(err) // a text is always JSON
	}
	return append(text, '\n')
}

// usesAtOnce is how many uses of keys share a record.
const usesAtOnce = 10_000

// KeysUsed stores when keys were last used, of those that were since it last did.
func (s *Sequencer) KeysUsed() error {
	for part := range slices.Chunk(s.cfg.Tree.KeysUsed(), usesAtOnce) {
		err := s.do(&command{alone: true, decide: func(t *tx) error {
			for _, k := range part {
				if _, have := s.cfg.Tree.KeyNamed(k.Customer, k.Name); have { // else it was revoked meanwhile
					t.rec.Docs = append(t.rec.Docs, belfry.Doc{
						Kind: belfry.DocKeyUse, Customer: k.Customer, Name: k.Name,
						Body: strconv.AppendInt(nil, int64(k.LastUse), 10),
					})
				}
			}
			return nil
		}})
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
