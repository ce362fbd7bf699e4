package meta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"belfry"
)

// Key is one secret of an API key. What it embeds never changes, LastUse excepted, which is in used; another Key takes its place when
// it does. That of an old secret has the hash and the end of that secret.
type Key struct {
	belfry.Key
	old    []*Key // of the present secret: the ones before it
	use    string // name of the document with its last use
	hash   belfry.Hash
	from   []netip.Prefix // what Addresses says
	used   atomic.Int64   // the last use that is known
	stored atomic.Int64   // the one that is on disk
}

// Accepts reports whether the key may be used from an address.
func (k *Key) Accepts(from netip.Addr) bool {
	if len(k.Addresses) == 0 {
		return true
	}
	return slices.ContainsFunc(k.from, func(p netip.Prefix) bool { return p.Contains(from) })
}

// useStep is how exactly the last use of a key or a session is known.
const useStep = 1e6 // µs

// NoteUse records that the key was used. It is cheap: the time is written at most once a second.
func (k *Key) NoteUse(now belfry.Time) { noteUse(&k.used, now) }

func noteUse(used *atomic.Int64, now belfry.Time) {
	if had := used.Load(); int64(now)-had >= useStep {
		used.CompareAndSwap(had, int64(now)) // whoever was faster noted the same moment
	}
}

// advance raises a last use to a stored one that is later.
func advance(used *atomic.Int64, at int64) {
	for had := used.Load(); had < at && !used.CompareAndSwap(had, at); had = used.Load() {
	}
}

func (k *Key) withUses() belfry.Key {
	out := k.Key
	out.LastUse = belfry.Time(k.used.Load())
	out.Old = slices.Clone(out.Old)
	for i, o := range k.old {
		out.Old[i].LastUse = belfry.Time(o.used.Load())
	}
	return out
}

// Key finds an API key by the hash of its text; nil when there is none.
func (a *Access) Key(hash belfry.Hash) *Key {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.keys[hash]
}

// KeyNamed finds an API key by its name.
func (a *Access) KeyNamed(c belfry.CustomerID, name string) (belfry.Key, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if k := a.keysOf[c][name]; k != nil {
		return k.withUses(), true
	}
	return belfry.Key{}, false
}

// Keys lists a customer's keys by name.
func (a *Access) Keys(c belfry.CustomerID) []belfry.Key {
	keys, _ := a.KeysAfter(c, "", -1)
	return keys
}

// KeysAfter lists the customer's keys whose names sort after the given one, at most limit of them unless that is negative.
func (a *Access) KeysAfter(c belfry.CustomerID, after string, limit int) (keys []belfry.Key, more bool) {
	for _, k := range a.keysAfter(c, after) {
		keys = append(keys, k.withUses())
	}
	slices.SortFunc(keys, func(k, l belfry.Key) int { return strings.Compare(k.Name, l.Name) })
	if limit >= 0 && len(keys) > limit {
		return keys[:limit:limit], true
	}
	return keys, false
}

func (a *Access) keysAfter(c belfry.CustomerID, after string) (keys []*Key) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for name, k := range a.keysOf[c] {
		if name > after {
			keys = append(keys, k)
		}
	}
	return keys
}

// CountKeys returns how many keys a customer has.
func (a *Access) CountKeys(c belfry.CustomerID) int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.keysOf[c])
}

// KeyUse is the last use of a secret, and the name of the document that stores it.
type KeyUse struct {
	Customer belfry.CustomerID
	Name     string
	At       belfry.Time
	hash     belfry.Hash
}

// UnsavedKeyUses lists the secrets used since their last use was stored.
func (a *Access) UnsavedKeyUses() (uses []KeyUse) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for hash, k := range a.keys {
		if at := k.used.Load(); at > k.stored.Load() {
			uses = append(uses, KeyUse{k.Customer, k.use, belfry.Time(at), hash})
		}
	}
	return uses
}

// Valid reports whether the use still belongs to that secret. After a revocation or rotation it does not.
func (a *Access) Valid(u KeyUse) bool {
	k := a.Key(u.hash)
	return k != nil && k.use == u.Name
}

