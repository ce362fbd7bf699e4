package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/engine"
	"belfry/engine/audit"
)

// CustomerWish describes a customer to create.
type CustomerWish struct {
	Name          string
	Administrator bool   // create one, too
	Password      string // of the administrator; empty: a random one
}

// CreateCustomer creates a customer. It returns the password of its administrator if it has generated one.
func (a *Accounts) CreateCustomer(who Caller, wish CustomerWish, hashing Hashing) (made string, err error) {
	var password, hash string
	if wish.Administrator {
		if password, made, err = who.choosePassword(AdminUser, wish.Password); err != nil {
			return "", err
		}
		if err := hashing(func() { hash = a.cfg.Passwords.Hash(password) }); err != nil {
			return "", err
		}
	}
	_, err = a.AddCustomer(wish.Name, hash, who.acting())
	return made, err
}

// AddCustomer creates a customer with its root view and, if password is not empty, an administrator with that hashed password.
// It writes an event in the new customer and one in the default customer, for administrators of the instance.
func (a *Accounts) AddCustomer(name, password string, by *belfry.Actor) (c belfry.Customer, err error) {
	if bad := engine.CheckName("name", name); bad != nil {
		return c, belfry.Errorf(belfry.BadParameter, "customer: %s", bad.Message)
	}
	err = a.do(0, by, func(t change) error {
		if c, err = t.createCustomer(name); err != nil || password == "" {
			return err
		}
		return t.createUser(c.ID, belfry.User{Name: AdminUser, Password: password, Role: belfry.Administrator})
	})
	return c, err
}

func (t change) createCustomer(name string) (c belfry.Customer, err error) {
	tree := t.tree
	for _, have := range tree.Access().Customers() {
		if have.Name == name {
			return c, belfry.Errorf(belfry.NameInUse, "there is a customer %q already; choose another name", name)
		}
		c.ID = max(c.ID, have.ID)
	}
	for _, had := range tree.Access().Removals() {
		c.ID = max(c.ID, had.Customer)
	}
	c = belfry.Customer{ID: c.ID + 1, Name: name, Created: t.Now}
	t.Put(belfry.DocCustomer, 0, customerDoc(c.ID), c)
	t.BeginCustomer(c)
	created := audit.Change{Kind: belfry.DocCustomer, Name: name, Action: audit.ActionCreated, Info: "customer " + name + " created"}
	t.Changed(created)
	if of, ok := tree.Access().CustomerNamed(belfry.DefaultCustomer); ok {
		t.ChangedOf(of.ID, "configuration", "configuration", created)
	}
	return c, nil
}

// customerDoc names the document of a customer. It is not the customer's name: that can be used again after a removal, and an
// incomplete replay must not leave the old customer under the name of the new one.
func customerDoc(c belfry.CustomerID) string { return "\x01" + strconv.FormatUint(uint64(c), 10) }

// RemoveCustomer removes a customer with all its data, which is inaccessible from then on. Its rows are deleted from the disk
// later, see Erased. The event is in the caller's customer.
func (a *Accounts) RemoveCustomer(who Caller, name string) error {
	return a.once(who, func(t change) error {
		c, ok := a.tree.Access().CustomerNamed(name)
		if !ok {
			return belfry.Errorf(belfry.NotFound, "there is no customer %.255q", name)
		}
		if t.anotherOf(c.ID, &belfry.User{}, func(u *belfry.User) bool { return u.Level() == belfry.LevelInstance }) {
			return belfry.Errorf(belfry.NotAllowed, "customer %q has an administrator of the instance; make one in another customer, and remove or lower those in %q first", name, name)
		}
		if c.ID == who.Customer {
			return belfry.Errorf(belfry.NotAllowed, "this session acts in customer %q; act in another customer first", name)
		}
		t.Document(belfry.Doc{Kind: belfry.DocCustomer, Name: customerDoc(c.ID)})
		t.removal(belfry.Removal{Customer: c.ID, Removed: t.Now})
		t.Changed(audit.Change{Kind: belfry.DocCustomer, Name: name, Action: audit.ActionRemoved, Info: "customer " + name + " removed with all its data"})
		return nil
	})
}

