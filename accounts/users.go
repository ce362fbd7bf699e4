package accounts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"belfry"
	"belfry/engine"
	"belfry/engine/audit"
)

// roles are those that the command line can give.
var roles = []string{belfry.Viewer, belfry.Operator, belfry.Administrator}

const (
	// maxUsers is how many users a customer can have.
	maxUsers = 100_000
	// instanceMark follows the name of an administrator of the instance in the events of a customer that is not its own.
	// The customer of that user is not shown there.
	instanceMark = " (instance)"
)

// Names under which events and the audit trail show the service, and commands on the machine itself.
const (
	SystemName = "system"
	LocalName  = "shell"
)

// ActingName returns the name of a user in the events of another customer.
func ActingName(user string) string { return user + instanceMark }

// UserWish describes a user to create or change; empty fields stay as they are.
type UserWish struct {
	Name, Role, Password string
	Views                *[]string // to which it is limited; empty: no restriction
}

// CreateUser creates a user. Without a password it generates one and returns it.
func (a *Accounts) CreateUser(who Caller, wish UserWish, hashing Hashing) (made string, err error) {
	u := belfry.User{Name: wish.Name}
	if !u.SetRole(wish.Role) {
		return "", errRole(who, wish.Role)
	}
	if wish.Views != nil {
		u.Views = *wish.Views
	}
	if u.Instance && who.Level < belfry.LevelInstance {
		return "", belfry.Errorf(belfry.InsufficientLevel, "only an instance administrator may make an instance administrator")
	}
	password, made, err := who.choosePassword(wish.Name, wish.Password)
	if err != nil {
		return "", err
	}
	if err := hashing(func() { u.Password = a.cfg.Passwords.Hash(password) }); err != nil {
		return "", err
	}
	return made, a.AddUser(who.Customer, u, who.Actor())
}

// errRole lists the roles that the caller may give.
func errRole(who Caller, role string) error {
	more := ""
	if who.Level == belfry.LevelInstance {
		more = ", " + belfry.InstanceAdministrator
	}
	return belfry.Errorf(belfry.BadParameter, "role must be %s, %s, %s%s, got %.64q", belfry.Viewer, belfry.Operator, belfry.Administrator, more, role)
}

// ChangeUser changes role, password or views of a user.
func (a *Accounts) ChangeUser(who Caller, wish UserWish, hashing Hashing) error {
	if wish.Role != "" && !new(belfry.User).SetRole(wish.Role) {
		return errRole(who, wish.Role)
	}
	to := UserChange{Role: wish.Role, Views: wish.Views}
	if wish.Password != "" {
		if _, _, err := who.choosePassword(wish.Name, wish.Password); err != nil {
			return err
		}
		if err := hashing(func() { to.Password = a.cfg.Passwords.Hash(wish.Password) }); err != nil {
			return err
		}
	}
	return a.UpdateUser(who.Customer, wish.Name, to, who.Level == belfry.LevelInstance, who.Actor())
}

// AddUser creates a user with a hashed password.
func (a *Accounts) AddUser(c belfry.CustomerID, u belfry.User, by *belfry.Actor) error {
	if err := checkUser(&u); err != nil {
		return err
	}
	return a.do(c, by, func(t change) error { return t.createUser(c, u) })
}

// checkActorName checks the name of a new user or key. Events and the audit trail show it, so it must not look like another.
func checkActorName(kind, name string) error {
	if bad := engine.CheckName("name", name); bad != nil {
		return belfry.Errorf(belfry.BadParameter, "%s: %s", kind, bad.Message)
	}
	switch {
	case strings.HasSuffix(name, instanceMark):
		return belfry.Errorf(belfry.BadParameter, "%s: the name %q ends with %q, which is reserved for administrators of the instance; choose another", kind, name, instanceMark)
	case name == LocalName || name == SystemName:
		return belfry.Errorf(belfry.BadParameter, "%s: the name %q is reserved for the service itself; choose another", kind, name)
	case strings.ContainsFunc(name, invisible):
		return belfry.Errorf(belfry.BadParameter, "%s: the name %q contains an invisible character or an unusual blank; use plain blanks", kind, name)
	}
	return nil
}

// invisible reports whether a character has no width, changes the direction of text, or looks like a plain blank.
func invisible(r rune) bool { return r != ' ' && unicode.In(r, unicode.Cf, unicode.Z) }

func checkUser(u *belfry.User) error {
	if err := checkActorName("user", u.Name); err != nil {
		return err
	}
	if u.Level() == belfry.LevelNone {
		return belfry.Errorf(belfry.BadParameter, "role must be %s, got %q", strings.Join(roles, ", "), u.Role)
	}
	return nil
}

