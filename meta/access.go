package meta

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"belfry"
)

// Access holds customers, their users, API keys and sessions. It has its own lock, so checking a key never waits for the
// tree. Tree.Apply changes it, with both locks held.
type Access struct {
	mu         sync.RWMutex
	customers  map[belfry.CustomerID]*belfry.Customer
	named      map[string]*belfry.Customer
	removed    map[belfry.CustomerID]belfry.Removal
	users      map[belfry.CustomerID]map[string]*belfry.User
	keys       map[belfry.Hash]*Key
	keysOf     map[belfry.CustomerID]map[string]*Key
	sessions   map[belfry.Hash]*session
	sessionsOf map[account][]*session // in the order of their records
}

// account names a user.
type account struct {
	customer belfry.CustomerID
	user     string
}

func newAccess() *Access {
	return &Access{
		customers:  map[belfry.CustomerID]*belfry.Customer{},
		named:      map[string]*belfry.Customer{},
		removed:    map[belfry.CustomerID]belfry.Removal{},
		users:      map[belfry.CustomerID]map[string]*belfry.User{},
		keys:       map[belfry.Hash]*Key{},
		keysOf:     map[belfry.CustomerID]map[string]*Key{},
		sessions:   map[belfry.Hash]*session{},
		sessionsOf: map[account][]*session{},
	}
}

// Customers lists the customers by name.
func (a *Access) Customers() (list []belfry.Customer) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(a.named)) {
		list = append(list, *a.named[name])
	}
	return list
}

// CustomersAfter lists at most limit customers whose names sort after the given one.
func (a *Access) CustomersAfter(after string, limit int) (list []belfry.Customer, more bool) {
	return pageAfter(a.Customers(), func(c belfry.Customer) string { return c.Name }, after, limit)
}

// CustomerNamed finds a customer by name.
func (a *Access) CustomerNamed(name string) (belfry.Customer, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if c := a.named[name]; c != nil {
		return *c, true
	}
	return belfry.Customer{}, false
}

// CustomerName returns the name of a customer, or "" if there is no such customer.
func (a *Access) CustomerName(id belfry.CustomerID) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if c := a.customers[id]; c != nil {
		return c.Name
	}
	return ""
}

// MayListen reports whether a customer may listen on HOST:PORT.
func (a *Access) MayListen(id belfry.CustomerID, listen string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c := a.customers[id]
	return c != nil && c.MayListen(listen)
}

// Removals lists the removed customers by number.
func (a *Access) Removals() (list []belfry.Removal) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(a.removed)) {
		list = append(list, a.removed[id])
	}
	return list
}

// User finds a user by name.
func (a *Access) User(c belfry.CustomerID, name string) (belfry.User, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if u := a.users[c][name]; u != nil {
		return *u, true
	}
	return belfry.User{}, false
}

// Users lists a customer's users by name.
func (a *Access) Users(c belfry.CustomerID) (list []belfry.User) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(a.users[c])) {
		list = append(list, *a.users[c][name])
	}
	return list
}

// UsersAfter lists at most limit users whose names sort after the given one.
func (a *Access) UsersAfter(c belfry.CustomerID, after string, limit int) (list []belfry.User, more bool) {
	return pageAfter(a.Users(c), func(u belfry.User) string { return u.Name }, after, limit)
}

// UserBySubject finds a user by the subject under which the OpenID Connect provider knows them.
func (a *Access) UserBySubject(c belfry.CustomerID, subject string) (belfry.User, bool) {
	for _, u := range a.Users(c) {
		if u.Subject == subject && subject != "" {
			return u, true
		}
	}
	return belfry.User{}, false
}

// ScopeOf returns what a script may write to: its author's scope, or a's copy of it if that user has been removed. The user
// takes precedence because a running receiver learns of changed limits a little later.
func (a *Access) ScopeOf(c belfry.CustomerID, author *belfry.Author) belfry.Scope {
	if author == nil {
		return belfry.Whole(c)
	}
	if u, ok := a.User(c, author.User); ok && u.Created == author.Created {
		return belfry.Scope{Customer: c, Views: u.Views}
	}
	return belfry.Scope{Customer: c, Views: author.Views}
}

// pageAfter cuts a page out of a list sorted by name.
func pageAfter[T any](list []T, name func(T) string, after string, limit int) (page []T, more bool) {
	from, found := slices.BinarySearchFunc(list, after, func(v T, s string) int { return strings.Compare(name(v), s) })
	if found {
		from++
	}
	if list = list[from:]; len(list) > limit {
		return list[:limit:limit], true
	}
	return list, false
}

// setCustomer adds a customer. Of an existing one only Listen changes.
func (a *Access) setCustomer(c belfry.Customer) {
	if had := a.customers[c.ID]; had != nil {
		had.Listen = c.Listen
		return
	}
	a.customers[c.ID], a.named[c.Name] = &c, &c
}

// removeCustomer deletes a customer with its users, keys and sessions.
func (a *Access) removeCustomer(r belfry.Removal) {
	a.removed[r.Customer] = r
	c := a.customers[r.Customer]
	if c == nil {
		return
	}
	delete(a.customers, c.ID)
	if a.named[c.Name] == c {
		delete(a.named, c.Name)
	}
	delete(a.users, c.ID)
	for _, k := range a.keysOf[c.ID] {
		a.forgetKey(k)
	}
	delete(a.keysOf, c.ID)
	for hash, s := range a.sessions {
		if s.customer == c.ID {
			delete(a.sessions, hash)
			delete(a.sessionsOf, account{c.ID, s.User})
		}
	}
}

// isRemoved is for the goroutine that applies records.
func (a *Access) isRemoved(c belfry.CustomerID) bool {
	if len(a.removed) == 0 { // nearly always
		return false
	}
	_, ok := a.removed[c]
	return ok
}

// applyUser sets or removes a user. Each change makes another User, because readers may hold the old one.
func (a *Access) applyUser(d *belfry.Doc) error {
	if d.Body == nil {
		delete(a.users[d.Customer], d.Name)
		return nil
	}
	u := new(belfry.User)
	if err := decodeDoc(d, u); err != nil {
		return err
	}
	if a.users[d.Customer] == nil {
		a.users[d.Customer] = map[string]*belfry.User{}
	}
	a.users[d.Customer][d.Name] = u
	return nil
}
