package accounts

import (
	"fmt"
	"slices"
	"time"

	"belfry"
	"belfry/meta"
)

const (
	// DefaultOverlap is how long the old secret of a key is accepted after a rotation by default.
	DefaultOverlap = 24 * time.Hour
	// MaxOverlap is the longest overlap.
	MaxOverlap = 30 * 24 * time.Hour
	// maxOld is how many old secrets of a key are accepted at the same time.
	maxOld = 4
)

// Rotation describes the rotation of a key.
type Rotation struct {
	Name    string
	Overlap time.Duration // how long the old secrets are still accepted; 0: not at all
	Expires belfry.Time   // new expiry of the key; 0: unchanged
}

// RotateKey sets a new secret for a key and returns it. Name, level and restrictions stay. Old secrets are accepted until the
// overlap ends or they expire.
func (a *Accounts) RotateKey(who Caller, to Rotation) (secret string, err error) {
	if to.Overlap < 0 || to.Overlap > MaxOverlap {
		return "", belfry.Errorf(belfry.BadParameter, "overlap must be a time from 0s to %dd, got %s", MaxOverlap/(24*time.Hour), to.Overlap)
	}
	secret = newSecret()
	err = a.urgent(who.Customer, who.Actor(), func(t change) error {
		key, have := a.tree.Access().KeyNamed(who.Customer, to.Name)
		if !have {
			return belfry.Errorf(belfry.NotFound, "there is no key %q", to.Name)
		}
		now := t.expiry()
		if to.Expires == 0 && key.Expires != 0 && key.Expires <= now {
			return belfry.Errorf(belfry.NotAllowed, "key %q has expired, and so would the new secret; say with expires how long it is good for", to.Name)
		}
		next := key
		next.Old = oldSecrets(&key, now, belfry.Time(to.Overlap.Microseconds()))
		if len(next.Old) > maxOld {
			return belfry.Errorf(belfry.LimitReached, "key %q has %d old secrets that are still accepted; wait until one ends, or rotate with overlap 0s, which ends all of them", to.Name, len(key.Old))
		}
		next.First, next.Rotated, next.LastUse = key.Identity(), t.Now, 0
		next.Hash, next.Last4 = belfry.HashOf(secret).String(), secret[len(secret)-4:]
		if to.Expires != 0 {
			next.Expires = to.Expires
		}
		if err := t.Budget().ReserveDocument(belfry.DocKey, next.Name, next); err != nil {
			return err
		}
		t.Put(belfry.DocKey, key.Customer, key.Name, next)
		t.forgetUses(&key, next.Old)
		t.keyChanged(actionRotated, &key, &next, rotationText(&key, &next))
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// oldSecrets are those that are still accepted after a rotation, the latest first.
func oldSecrets(k *belfry.Key, now, overlap belfry.Time) (list []belfry.OldSecret) {
	present := belfry.OldSecret{Hash: k.Hash, Last4: k.Last4, Until: now + overlap, LastUse: k.LastUse}
	if k.Expires != 0 {
		present.Until = min(present.Until, k.Expires)
	}
	for _, o := range append([]belfry.OldSecret{present}, k.Old...) {
		if o.Until = min(o.Until, now+overlap); o.Until > now {
			list = append(list, o)
		}
	}
	return list
}

// forgetUses removes the last uses of a key's secrets, except those of the secrets in old.
func (t change) forgetUses(k *belfry.Key, but []belfry.OldSecret) {
	t.Document(belfry.Doc{Kind: belfry.DocKeyUse, Customer: k.Customer, Name: k.Name})
	for _, o := range k.Old {
		if !slices.ContainsFunc(but, func(s belfry.OldSecret) bool { return s.Hash == o.Hash }) {
			t.Document(belfry.Doc{Kind: belfry.DocKeyUse, Customer: k.Customer, Name: meta.KeyUseName(k.Name, o.Hash)})
		}
	}
}

func rotationText(was, now *belfry.Key) string {
	text := fmt.Sprintf("key %s rotated: the secret that ends in %s takes the place of %s, which is refused", now.Name, now.Last4, was.Last4)
	if len(now.Old) > 0 && now.Old[0].Hash == was.Hash {
		text += " from " + now.Old[0].Until.String() + " on"
	}
	if now.Expires != was.Expires {
		text += keyTerms(&belfry.Key{Expires: now.Expires})
	}
	return text
}
