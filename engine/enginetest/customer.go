package enginetest

import (
	"fmt"

	"belfry"
	"belfry/engine"
	"belfry/engine/audit"
)

// The part of package accounts that tests of the engine need.

// Bootstrap creates the first customer with its administrator if there is none.
func Bootstrap(s *engine.Sequencer) error {
	if len(s.Tree().Access().Customers()) > 0 {
		return nil
	}
	_, err := create(s, belfry.DefaultCustomer, "system", func(t *engine.Tx) {
		t.Put(belfry.DocUser, t.Tenant.ID, "admin", belfry.User{Name: "admin", Password: "hash", Role: belfry.Administrator, Instance: true, Created: t.Now})
	})
	return err
}

func customerDoc(c belfry.CustomerID) string { return fmt.Sprintf("\x01%d", c) }

// CreateCustomer creates a customer.
func CreateCustomer(s *engine.Sequencer, name, by string) (belfry.Customer, error) {
	return create(s, name, by, func(*engine.Tx) {})
}

func create(s *engine.Sequencer, name, by string, also func(*engine.Tx)) (c belfry.Customer, err error) {
	err = s.Do(&engine.Command{Alone: true, By: &belfry.Actor{Name: by}, Decide: func(t *engine.Tx) error {
		for _, have := range s.Tree().Access().Customers() {
			c.ID = max(c.ID, have.ID)
		}
		for _, had := range s.Tree().Access().Removals() {
			c.ID = max(c.ID, had.Customer)
		}
		c = belfry.Customer{ID: c.ID + 1, Name: name, Created: t.Now}
		t.Put(belfry.DocCustomer, 0, customerDoc(c.ID), c)
		t.BeginCustomer(c)
		t.Changed(audit.Change{Kind: belfry.DocCustomer, Name: name, Action: audit.ActionCreated, Info: "customer " + name + " created"})
		also(t)
		return nil
	}})
	return c, err
}

// CreateCustomer creates a customer.
func (b *Bench) CreateCustomer(name, by string) (belfry.Customer, error) {
	return CreateCustomer(b.Sequencer, name, by)
}

// RemoveCustomer removes a customer.
func (b *Bench) RemoveCustomer(who engine.Sender, name string) error {
	return b.Do(&engine.Command{Customer: who.Customer, Alone: true, Urgent: true, Decide: func(t *engine.Tx) error {
		c, _ := b.Tree.Access().CustomerNamed(name)
		t.Document(belfry.Doc{Kind: belfry.DocCustomer, Name: customerDoc(c.ID)})
		t.Put(belfry.DocRemoval, 0, fmt.Sprint(c.ID), belfry.Removal{Customer: c.ID, Removed: t.Now})
		return nil
	}})
}
