package meta

import (
	"slices"
	"strings"

	"belfry"
)

// registry holds keys and sessions by the hash of their secret. The tree's lock guards it.
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
