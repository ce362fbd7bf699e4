package ingest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"belfry"
)

// roles are those a user can have by the commands at the shell.
var roles = []string{belfry.Viewer, belfry.Operator, belfry.Administrator}

const (
	// maxUsers is how many users a customer can have.
	maxUsers = 100_000
	// instanceMark follows the name of an administrator of the instance in the events of a customer that is not its own.
	// The customer of that user is nobody's business there.
	instanceMark = " (instance)"
)

// ActingName is how a user is called in the events of a customer that is not its own.
func ActingName(user string) string { return user + instanceMark }

// CreateUser makes a user; u.Password is the hash of the password.
func (s *Sequencer) CreateUser(c belfry.CustomerID, u belfry.User, by string) error {
	if err := checkUser(&u); err != nil {
		return err
	}
	return s.do(&command{customer: c, alone: true, decide: func(t *tx) error { return t.createUser(c, u, by) }})
}

func checkUser(u *belfry.User) error {
	if bad := checkName("name", u.Name); bad != nil {
		return belfry.Errorf(belfry.BadParameter, "user: %s", bad.Message)
	}
	if strings.HasSuffix(u.Name, instanceMark) {
		return belfry.Errorf(belfry.BadParameter, "user: the name %q ends with %q, by which events tell administrators of the instance; choose another", u.Name, instanceMark)
	}
	if u.Level() == belfry.LevelNone {
		return belfry.Errorf(belfry.BadParameter, "role must be %s, got %q", strings.Join(roles, ", "), u.Role)
	}
	return nil
}

func (t *tx) createUser(c belfry.CustomerID, u belfry.User, by string) error {
	have := t.seq.cfg.Tree.Users(c)
	for i := range have {
		if have[i].Name == u.Name {
			return belfry.Errorf(belfry.NameInUse, "there is a user %q already; remove it or choose another name", u.Name)
		}
	}
	if len(have) >= maxUsers {
		return belfry.Errorf(belfry.LimitReached, "there are %d users already; remove those that nobody needs", maxUsers)
	}
	if err := CheckViews(t.seq.cfg.Tree, c, &u); err != nil {
		return err
	}
	u.Created = t.now
	if err := t.takeValue(belfry.DocUser, u.Name, u); err != nil {
		return err
	}
	t.configure(belfry.DocUser, c, u.Name, u)
	what := "user " + u.Name + " created as " + u.RoleName()
	if len(u.Views) > 0 {
		what += ", " + limitText(u.Views)
	}
	t.login(what, by)
	return nil
}

// UserChange is what is to be different about a user; what is empty stays.
type UserChange struct {
	Role     string // as User.SetRole takes it
	Password string // hashed
	Views    *[]string
}

// ChangeUser gives a user another role, another password, or both, and ends its sessions if that changes anything. Only
// an administrator of the instance may make one, or touch one.
func (s *Sequencer) ChangeUser(c belfry.CustomerID, name string, to UserChange, instance bool, by string) error {
	return s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
		u, err := t.changeable(c, name, instance)
		if err != nil {
			return err
		}
		if u.Subject != "" {
			return belfry.Errorf(belfry.NotAllowed, "user %q logs in through the OpenID Connect provider, which says what it may do; change it there", name)
		}
		was := u
		if to.Role != "" && !u.SetRole(to.Role) {
			return belfry.Errorf(belfry.BadParameter, "role must be %s, got %.64q", strings.Join(roles, ", "), to.Role)
		}
		if u.Instance && !instance {
			return errInstance()
		}
		if to.Password != "" {
			u.Password = to.Password
			t.login("user "+name+" has another password", by)
		}
		if u.Level() != was.Level() {
			if err := t.spare(c, &was, u.Level()); err != nil {
				return err
			}
			t.login("user "+name+" is "+u.RoleName()+", was "+was.RoleName(), by)
		}
		limited := to.Views != nil && !slices.Equal(*to.Views, u.Views)
		if limited {
			u.Views = *to.Views
		}
		if limited || u.Instance { // else views that are gone by now would stand in the way of another password
			if err := CheckViews(t.seq.cfg.Tree, c, &u); err != nil {
				return err
			}
		}
		if limited {
			if err := t.spareLimited(c, &was, &u); err != nil {
				return err
			}
			if err := t.takeValue(belfry.DocUser, name, u); err != nil {
				return err
			}
			t.storeLimits(&u, false)
			t.login("user "+name+" "+limitText(u.Views)+", before "+limitText(was.Views), by)
		}
		if u.Mark() == was.Mark() {
			return nil
		}
		t.configure(belfry.DocUser, c, name, u)
		t.endSessions(c, name)
		return nil
	}})
}

// SetPassword gives a user another password, hashed, and ends the sessions begun with the old one.
func (s *Sequencer) SetPassword(c belfry.CustomerID, name, password, by string) error {
	return s.ChangeUser(c, name, UserChange{Password: password}, true, by)
}

