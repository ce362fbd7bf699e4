package ingest

import (
	"slices"
	"strings"

	"belfry"
)

// roles are those a user can have.
var roles = []string{belfry.Viewer, belfry.Operator, belfry.Administrator}

// CreateUser makes a user; u.Password is the hash of the password.
func (s *Sequencer) CreateUser(c belfry.CustomerID, u belfry.User, by string) error {
	if bad := checkName("name", u.Name); bad != nil {
		return belfry.Errorf(belfry.BadParameter, "user: %s", bad.Message)
	}
	if !slices.Contains(roles, u.Role) {
		return belfry.Errorf(belfry.BadParameter, "role must be %s, got %q", strings.Join(roles, ", "), u.Role)
	}
	if err := CheckViews(s.cfg.Tree, c, &u); err != nil {
		return err
	}
	return s.do(&command{customer: c, alone: true, decide: func(t *tx) error {
		if _, have := s.cfg.Tree.User(c, u.Name); have {
			return belfry.Errorf(belfry.NameInUse, "there is a user %q already; remove it or choose another name", u.Name)
		}
		u.Created = t.now
		t.configure(belfry.DocUser, c, u.Name, u)
		what := "user " + u.Name + " created as " + u.Role
		if len(u.Views) > 0 {
			what += ", " + limitText(u.Views)
		}
		t.configured(what, by)
		return nil
	}})
}

// SetPassword gives a user another password, hashed, and ends the sessions begun with the old one.
func (s *Sequencer) SetPassword(c belfry.CustomerID, name, password, by string) error {
	return s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
		u, err := t.user(c, name)
		if err != nil {
			return err
		}
		u.Password = password
		t.configure(belfry.DocUser, c, name, u)
		t.endSessions(c, name)
		t.configured("user "+name+" has another password", by)
		return nil
	}})
}

// RemoveUser removes a user and ends its sessions.
func (s *Sequencer) RemoveUser(c belfry.CustomerID, name, by string) error {
	return s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
		u, err := t.user(c, name)
		if err != nil {
			return err
		}
		if u.Instance && !t.otherInstance(c, name) {
			return belfry.Errorf(belfry.NotAllowed, "user %q is the only administrator of the instance; make another first", name)
		}
		t.document(belfry.Doc{Kind: belfry.DocUser, Customer: c, Name: name})
		t.endSessions(c, name)
		t.configured("user "+name+" removed", by)
		return nil
	}})
}

func (t *tx) user(c belfry.CustomerID, name string) (belfry.User, error) {
	u, ok := t.seq.cfg.Tree.User(c, name)
	if !ok {
		return u, belfry.Errorf(belfry.NotFound, "there is no user %q", name)
	}
	return u, nil
}

// otherInstance tells whether somebody else can administer the instance.
func (t *tx) otherInstance(c belfry.CustomerID, name string) bool {
	for _, customer := range t.seq.cfg.Tree.Customers() {
		for _, u := range t.seq.cfg.Tree.Users(customer.ID) {
			if u.Instance && (customer.ID != c || u.Name != name) {
				return true
			}
		}
	}
	return false
}

func (t *tx) endSessions(c belfry.CustomerID, user string) {
	for _, hash := range t.seq.cfg.Tree.Logins(c, user) {
		t.endSession(c, hash)
	}
}
