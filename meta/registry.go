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

// registry is who may come in: keys and sessions, found by the hash of their secret. The tree's lock guards it.
type registry struct {
	keys     map[belfry.Hash]*Key
	named    map[belfry.CustomerID]map[string]*Key
	sessions map[belfry.Hash]*session
	logins   map[account][]*session // of a user, in the order of their records
}

// account names a user.
type account struct {
	customer belfry.CustomerID
	user     string
}

func newRegistry() registry {
	return registry{
		keys:     map[belfry.Hash]*Key{},
		named:    map[belfry.CustomerID]map[string]*Key{},
		sessions: map[belfry.Hash]*session{},
		logins:   map[account][]*session{},
	}
}

// Key is an API key. What it embeds never changes, LastUse excepted, which is in used; another key takes its place when
// it does.
type Key struct {
	belfry.Key
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

// Used notes that the key was shown. It costs next to nothing: the time is written once a second at most.
func (k *Key) Used(now belfry.Time) { note(&k.used, now) }

func note(used *atomic.Int64, now belfry.Time) {
	if had := used.Load(); int64(now)-had >= useStep {
		used.CompareAndSwap(had, int64(now)) // whoever was faster noted the same moment
	}
}

// raise lets a use be at least as late as one that is stored.
func raise(used *atomic.Int64, at int64) {
	for had := used.Load(); had < at && !used.CompareAndSwap(had, at); had = used.Load() {
	}
}

func (k *Key) noted() belfry.Key {
	out := k.Key
	out.LastUse = belfry.Time(k.used.Load())
	return out
}

// Key finds an API key by the hash of its text; nil when there is none.
func (t *Tree) Key(hash belfry.Hash) *Key {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.registry.keys[hash]
}

// KeyNamed finds an API key by its name.
func (t *Tree) KeyNamed(c belfry.CustomerID, name string) (belfry.Key, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if k := t.registry.named[c][name]; k != nil {
		return k.noted(), true
	}
	return belfry.Key{}, false
}

// Keys lists a customer's keys by name.
func (t *Tree) Keys(c belfry.CustomerID) []belfry.Key {
	keys, _ := t.KeysAfter(c, "", -1)
	return keys
}

// KeysAfter lists the customer's keys whose names come after a name, at most limit of them unless that is negative.
func (t *Tree) KeysAfter(c belfry.CustomerID, after string, limit int) (keys []belfry.Key, more bool) {
	for _, k := range t.keysAfter(c, after) {
		keys = append(keys, k.noted())
	}
	slices.SortFunc(keys, func(a, b belfry.Key) int { return strings.Compare(a.Name, b.Name) })
	if limit >= 0 && len(keys) > limit {
		return keys[:limit:limit], true
	}
	return keys, false
}

func (t *Tree) keysAfter(c belfry.CustomerID, after string) (keys []*Key) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name, k := range t.registry.named[c] {
		if name > after {
			keys = append(keys, k)
		}
	}
	return keys
}

// CountKeys tells how many keys a customer has.
func (t *Tree) CountKeys(c belfry.CustomerID) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.registry.named[c])
}

// KeysUsed lists the keys that were used since that was last stored.
func (t *Tree) KeysUsed() (keys []belfry.Key) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, k := range t.registry.keys {
		if k.used.Load() > k.stored.Load() {
			keys = append(keys, k.noted())
		}
	}
	return keys
}

// MaskKeys hides the keys that stand in a text: whatever has their shape and is one. Other texts of that shape, names of
// items often have it, stay as they are.
func (t *Tree) MaskKeys(text []byte) []byte {
	out := text
	for i := 8; i+28 <= len(text); i++ {
		next := bytes.IndexByte(text[i:], '-')
		if next < 0 {
			break
		}
		if i += next; i+28 > len(text) || !keyShaped(text[i-8:i+28]) {
			continue
		}
		if t.Key(belfry.HashOf(strings.ToLower(string(text[i-8:i+28])))) == nil {
			continue
		}
		if &out[0] == &text[0] {
			out = bytes.Clone(text)
		}
		copy(out[i-8:], strings.Repeat("*", 36))
	}
	return out
}

// keyShaped tells whether 36 characters are hexadecimal digits in groups of 8, 4, 4, 4 and 12.
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

func (t *Tree) applyKey(d *belfry.Doc) error {
	r := &t.registry
	if old := r.named[d.Customer][d.Name]; old != nil {
		delete(r.keys, old.hash)
		delete(r.named[d.Customer], d.Name)
	}
	if d.Body == nil {
		return nil
	}
	k := new(Key)
	if err := decodeDoc(d, &k.Key); err != nil {
		return err
	}
	var ok bool
	if k.hash, ok = belfry.ParseHash(k.Hash); !ok {
		return fmt.Errorf("key %q of customer %d: %q is not a hash", d.Name, d.Customer, k.Hash)
	}
	for _, text := range k.Addresses {
		p, err := belfry.ParseNetwork(text)
		if err != nil {
			return fmt.Errorf("key %q of customer %d: %w", d.Name, d.Customer, err)
		}
		k.from = append(k.from, p)
	}
	k.used.Store(int64(k.LastUse))
	k.stored.Store(int64(k.LastUse))
	if r.named[d.Customer] == nil {
		r.named[d.Customer] = map[string]*Key{}
	}
	r.keys[k.hash], r.named[d.Customer][d.Name] = k, k
	return nil
}

// applyKeyUse takes in when a key was last used. A key that is gone does not come back by it.
func (t *Tree) applyKeyUse(d *belfry.Doc) error {
	k := t.registry.named[d.Customer][d.Name]
	if k == nil || d.Body == nil {
		return nil
	}
	var at int64
	if err := json.Unmarshal(d.Body, &at); err != nil {
		return fmt.Errorf("last use of key %q of customer %d: %w", d.Name, d.Customer, err)
	}
	k.stored.Store(at)
	raise(&k.used, at)
	return nil
}

// Customers lists the customers by name.
func (t *Tree) Customers() (list []belfry.Customer) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, e := range t.names {
		list = append(list, e.Customer)
	}
	slices.SortFunc(list, func(a, b belfry.Customer) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// CustomerNamed finds a customer by name.
func (t *Tree) CustomerNamed(name string) (belfry.Customer, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.names[name]; e != nil {
		return e.Customer, true
	}
	return belfry.Customer{}, false
}

// CustomerName gives the name of a customer.
func (t *Tree) CustomerName(c belfry.CustomerID) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.customers[c]; e != nil {
		return e.Name
	}
	return ""
}