// RemoveUser removes a user and ends its sessions.
func (s *Sequencer) RemoveUser(c belfry.CustomerID, name, by string) error {
	_, _, err := s.removeUser(Sender{Scope: belfry.Whole(c), Name: by}, name, true, Repeat{})
	return err
}

// RemoveUserOnce does the same for a client that may repeat its request, and gives the answer.
func (s *Sequencer) RemoveUserOnce(ctx context.Context, who Sender, name string, instance bool, r Repeat) (code int, answer []byte, err error) {
	if r.Key == "" {
		return s.removeUser(who, name, instance, r)
	}
	return s.once(ctx, who, r, func() (int, []byte, error) { return s.removeUser(who, name, instance, r) })
}

func (s *Sequencer) removeUser(who Sender, name string, instance bool, r Repeat) (code int, answer []byte, err error) {
	c := who.Customer
	code, answer = http.StatusOK, encode(map[string]string{"result": "removed", "name": name})
	err = s.do(&command{customer: c, alone: true, urgent: true, decide: func(t *tx) error {
		u, err := t.changeable(c, name, instance)
		if err != nil {
			return err
		}
		if err := t.spare(c, &u, belfry.LevelNone); err != nil {
			return err
		}
		t.document(belfry.Doc{Kind: belfry.DocUser, Customer: c, Name: name})
		t.storeLimits(&u, true)
		t.endSessions(c, name)
		t.login("user "+name+" removed, was "+u.RoleName(), who.Name)
		t.answer(who, r, code, answer)
		return nil
	}})
	if err != nil {
		return 0, nil, err
	}
	return code, answer, nil
}

func (t *tx) user(c belfry.CustomerID, name string) (belfry.User, error) {
	u, ok := t.seq.cfg.Tree.User(c, name)
	if !ok {
		return u, belfry.Errorf(belfry.NotFound, "there is no user %q", name)
	}
	return u, nil
}

// changeable finds a user that the asking administrator may change.
func (t *tx) changeable(c belfry.CustomerID, name string, instance bool) (belfry.User, error) {
	u, err := t.user(c, name)
	if err == nil && u.Instance && !instance {
		err = errInstance()
	}
	return u, err
}

func errInstance() error {
	return belfry.Errorf(belfry.InsufficientLevel, "only an instance administrator may make, change or remove an instance administrator")
}

// spare refuses to take rights from a user without whom nobody could administer the instance, or its customer. Users of
// a provider do not count as others: what they may do is not decided here. Those who are limited to views do not, either.
func (t *tx) spare(c belfry.CustomerID, u *belfry.User, to belfry.Level) error {
	own := func(other *belfry.User) bool { return other.Password != "" && len(other.Views) == 0 }
	if u.Level() == belfry.LevelInstance && to < belfry.LevelInstance &&
		!t.another(c, u, func(o *belfry.User) bool { return own(o) && o.Level() == belfry.LevelInstance }) {
		return belfry.Errorf(belfry.NotAllowed, "user %q is the only administrator of the instance; make another first", u.Name)
	}
	if own(u) && u.Level() >= belfry.LevelAdministrator && to < belfry.LevelAdministrator && !t.anotherOf(c, u, func(o *belfry.User) bool {
		return own(o) && o.Level() >= belfry.LevelAdministrator
	}) {
		return belfry.Errorf(belfry.NotAllowed, "user %q is the last administrator of the customer; make another first", u.Name)
	}
	return nil
}

// spareLimited refuses to limit the last administrator of a customer: a limited one administers nothing.
func (t *tx) spareLimited(c belfry.CustomerID, was, u *belfry.User) error {
	if len(was.Views) > 0 || len(u.Views) == 0 {
		return nil
	}
	return t.spare(c, was, belfry.LevelReadWriteDelete)
}

// another tells whether somebody else, of whichever customer, is as wanted.
func (t *tx) another(c belfry.CustomerID, u *belfry.User, wanted func(*belfry.User) bool) bool {
	for _, customer := range t.seq.cfg.Tree.Customers() {
		but := u
		if customer.ID != c {
			but = &belfry.User{}
		}
		if t.anotherOf(customer.ID, but, wanted) {
			return true
		}
	}
	return false
}

// anotherOf tells whether somebody else of the customer is as wanted.
func (t *tx) anotherOf(c belfry.CustomerID, u *belfry.User, wanted func(*belfry.User) bool) bool {
	for _, other := range t.seq.cfg.Tree.Users(c) {
		if other.Name != u.Name && wanted(&other) {
			return true
		}
	}
	return false
}

func (t *tx) endSessions(c belfry.CustomerID, user string) {
	for _, hash := range t.seq.cfg.Tree.Logins(c, user) {
		t.endSession(c, hash)
	}
}
