package ingest

import (
	"context"
	"fmt"

	"belfry"
)

// What package accounts does for the service, as far as tests of this package need it.

// Bootstrap makes the first customer with its administrator, if there is no customer yet.
func (s *Sequencer) Bootstrap(password string) error {
	if len(s.cfg.Tree.Customers()) > 0 {
		return nil
	}
	_, err := s.createCustomer(belfry.DefaultCustomer, "system", func(t *Tx) {
		t.Put(belfry.DocUser, t.Tenant.ID, "admin", belfry.User{Name: "admin", Password: password, Role: belfry.Administrator, Instance: true, Created: t.Now})
	})
	return err
}

func customerDoc(c belfry.CustomerID) string { return fmt.Sprintf("\x01%d", c) }

// CreateCustomer makes a customer.
func (s *Sequencer) CreateCustomer(name, by string) (c belfry.Customer, err error) {
	return s.createCustomer(name, by, func(*Tx) {})
}

func (s *Sequencer) createCustomer(name, by string, also func(*Tx)) (c belfry.Customer, err error) {
	err = s.Do(&Command{Alone: true, Decide: func(t *Tx) error {
		for _, have := range s.cfg.Tree.Customers() {
			c.ID = max(c.ID, have.ID)
		}
		for _, had := range s.cfg.Tree.Removals() {
			c.ID = max(c.ID, had.Customer)
		}
		c = belfry.Customer{ID: c.ID + 1, Name: name, Created: t.Now}
		t.Put(belfry.DocCustomer, 0, customerDoc(c.ID), c)
		t.BeginCustomer(c)
		t.Configured("customer "+name+" created", by)
		also(t)
		return nil
	}})
	return c, err
}

// removeCustomer removes a customer.
func (s *Sequencer) removeCustomer(_ context.Context, who Sender, name string) error {
	return s.Do(&Command{Customer: who.Customer, Alone: true, Urgent: true, Decide: func(t *Tx) error {
		c, _ := s.cfg.Tree.CustomerNamed(name)
		t.Document(belfry.Doc{Kind: belfry.DocCustomer, Name: customerDoc(c.ID)})
		t.Put(belfry.DocRemoval, 0, fmt.Sprint(c.ID), belfry.Removal{Customer: c.ID, Removed: t.Now})
		return nil
	}})
}
