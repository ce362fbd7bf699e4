package accounts

import (
	"errors"
	"time"

	"belfry"
	"belfry/meta"
)

// WrongLogin is the answer to a wrong user, customer or password. It does not say which.
const WrongLogin = "customer, user and password do not belong together"

func errWrong() error { return belfry.Errorf(belfry.InvalidLogin, "%s", WrongLogin) }

// Hashing runs f, which hashes passwords, as soon as there is a processor for it. On an error f was not run.
type Hashing func(f func()) error

// LogIn checks a password and begins a session. A user or customer that does not exist takes the same time and gets the
// same answer as a wrong password, and so does a user of the OpenID Connect provider, who has no password here.
func (a *Accounts) LogIn(from belfry.Place, customer, user, password string) (secret string, err error) {
	if customer == "" {
		customer = belfry.DefaultCustomer
	}
	c, _ := a.tree.CustomerNamed(customer)
	u, known := a.tree.User(c.ID, user)
	if !a.right(&u, password) || !known {
		if known {
			a.refuse(c.ID, u.Name)
		}
		return "", errWrong()
	}
	secret, err = a.beginSession(c.ID, &u, from)
	if errors.Is(err, errNoUser) {
		return "", belfry.Errorf(belfry.InvalidLogin, "the user was changed or removed during the login; log in again")
	}
	return secret, err
}

// right compares a password with the user's.
func (a *Accounts) right(u *belfry.User, password string) bool {
	stored := u.Password
	if stored == "" {
		stored = a.nobody
	}
	return len(password) <= maxPassword && a.cfg.Passwords.Check(stored, password)
}

// ChangePassword checks the old password like a login and sets the new one. The session goes on, the user's others end.
func (a *Accounts) ChangePassword(l meta.Login, old, password string, hashing Hashing) error {
	if l.User.Subject != "" {
		return belfry.Errorf(belfry.NotAllowed, "you log in through the OpenID Connect provider and have no password here")
	}
	var right bool
	if err := hashing(func() { right = a.right(&l.User, old) }); err != nil {
		return err
	}
	if !right {
		a.refuse(l.Customer, l.User.Name)
		return belfry.Errorf(belfry.InvalidLogin, "the old password is wrong")
	}
	if err := checkPassword(l.User.Name, password); err != nil {
		return err
	}
	var hash string
	if err := hashing(func() { hash = a.cfg.Passwords.Hash(password) }); err != nil {
		return err
	}
	err := a.setOwnPassword(l, hash)
	if errors.Is(err, errNoUser) {
		return errWrong()
	}
	return err
}

// Refused logins of one user become at most one event in refusedEvery. A counter has them all.
const refusedEvery = time.Minute

type userID struct {
	customer belfry.CustomerID
	name     string
}

// refusals are the refused logins of one user.
type refusals struct {
	at    time.Time // of the last event about them
	since int       // how many there were since then
}

// refuse writes an event, or counts the refusal for the next one. Users that do not exist have no events: what was typed
// as a name may be a password.
func (a *Accounts) refuse(c belfry.CustomerID, user string) {
	a.mu.Lock()
	id := userID{c, user}
	r := a.refused[id]
	if r == nil {
		r = new(refusals)
		a.refused[id] = r
	}
	r.since++
	n := r.due(a.now())
	a.mu.Unlock()
	if n > 0 {
		a.loginRefused(c, user, n)
	}
}

// due returns how many refusals the next event is about; 0: it is not time for one.
func (r *refusals) due(now time.Time) (n int) {
	if r.since == 0 || now.Sub(r.at) < refusedEvery {
		return 0
	}
	n, r.since, r.at = r.since, 0, now
	return n
}

// FlushRefused writes the events about refused logins that are due and forgets users without any.
func (a *Accounts) FlushRefused() {
	now, list := a.now(), map[userID]int{}
	a.mu.Lock()
	for id, r := range a.refused {
		if n := r.due(now); n > 0 {
			list[id] = n
		} else if r.since == 0 && now.Sub(r.at) >= refusedEvery {
			delete(a.refused, id)
		}
	}
	a.mu.Unlock()
	for id, n := range list {
		a.loginRefused(id.customer, id.name, n)
	}
}
