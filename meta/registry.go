package meta

import (
	"slices"
	"strings"

	"belfry"
)

// Key finds an API key by the SHA-256 of its text, in hexadecimal.
func (t *Tree) Key(hash string) (belfry.Key, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if k := t.keys[hash]; k != nil {
		return *k, true
	}
	return belfry.Key{}, false
}

// Keys lists a customer's keys by name.
func (t *Tree) Keys(c belfry.CustomerID) (keys []belfry.Key) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, k := range t.keys {
		if k.Customer == c {
			keys = append(keys, *k)
		}
	}
	slices.SortFunc(keys, func(a, b belfry.Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
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
