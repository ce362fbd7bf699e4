package ingest

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/meta"
)

// CreateCustomer makes a customer with its root view.
func (s *Sequencer) CreateCustomer(name, by string) (c belfry.Customer, err error) {
	return s.CreateCustomerWith(name, "", by)
}

// CreateCustomerWith makes a customer and, when password is not empty, an administrator of it who has that password,
// hashed. An event in the new customer, and one in the default customer, where administrators of the instance read, name who did it.
func (s *Sequencer) CreateCustomerWith(name, password, by string) (c belfry.Customer, err error) {
	if bad := checkName("name", name); bad != nil {
		return c, belfry.Errorf(belfry.BadParameter, "customer: %s", bad.Message)
	}
	err = s.do(&command{alone: true, decide: func(t *tx) error {
		if c, err = t.createCustomer(name, by); err != nil || password == "" {
			return err
		}
		return t.createUser(c.ID, belfry.User{Name: AdminUser, Password: password, Role: belfry.Administrator}, by)
	}})
	return c, err
}

func (t *tx) createCustomer(name, by string) (c belfry.Customer, err error) {
	tree := t.seq.cfg.Tree
	for _, have := range tree.Customers() {
		if have.Name == name {
			return c, belfry.Errorf(belfry.NameInUse, "there is a customer %q already; choose another name", name)
		}
		c.ID = max(c.ID, have.ID)
	}
	for _, had := range tree.Removals() {
		c.ID = max(c.ID, had.Customer)
	}
	c = belfry.Customer{ID: c.ID + 1, Name: name, Created: t.now}
	t.configure(belfry.DocCustomer, 0, customerDoc(c.ID), c)
	t.estate, t.rec.Customer = meta.NewEstate(c), c.ID
	t.create(belfry.KindView, belfry.Main, nil, nil, t.viewClass(genericView), "", nil)
	info := "customer " + name + " created"
	t.configured(info, by)
	if of, ok := tree.CustomerNamed(DefaultCustomer); ok {
		t.tellOther(tree.Estate(of.ID), func(told *events) { told.note(t.now, "configuration", "configuration", info, by) })
	}
	return c, nil
}

// customerDoc names the document of a customer. It is not the customer's name: a name can be given again after a removal,
// and a replay that does not come to its end must not leave the old customer under the name of the new one.
func customerDoc(c belfry.CustomerID) string { return "\x01" + strconv.FormatUint(uint64(c), 10) }

// RemoveCustomerOnce removes a customer with all it has. From the answer on nothing of it is there for anybody, also
// after a crash; its rows are taken off the disk later, see Erased. The event is in the customer of who asks.
func (s *Sequencer) RemoveCustomerOnce(ctx context.Context, who Sender, name string, r Repeat) (code int, answer []byte, err error) {
	if r.Key == "" {
		return s.removeCustomer(who, name, r)
	}
	return s.once(ctx, who, r, func() (int, []byte, error) { return s.removeCustomer(who, name, r) })
}

func (s *Sequencer) removeCustomer(who Sender, name string, r Repeat) (code int, answer []byte, err error) {
	code, answer = http.StatusOK, encode(map[string]string{"result": "removed", "name": name})
	err = s.do(&command{customer: who.Customer, alone: true, urgent: true, decide: func(t *tx) error {
		c, ok := s.cfg.Tree.CustomerNamed(name)
		if !ok {
			return belfry.Errorf(belfry.NotFound, "there is no customer %.255q", name)
		}
		if t.anotherOf(c.ID, &belfry.User{}, func(u *belfry.User) bool { return u.Level() == belfry.LevelInstance }) {
			return belfry.Errorf(belfry.NotAllowed, "customer %q has an administrator of the instance; make one in another customer, and remove or lower those in %q first", name, name)
		}
		if c.ID == who.Customer {
			return belfry.Errorf(belfry.NotAllowed, "this session acts in customer %q; act in another customer first", name)
		}
		t.document(belfry.Doc{Kind: belfry.DocCustomer, Name: customerDoc(c.ID)})
		t.removal(belfry.Removal{Customer: c.ID, Removed: t.now})
		t.configured("customer "+name+" removed with all its data", who.Name)
		t.answer(who, r, code, answer)
		return nil
	}})
	if err != nil {
		return 0, nil, err
	}
	return code, answer, nil
}

func (t *tx) removal(r belfry.Removal) {
	t.configure(belfry.DocRemoval, 0, strconv.FormatUint(uint64(r.Customer), 10), r)
}

// Erased notes that nothing of removed customers is left on the disk.
func (s *Sequencer) Erased(list []belfry.Removal) error {
	return s.do(&command{alone: true, decide: func(t *tx) error {
		for _, r := range list {
			r.Erased = t.now
			t.removal(r)
		}
		return nil
	}})
}

// maxGrants is how many grants a customer may have.
const maxGrants = 100

// ChangeGrants adds to and takes from what a customer may listen on; with instead, what is added is all there is then. Each grant
// is HOST:PORT or HOST:PORT-PORT. What another customer was granted already is refused: a port belongs to one customer.
// Receivers that may not listen any more are switched off.
func (s *Sequencer) ChangeGrants(name string, add, remove []string, instead bool, by string) error {
	c, ok := s.cfg.Tree.CustomerNamed(name)
	if !ok {
		return belfry.Errorf(belfry.NotFound, "there is no customer %.255q", name)
	}
	return s.do(&command{customer: c.ID, alone: true, decide: func(t *tx) error {
		c := t.estate.Customer
		have := c.Listen
		if instead {
			have = nil
		}
		wanted := slices.Concat(have, add)
		for _, text := range remove {
			g, err := belfry.ParseGrant(text)
			if err != nil {
				return err
			}
			if !slices.Contains(wanted, g.String()) {
				return belfry.Errorf(belfry.NotFound, "customer %q has no grant %s; it may listen on %s", name, g, cmp.Or(strings.Join(have, ", "), "no port"))
			}
			wanted = slices.DeleteFunc(wanted, func(w string) bool { return w == g.String() })
		}
		var err error
		if c.Listen, err = t.grants(c.ID, wanted); err != nil {
			return err
		}
		if slices.Equal(c.Listen, t.estate.Listen) {
			return nil
		}
		t.configure(belfry.DocCustomer, 0, customerDoc(c.ID), c)
		ports := func(list []string) string { return cmp.Or(strings.Join(list, ", "), "no port") }
		t.configured("customer "+name+" may listen on "+ports(c.Listen)+", was "+ports(t.estate.Listen), by)
		return nil
	}})
}

// grants reads grants and writes them in one way, without those that say the same twice.
func (t *tx) grants(customer belfry.CustomerID, texts []string) (list []string, err error) {
	if len(texts) > maxGrants {
		return nil, belfry.Errorf(belfry.LimitReached, "a customer may have %d grants, got %d; use ranges of ports", maxGrants, len(texts))
	}
	for _, text := range texts {
		g, err := belfry.ParseGrant(text)
		if err != nil {
			return nil, err
		}
		for _, o := range t.seq.cfg.Tree.Customers() {
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
