package meta

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"belfry"
)

// session is a user's session as the registry keeps it.
type session struct {
	belfry.Session
	hash     belfry.Hash
	customer belfry.CustomerID
	used     *atomic.Int64 // the last use that is known; LastUse is the one on disk
}

// Login is a session together with the user who began it.
type Login struct {
	Hash     belfry.Hash
	Customer belfry.CustomerID
	User     belfry.User
	Session  belfry.Session
	used     *atomic.Int64
}

// Used notes that the session was shown; see Key.Used.
func (l *Login) Used(now belfry.Time) { note(l.used, now) }

// login is a session as others see it.
func (s *session) login(u *belfry.User) Login {
	l := Login{s.hash, s.customer, *u, s.Session, s.used}
	l.Session.LastUse = belfry.Time(s.used.Load())
	return l
}

// Session finds a session by the hash of its secret, whether its time is over or not. It is not there any more when its
// user has been removed or changed.
func (t *Tree) Session(hash belfry.Hash) (l Login, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := t.registry.sessions[hash]
	if s == nil {
		return l, false
	}
	u := t.userOf(s)
	if u == nil {
		return l, false
	}
	return s.login(u), true
}

// userOf is the user of a session as long as it is the one who logged in.
func (t *Tree) userOf(s *session) *belfry.User {
	e := t.customers[s.customer]
	if e == nil {
		return nil
	}
	u := e.User(s.User)
	if u == nil || u.Mark() != s.Mark {
		return nil
	}
	return u
}

// Logins lists the hashes of a user's sessions, the oldest first.
func (t *Tree) Logins(c belfry.CustomerID, user string) (hashes []belfry.Hash) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := slices.Clone(t.registry.logins[account{c, user}])
	slices.SortStableFunc(list, func(a, b *session) int { return int(min(1, max(-1, a.Created-b.Created))) })
	for _, s := range list {
		hashes = append(hashes, s.hash)
	}
	return hashes
}

// SessionsOf lists the sessions of a user that are good at a moment, the latest first.
func (t *Tree) SessionsOf(c belfry.CustomerID, user string, now belfry.Time) (list []Login) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, s := range t.registry.logins[account{c, user}] {
		if u := t.userOf(s); u != nil && !s.Over(now) {
			list = append(list, s.login(u))
		}
	}
	slices.SortFunc(list, func(a, b Login) int {
		return cmp.Or(cmp.Compare(b.Session.Created, a.Session.Created), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	return list
}

// SessionsUsed lists the sessions that were used since that was last stored.
func (t *Tree) SessionsUsed() (hashes []belfry.Hash) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for hash, s := range t.registry.sessions {
		if s.used.Load() > int64(s.LastUse) {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// Ended lists the sessions whose time is over, or whose user is not the same any more.
func (t *Tree) Ended(over func(belfry.Session) bool) (list []Login) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, s := range t.registry.sessions {
		if over(s.Session) || t.userOf(s) == nil {
			list = append(list, Login{Hash: s.hash, Customer: s.customer, Session: s.Session})
		}
	}
	return list
}

// User finds a user by name.
func (t *Tree) User(c belfry.CustomerID, name string) (belfry.User, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.customers[c]; e != nil && e.User(name) != nil {
		return *e.User(name), true
	}
	return belfry.User{}, false
}

// Users lists a customer's users by name.
func (t *Tree) Users(c belfry.CustomerID) (list []belfry.User) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, u := range allKept[belfry.User](t.docs[c], belfry.DocUser) {
		list = append(list, *u)
	}
	return list
}

// applySession begins, renews or ends a session.
func (t *Tree) applySession(d *belfry.Doc) error {
	hash, ok := belfry.ParseHash(d.Name)
	if !ok {
		return fmt.Errorf("session of customer %d: its name is not a hash", d.Customer)
	}
	r := &t.registry
	old := r.sessions[hash]
	if d.Body == nil {
		if old != nil {
			delete(r.sessions, hash)
			r.forget(old)
		}
		return nil
	}
	s := &session{hash: hash, customer: d.Customer, used: new(atomic.Int64)}
	if err := decodeDoc(d, &s.Session); err != nil {
		return err
	}
	if old != nil {
		s.used = old.used // whoever holds it goes on noting
		r.forget(old)
	}
	raise(s.used, int64(s.LastUse))
	at := account{s.customer, s.User}
	r.sessions[hash], r.logins[at] = s, append(r.logins[at], s)
	return nil
}

// forget takes a session off the list of its user.
func (r *registry) forget(s *session) {
	at := account{s.customer, s.User}
	list := slices.DeleteFunc(r.logins[at], func(have *session) bool { return have == s })
	if len(list) == 0 {
		delete(r.logins, at)
		return
	}
	r.logins[at] = list
}
