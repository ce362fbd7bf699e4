package ingest

import (
	"strings"

	"belfry"
	"belfry/meta"
)

// What people do with their own account and sessions.

// ChangePassword gives the user of a session another password, hashed. The session goes on, the user's others end.
// Should the user have been changed since the old password was checked, it is ErrNoUser.
func (s *Sequencer) ChangePassword(l meta.Login, password string) error {
	return s.do(&command{customer: l.Customer, alone: true, urgent: true, decide: func(t *tx) error {
		now, ok := s.cfg.Tree.Session(l.Hash)
		if !ok || now.User.Mark() != l.User.Mark() {
			return ErrNoUser
		}
		u := now.User
		u.Password = password
		t.configure(belfry.DocUser, l.Customer, u.Name, u)
		for _, hash := range s.cfg.Tree.Logins(l.Customer, u.Name) {
			if hash != l.Hash {
				t.endSession(l.Customer, hash)
			}
		}
		now.Session.Mark = u.Mark()
		t.configure(belfry.DocSession, l.Customer, l.Hash.String(), now.Session)
		t.login("password changed", u.Name)
		return nil
	}})
}

// LogOutEverywhere ends all sessions of the user whose session it is; one that has ended already is none.
func (s *Sequencer) LogOutEverywhere(hash belfry.Hash) error {
	l, ok := s.cfg.Tree.Session(hash)
	if !ok {
		return nil
	}
	return s.do(&command{customer: l.Customer, alone: true, urgent: true, decide: func(t *tx) error {
		if _, ok := s.cfg.Tree.Session(hash); ok {
			t.endSessions(l.Customer, l.User.Name)
			t.login("logged out everywhere", l.User.Name)
		}
		return nil
	}})
}

// SwitchCustomer lets the session of an administrator of the instance act in another customer, or in its own again. It is
// told in the customer that is entered, and in the one that is left.
func (s *Sequencer) SwitchCustomer(hash belfry.Hash, name string) error {
	l, ok := s.cfg.Tree.Session(hash)
	if !ok {
		return ErrNoUser
	}
	return s.do(&command{customer: l.Customer, alone: true, urgent: true, decide: func(t *tx) error {
		l, ok := s.cfg.Tree.Session(hash)
		if !ok || l.User.Level() != belfry.LevelInstance {
			return ErrNoUser
		}
		to, ok := s.cfg.Tree.CustomerNamed(name)
		if !ok {
			return belfry.Errorf(belfry.NotFound, "there is no customer %.255q", name)
		}
		from := l.Session.Acting
		l.Session.Acting, l.Session.ActingIn = to.ID, to.Name
		if to.ID == l.Customer {
			l.Session.Acting, l.Session.ActingIn = 0, ""
		}
		if l.Session.Acting == from {
			return nil
		}
		t.configure(belfry.DocSession, l.Customer, hash.String(), l.Session)
		t.tellOf(from, "instance administrator left", ActingName(l.User.Name))
		t.tellOf(l.Session.Acting, "instance administrator entered", ActingName(l.User.Name))
		return nil
	}})
}

// tellOf writes a login event of another customer into the record; 0 is none.
func (t *tx) tellOf(c belfry.CustomerID, info, user string) {
	e := t.seq.cfg.Tree.Estate(c)
	if e == nil {
		return
	}
	var told events
	told.note(t.now, "user", "login", info, user)
	b := told.batch()
	b.Customer, b.FirstID = c, t.s.rowIDs(e, b.Len())
	t.rec.Batches = append(t.rec.Batches, b)
}

// Person is somebody for whom an OpenID provider vouches.
type Person struct {
	Subject string // issuer, a blank, and who it is there
	Name    string // for a user who is new here
	Role    string // viewer, operator or administrator
}

// LogInPerson begins a session for somebody for whom a provider vouches. The user is made at the first login; afterwards
// its role is the one the provider says, whatever it was.
func (s *Sequencer) LogInPerson(c belfry.CustomerID, p Person, from belfry.Place) (secret string, err error) {
	secret = newToken()
	err = s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
		u, known := s.cfg.Tree.UserBySubject(c, p.Subject)
		if !known {
			u = belfry.User{Name: p.Name, Subject: p.Subject, Role: p.Role}
			if err := checkUser(&u); err != nil {
				return err
			}
			if err := t.createUser(c, u, u.Name); err != nil {
				return err
			}
			u.Created = t.now
		}
		if u.Role != p.Role || u.Instance {
			t.login("user "+u.Name+" is "+p.Role+", was "+u.RoleName(), u.Name)
			u.Role, u.Instance = p.Role, false
			t.endSessions(c, u.Name)
		}
		t.startSession(c, u, from, secret)
		return nil
	}})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// CleanName makes a name of what a provider calls somebody, as far as that can be one.
func CleanName(name string) string {
	name = strings.TrimSpace(name)
	if checkUser(&belfry.User{Name: name, Role: belfry.Viewer}) != nil {
		return ""
	}
	return name
}