func (t change) removal(r belfry.Removal) {
	t.Put(belfry.DocRemoval, 0, strconv.FormatUint(uint64(r.Customer), 10), r)
}

// Erased notes that the data of removed customers are deleted from the disk.
func (a *Accounts) Erased(list []belfry.Removal) error {
	return a.do(0, nil, func(t change) error {
		for _, r := range list {
			r.Erased = t.Now
			t.removal(r)
		}
		return nil
	})
}

// maxGrants is how many grants a customer may have.
const maxGrants = 100

// GrantChange is a change of the grants of a customer, each HOST:PORT or HOST:PORT-PORT.
type GrantChange struct {
	Listen      *[]string // replaces the grants; nil: no change
	Add, Remove []string
}

// ChangeGrants changes the ports a customer may listen on. A port belongs to one customer, so those of others are refused.
// Receivers that may no longer listen are switched off.
func (a *Accounts) ChangeGrants(who Caller, name string, to GrantChange) error {
	c, ok := a.tree.Access().CustomerNamed(name)
	if !ok {
		return belfry.Errorf(belfry.NotFound, "there is no customer %.255q", name)
	}
	return a.do(c.ID, who.acting(), func(t change) error {
		c := t.Tenant.Customer
		have := c.Listen
		if to.Listen != nil {
			have = *to.Listen
		}
		wanted := slices.Concat(have, to.Add)
		for _, text := range to.Remove {
			g, err := belfry.ParseGrant(text)
			if err != nil {
				return err
			}
			if !slices.Contains(wanted, g.String()) {
				return belfry.Errorf(belfry.BadParameter, "customer %q has no grant %s; it may listen on %s", name, g, cmp.Or(strings.Join(have, ", "), "no port"))
			}
			wanted = slices.DeleteFunc(wanted, func(w string) bool { return w == g.String() })
		}
		var err error
		if c.Listen, err = t.grants(c.ID, wanted); err != nil {
			return err
		}
		if slices.Equal(c.Listen, t.Tenant.Listen) {
			return nil
		}
		t.Put(belfry.DocCustomer, 0, customerDoc(c.ID), c)
		ports := func(list []string) string { return cmp.Or(strings.Join(list, ", "), "no port") }
		t.Changed(audit.Change{
			Kind: belfry.DocCustomer, Name: name, Action: audit.ActionChanged, Fields: audit.Differences(grants{t.Tenant.Listen}, grants{c.Listen}),
			Info: "customer " + name + " may listen on " + ports(c.Listen) + ", was " + ports(t.Tenant.Listen),
		})
		return nil
	})
}

// grants are the grants of a customer in the audit trail.
type grants struct {
	Listen []string `json:"listen,omitempty"`
}

// grants parses and normalizes grants, without duplicates.
func (t change) grants(customer belfry.CustomerID, texts []string) (list []string, err error) {
	if len(texts) > maxGrants {
		return nil, belfry.Errorf(belfry.LimitReached, "a customer may have %d grants, got %d; use ranges of ports", maxGrants, len(texts))
	}
	for _, text := range texts {
		g, err := belfry.ParseGrant(text)
		if err != nil {
			return nil, err
		}
		for _, o := range t.tree.Access().Customers() {
			if o.ID == customer {
				continue
			}
			for _, have := range o.Listen {
				if h, err := belfry.ParseGrant(have); err == nil && h.Overlaps(g) {
					return nil, belfry.Errorf(belfry.NotAllowed, "customer %q may listen on %s already, and a port belongs to one customer; revoke that first", o.Name, have)
				}
			}
		}
		if !slices.Contains(list, g.String()) {
			list = append(list, g.String())
		}
	}
	return list, nil
}