func (t change) createUser(c belfry.CustomerID, u belfry.User) error {
	have := t.tree.Access().Users(c)
	for i := range have {
		if have[i].Name == u.Name {
			return belfry.Errorf(belfry.NameInUse, "there is a user %q already; remove it or choose another name", u.Name)
		}
	}
	if len(have) >= maxUsers {
		return belfry.Errorf(belfry.LimitReached, "there are %d users already; remove unused ones", maxUsers)
	}
	if err := checkUserViews(t.tree, c, &u); err != nil {
		return err
	}
	u.Created = t.Now
	if err := t.Budget().ReserveDocument(belfry.DocUser, u.Name, u); err != nil {
		return err
	}
	t.Put(belfry.DocUser, c, u.Name, u)
	what := "user " + u.Name + " created as " + u.RoleName()
	if len(u.Views) > 0 {
		what += ", " + limitText(u.Views)
	}
	t.userChanged(audit.ActionCreated, nil, &u, what)
	return nil
}

// UserChange is a change of a user; empty fields stay as they are.
type UserChange struct {
	Role     string // as User.SetRole takes it
	Password string // hashed
	Views    *[]string
}

// UpdateUser changes a user and ends its sessions if anything changes. Only an administrator of the instance may create or change
// one.
func (a *Accounts) UpdateUser(c belfry.CustomerID, name string, to UserChange, instance bool, by *belfry.Actor) error {
	return a.urgent(c, by, func(t change) error {
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
			t.login("user " + name + " has another password")
		}
		if u.Level() != was.Level() {
			if err := t.spare(c, &was, u.Level()); err != nil {
				return err
			}
			t.login("user " + name + " is " + u.RoleName() + ", was " + was.RoleName())
		}
		limited := to.Views != nil && !slices.Equal(*to.Views, u.Views)
		if limited {
			u.Views = *to.Views
		}
		if limited || u.Instance { // else removed views would prevent a change of the password
			if err := checkUserViews(t.tree, c, &u); err != nil {
				return err
			}
		}
		if limited {
			if err := t.spareLimited(c, &was, &u); err != nil {
				return err
			}
			if err := t.Budget().ReserveDocument(belfry.DocUser, name, u); err != nil {
				return err
			}
			t.LimitScripts(&u, false)
			t.login("user " + name + " " + limitText(u.Views) + ", before " + limitText(was.Views))
		}
		if u.Fingerprint() == was.Fingerprint() {
			return nil
		}
		t.Put(belfry.DocUser, c, name, u)
		t.Audit(audit.Change{Kind: belfry.DocUser, Name: name, Action: audit.ActionChanged, Fields: userFields(&was, &u), Info: "user " + name + " changed"})
		t.endSessions(c, name)
		return nil
	})
}

// RemoveUser removes a user and ends its sessions.
func (a *Accounts) RemoveUser(who Caller, name string) error {
	c := who.Customer
	return a.once(who, func(t change) error {
		u, err := t.changeable(c, name, who.Level == belfry.LevelInstance)
		if err != nil {
			return err
		}
		if err := t.spare(c, &u, belfry.LevelNone); err != nil {
			return err
		}
		t.Document(belfry.Doc{Kind: belfry.DocUser, Customer: c, Name: name})
		t.LimitScripts(&u, true)
		t.userChanged(audit.ActionRemoved, &u, nil, "user "+name+" removed, was "+u.RoleName())
		t.endSessions(c, name)
		return nil
	})
}

func (t change) user(c belfry.CustomerID, name string) (belfry.User, error) {
	u, ok := t.tree.Access().User(c, name)
	if !ok {
		return u, belfry.Errorf(belfry.NotFound, "there is no user %q", name)
	}
	return u, nil
}

// changeable finds a user that the caller may change.
func (t change) changeable(c belfry.CustomerID, name string, instance bool) (belfry.User, error) {
	u, err := t.user(c, name)
	if err == nil && u.Instance && !instance {
		err = errInstance()
	}
	return u, err
}

func errInstance() error {
	return belfry.Errorf(belfry.InsufficientLevel, "only an instance administrator may make, change or remove an instance administrator")
}

// spare refuses to lower the last administrator of the instance or of its customer. Users of a provider, whose roles are decided
// there, and users limited to views do not count as administrators.
func (t change) spare(c belfry.CustomerID, u *belfry.User, to belfry.Level) error {
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

// spareLimited refuses to limit the last administrator of a customer to views.
func (t change) spareLimited(c belfry.CustomerID, was, u *belfry.User) error {
	if len(was.Views) > 0 || len(u.Views) == 0 {
		return nil
	}
	return t.spare(c, was, belfry.LevelReadWriteDelete)
}

// another reports whether any other user, in any customer, satisfies wanted.
func (t change) another(c belfry.CustomerID, u *belfry.User, wanted func(*belfry.User) bool) bool {
	for _, customer := range t.tree.Access().Customers() {
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

// anotherOf reports whether any other user of the customer satisfies wanted.
func (t change) anotherOf(c belfry.CustomerID, u *belfry.User, wanted func(*belfry.User) bool) bool {
	for _, other := range t.tree.Access().Users(c) {
		if other.Name != u.Name && wanted(&other) {
			return true
		}
	}
	return false
}

func (t change) endSessions(c belfry.CustomerID, user string) {
	ended := t.tree.Access().SessionHashes(c, user)
	for _, hash := range ended {
		t.endSession(c, hash)
	}
	if len(ended) > 0 {
		t.auditSession(user, actionEnded, fmt.Sprintf("sessions of %s ended: %d", user, len(ended)))
	}
}
