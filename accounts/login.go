package accounts

import (
	"errors"

	"belfry"
	"belfry/meta"
)

// WrongLogin is the message for a wrong user, customer or password. It does not say which.
const WrongLogin = "customer, user and password do not match"

func errWrong() error { return belfry.Errorf(belfry.InvalidLogin, "%s", WrongLogin) }

// Hashing runs f, which hashes passwords, when a processor is free. On an error f was not run.
type Hashing func(f func()) error

// LogIn checks a password and begins a session. A user or customer that does not exist takes the same time and gets the
// same answer as a wrong password, and so does a user of the OpenID Connect provider, who has no password here.
func (a *Accounts) LogIn(from belfry.Origin, customer, user, password string) (secret string, err error) {
	if customer == "" {
		customer = belfry.DefaultCustomer
	}
	c, _ := a.tree.Access().CustomerNamed(customer)
	u, known := a.tree.Access().User(c.ID, user)
	if !a.right(&u, password) || !known {
		if known {
			a.refuse(account{customer: c.ID, name: u.Name}, from.Address)
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
		stored = a.dummy
	}
	return len(password) <= maxPassword && a.cfg.Passwords.Check(stored, password)
}

// ChangePassword checks the old password like a login and sets the new one. The user's other sessions end.
func (a *Accounts) ChangePassword(from belfry.Origin, l meta.Login, old, password string, hashing Hashing) error {
	if l.User.Subject != "" {
		return belfry.Errorf(belfry.NotAllowed, "you log in through the OpenID Connect provider and have no password here")
	}
	var right bool
	if err := hashing(func() { right = a.right(&l.User, old) }); err != nil {
		return err
	}
	if !right {
		a.refuse(account{customer: l.Customer, name: l.User.Name}, from.Address)
		return belfry.Errorf(belfry.InvalidLogin, "the old password is wrong")
	}
	if err := checkPassword(l.User.Name, password); err != nil {
		return err
	}
	var hash string
	if err := hashing(func() { hash = a.cfg.Passwords.Hash(password) }); err != nil {
		return err
	}
	err := a.setOwnPassword(from, l, hash)
	if errors.Is(err, errNoUser) {
		return errWrong()
	}
	return err
}
