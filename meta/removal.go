package meta

import (
	"slices"
	"strings"

	"belfry"
)

// applyRemoval takes a customer away with all that it has. Records about it may be met again after a crash, when the
// database knows of the removal already: they are passed over, see Tree.isRemoved.
func (t *Tree) applyRemoval(d *belfry.Doc) error {
	if d.Body == nil {
		return nil
	}
	var r belfry.Removal
	if err := decodeDoc(d, &r); err != nil {
		return err
	}
	t.removed[r.Customer] = r
	e := t.customers[r.Customer]
	if e == nil {
		return nil
	}
	delete(t.customers, e.ID)
	delete(t.docs, e.ID)
	if t.names[e.Name] == e {
		delete(t.names, e.Name)
	}
	t.policed -= len(e.policy.named)
	t.texts.Add(-e.texts)
	t.memory.Add(-e.memory)
	t.forgetAll(e)
	t.registry.removeCustomer(e.ID)
	return nil
}

// removeCustomer forgets the keys and sessions of a customer.
func (r *registry) removeCustomer(c belfry.CustomerID) {
	for _, k := range r.named[c] {
		r.forgetKey(k)
	}
	delete(r.named, c)
	for hash, s := range r.sessions {
		if s.customer == c {
			delete(r.sessions, hash)
			delete(r.logins, account{c, s.User})
		}
	}
}

// isRemoved reports whether a customer has been removed.
func (t *Tree) isRemoved(c belfry.CustomerID) bool {
	if len(t.removed) == 0 { // nearly always
		return false
	}
	_, ok := t.removed[c]
	return ok
}

// Removals lists the customers that have been removed, by number.
func (t *Tree) Removals() (list []belfry.Removal) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, r := range t.removed {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b belfry.Removal) int { return int(a.Customer) - int(b.Customer) })
	return list
}

// CustomersAfter lists the customers whose names come after a name, at most limit of them.
func (t *Tree) CustomersAfter(after string, limit int) (list []belfry.Customer, more bool) {
	return pageAfter(t.Customers(), func(c belfry.Customer) string { return c.Name }, after, limit)
}

// UsersAfter lists the customer's users whose names come after a name, at most limit of them.
func (t *Tree) UsersAfter(c belfry.CustomerID, after string, limit int) (list []belfry.User, more bool) {
	return pageAfter(t.Users(c), func(u belfry.User) string { return u.Name }, after, limit)
}

// UserBySubject finds the user whom a provider knows under a subject.
func (t *Tree) UserBySubject(c belfry.CustomerID, subject string) (belfry.User, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, u := range allKept[belfry.User](t.docs[c], belfry.DocUser) {
		if u.Subject == subject && subject != "" {
			return *u, true
		}
	}
	return belfry.User{}, false
}

// pageAfter cuts a page out of a list that is in the order of names.
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
