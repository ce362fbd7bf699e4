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

// NoteUse records that the session was used; see Key.NoteUse.
func (l *Login) NoteUse(now belfry.Time) { noteUse(l.used, now) }

// login returns the session together with its user.
func (s *session) login(u *belfry.User) Login {
	l := Login{s.hash, s.customer, *u, s.Session, s.used}
	l.Session.LastUse = belfry.Time(s.used.Load())
	return l
}

// Session finds a session by the hash of its secret, expired or not. It finds none whose user was removed or changed.
func (a *Access) Session(hash belfry.Hash) (l Login, ok bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	s := a.sessions[hash]
	if s == nil {
		return l, false
	}
	u := a.userOf(s)
	if u == nil {
		return l, false
	}
	return s.login(u), true
}

// userOf returns the user of a session, or nil if that is not the user who logged in.
func (a *Access) userOf(s *session) *belfry.User {
	u := a.users[s.customer][s.User]
	if u == nil || u.Fingerprint() != s.Fingerprint {
		return nil
	}
	return u
}

// SessionHashes lists the hashes of a user's sessions, oldest first.
func (a *Access) SessionHashes(c belfry.CustomerID, user string) (hashes []belfry.Hash) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	list := slices.Clone(a.sessionsOf[account{c, user}])
	slices.SortStableFunc(list, func(x, y *session) int { return int(min(1, max(-1, x.Created-y.Created))) })
	for _, s := range list {
		hashes = append(hashes, s.hash)
	}
	return hashes
}

// SessionsOf lists the sessions of a user that are valid at a time, latest first.
func (a *Access) SessionsOf(c belfry.CustomerID, user string, now belfry.Time) (list []Login) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, s := range a.sessionsOf[account{c, user}] {
		if u := a.userOf(s); u != nil && !s.Over(now) {
			list = append(list, s.login(u))
		}
	}
	slices.SortFunc(list, func(x, y Login) int {
		return cmp.Or(cmp.Compare(y.Session.Created, x.Session.Created), bytes.Compare(x.Hash[:], y.Hash[:]))
	})
	return list
}

// UnsavedSessionUses lists the sessions used since their last use was stored.
func (a *Access) UnsavedSessionUses() (hashes []belfry.Hash) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for hash, s := range a.sessions {
		if s.used.Load() > int64(s.LastUse) {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// ExpiredSessions lists the sessions for which over returns true, and those whose user was removed or changed.
func (a *Access) ExpiredSessions(over func(belfry.Session) bool) (list []Login) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, s := range a.sessions {
		if over(s.Session) || a.userOf(s) == nil {
			list = append(list, Login{Hash: s.hash, Customer: s.customer, Session: s.Session})
		}
	}
	return list
}

// CountSessions returns how many sessions of a customer, or of all customers if c is 0, are valid at a time.
func (a *Access) CountSessions(c belfry.CustomerID, now belfry.Time) (count int) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, s := range a.sessions {
		if (c == 0 || s.customer == c) && !s.Over(now) && a.userOf(s) != nil {
			count++
		}
	}
	return count
}

// applySession begins, renews or ends a session.
func (a *Access) applySession(d *belfry.Doc) error {
	hash, ok := belfry.ParseHash(d.Name)
	if !ok {
		return fmt.Errorf("session of customer %d: its name is not a hash", d.Customer)
	}
	old := a.sessions[hash]
	if d.Body == nil {
		if old != nil {
			delete(a.sessions, hash)
			a.forgetSession(old)
		}
		return nil
	}
	s := &session{hash: hash, customer: d.Customer, used: new(atomic.Int64)}
	if err := decodeDoc(d, &s.Session); err != nil {
		return err
	}
	if old != nil {
		s.used = old.used // its holders keep updating it
		a.forgetSession(old)
	}
	advance(s.used, int64(s.LastUse))
	at := account{s.customer, s.User}
	a.sessions[hash], a.sessionsOf[at] = s, append(a.sessionsOf[at], s)
	return nil
}

// forgetSession deletes a session from the list of its user.
func (a *Access) forgetSession(s *session) {
	at := account{s.customer, s.User}
	list := slices.DeleteFunc(a.sessionsOf[at], func(have *session) bool { return have == s })
	if len(list) == 0 {
		delete(a.sessionsOf, at)
		return
	}
	a.sessionsOf[at] = list
}
