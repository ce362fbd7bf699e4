package accounts

import (
	"strings"

	"belfry"
	"belfry/engine/audit"
	"belfry/meta"
)

// Changes of users to their own account and sessions.

// setOwnPassword sets the hashed password of the user of a session and ends the user's other sessions. If the user was changed
// since the old password was checked, the error is errNoUser.
func (a *Accounts) setOwnPassword(from belfry.Origin, l meta.Login, password string) error {
	return a.urgent(l.Customer, inSession(l.User.Name, from), func(t change) error {
		now, ok := a.tree.Access().Session(l.Hash)
		if !ok || now.User.Fingerprint() != l.User.Fingerprint() {
			return errNoUser
		}
		u := now.User
		u.Password = password
		t.Put(belfry.DocUser, l.Customer, u.Name, u)
		for _, hash := range a.tree.Access().SessionHashes(l.Customer, u.Name) {
			if hash != l.Hash {
				t.endSession(l.Customer, hash)
			}
		}
		now.Session.Fingerprint = u.Fingerprint()
		t.Put(belfry.DocSession, l.Customer, l.Hash.String(), now.Session)
		t.Event("user", "login", "password changed", u.Name)
		t.Audit(audit.Change{Kind: belfry.DocUser, Name: u.Name, Action: audit.ActionChanged, Fields: userFields(&now.User, &u), Info: "password changed"})
		return nil
	})
}

// LogOutEverywhere ends all sessions of the user of a session. It does nothing if that session has ended.
func (a *Accounts) LogOutEverywhere(hash belfry.Hash, from belfry.Origin) error {
	l, ok := a.tree.Access().Session(hash)
	if !ok {
		return nil
	}
	return a.urgent(l.Customer, inSession(l.User.Name, from), func(t change) error {
		if _, ok := a.tree.Access().Session(hash); ok {
			t.endSessions(l.Customer, l.User.Name)
			t.sessionChanged(l.User.Name, actionLoggedOut, "logged out everywhere")
		}
		return nil
	})
}

// SwitchCustomer switches the session of an administrator of the instance to another customer or back to its own. It writes an
// event in the customer entered and in the one left.
func (a *Accounts) SwitchCustomer(hash belfry.Hash, name string, from belfry.Origin) error {
	l, ok := a.tree.Access().Session(hash)
	if !ok {
		return errWrong()
	}
	by := inSession(ActingName(l.User.Name), from)
	return a.urgent(l.Customer, by, func(t change) error {
		l, ok := a.tree.Access().Session(hash)
		if !ok || l.User.Level() != belfry.LevelInstance {
			return errWrong()
		}
		to, ok := a.tree.Access().CustomerNamed(name)
		if !ok {
			return belfry.Errorf(belfry.NotFound, "there is no customer %.255q", name)
		}
		had := l.Session.Acting
		l.Session.Acting, l.Session.ActingIn = to.ID, to.Name
		if to.ID == l.Customer {
			l.Session.Acting, l.Session.ActingIn = 0, ""
		}
		if l.Session.Acting == had {
			return nil
		}
		t.Put(belfry.DocSession, l.Customer, hash.String(), l.Session)
		t.ChangedOf(had, "user", "login", audit.Change{Kind: audit.KindSession, Name: by.Name, Action: actionLeft, Info: "instance administrator left"})
		t.ChangedOf(l.Session.Acting, "user", "login", audit.Change{Kind: audit.KindSession, Name: by.Name, Action: actionEntered, Info: "instance administrator entered"})
		return nil
	})
}

// person is a user authenticated by an OpenID provider.
type person struct {
	Subject string // issuer, a blank, and the subject claim
	Name    string // of a user to be created
	Role    string // viewer, operator or administrator
}

// logInPerson begins a session for a user authenticated by a provider. The user is created at the first login; later logins set
// its role to that of the provider.
func (a *Accounts) logInPerson(c belfry.CustomerID, p person, from belfry.Origin) (secret string, err error) {
	secret = newToken()
	err = a.urgent(c, nil, func(t change) error {
		u, known := a.tree.Access().UserBySubject(c, p.Subject)
		if !known {
			u = belfry.User{Name: p.Name, Subject: p.Subject, Role: p.Role}
			if err := checkUser(&u); err != nil {
				return err
			}
			t.By = inSession(u.Name, from)
			if err := t.createUser(c, u); err != nil {
				return err
			}
			u.Created = t.Now
		}
		t.By = inSession(u.Name, from)
		if u.Role != p.Role || u.Instance {
			was, info := u, "user "+u.Name+" is "+p.Role+", was "+u.RoleName()
			u.Role, u.Instance = p.Role, false
			t.userChanged(audit.ActionChanged, &was, &u, info)
			t.endSessions(c, u.Name)
		}
		t.startSession(c, u, from, secret)
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// cleanName makes a valid user name of the name from a provider, where possible.
func cleanName(name string) string {
	name = strings.TrimSpace(name)
	if checkUser(&belfry.User{Name: name, Role: belfry.Viewer}) != nil {
		return ""
	}
	return name
}