// MaskKeys masks the API keys in a text. Other texts of the same shape, such as many item names, stay as they are.
func (a *Access) MaskKeys(text []byte) []byte {
	out := text
	for i := 8; i+28 <= len(text); i++ {
		next := bytes.IndexByte(text[i:], '-')
		if next < 0 {
			break
		}
		if i += next; i+28 > len(text) || !keyShaped(text[i-8:i+28]) {
			continue
		}
		if a.Key(belfry.HashOf(strings.ToLower(string(text[i-8:i+28])))) == nil {
			continue
		}
		if &out[0] == &text[0] {
			out = bytes.Clone(text)
		}
		copy(out[i-8:], strings.Repeat("*", 36))
	}
	return out
}

// keyShaped reports whether 36 characters are hexadecimal digits in groups of 8, 4, 4, 4 and 12.
func keyShaped(b []byte) bool {
	for i, c := range b {
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash && c != '-':
			return false
		case !dash && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'):
			return false
		}
	}
	return true
}

func (a *Access) applyKey(d *belfry.Doc) error {
	was := a.keysOf[d.Customer][d.Name]
	a.forgetKey(was)
	delete(a.keysOf[d.Customer], d.Name)
	if d.Body == nil {
		return nil
	}
	var doc belfry.Key
	if err := decodeDoc(d, &doc); err != nil {
		return err
	}
	k, err := newKey(doc, d.Name)
	if err != nil {
		return err
	}
	for _, o := range doc.Old {
		before := doc
		before.Hash, before.Last4, before.Expires, before.LastUse, before.Old = o.Hash, o.Last4, o.Until, o.LastUse, nil
		old, err := newKey(before, KeyUseName(d.Name, o.Hash))
		if err != nil {
			return err
		}
		if was != nil && was.hash == old.hash { // it may have been used since the rotation was decided
			advance(&old.used, was.used.Load())
		}
		k.old = append(k.old, old)
	}
	if a.keysOf[d.Customer] == nil {
		a.keysOf[d.Customer] = map[string]*Key{}
	}
	a.keysOf[d.Customer][d.Name] = k
	for _, k := range append([]*Key{k}, k.old...) {
		a.keys[k.hash] = k
	}
	return nil
}

// KeyUseName names the document with the last use of an old secret. That of the present one has the name of the key.
func KeyUseName(key, hash string) string { return key + "\x01" + hash }

func newKey(doc belfry.Key, use string) (*Key, error) {
	k := &Key{Key: doc, use: use}
	var ok bool
	if k.hash, ok = belfry.ParseHash(k.Hash); !ok {
		return nil, fmt.Errorf("key %q of customer %d: %q is not a hash", doc.Name, doc.Customer, k.Hash)
	}
	for _, text := range k.Addresses {
		p, err := belfry.ParseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("key %q of customer %d: %w", doc.Name, doc.Customer, err)
		}
		k.from = append(k.from, p)
	}
	k.used.Store(int64(k.LastUse))
	k.stored.Store(int64(k.LastUse))
	return k, nil
}

// forgetKey deletes the secrets of a key, which may be nil.
func (a *Access) forgetKey(k *Key) {
	if k == nil {
		return
	}
	delete(a.keys, k.hash)
	for _, o := range k.old {
		delete(a.keys, o.hash)
	}
}

// applyKeyUse applies the last use of a secret. It does not bring back a key that was removed.
func (a *Access) applyKeyUse(d *belfry.Doc) error {
	name, hash, isOld := strings.Cut(d.Name, "\x01")
	k := a.keysOf[d.Customer][name]
	if isOld && k != nil {
		i := slices.IndexFunc(k.old, func(o *Key) bool { return o.Hash == hash })
		if i < 0 {
			return nil
		}
		k = k.old[i]
	}
	if k == nil || d.Body == nil {
		return nil
	}
	var at int64
	if err := json.Unmarshal(d.Body, &at); err != nil {
		return fmt.Errorf("last use of key %q of customer %d: %w", name, d.Customer, err)
	}
	k.stored.Store(at)
	advance(&k.used, at)
	return nil
}
