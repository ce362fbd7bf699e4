package ingest

import (
	"encoding/json"

	"belfry"
	"belfry/meta"
)

// DefaultCustomer and AdminUser are made at the first start.
const (
	DefaultCustomer = belfry.DefaultCustomer
	AdminUser       = "admin"
)

// Bootstrap makes the first customer and its administrator when there is none yet. password is the administrator's
// password, hashed.
func (s *Sequencer) Bootstrap(password string) error {
	return s.do(&command{alone: true, decide: func(t *tx) error {
		if len(s.cfg.Tree.Customers()) > 0 {
			return nil
		}
		c, err := t.createCustomer(DefaultCustomer, "system")
		if err != nil {
			return err
		}
		t.configure(belfry.DocUser, c.ID, AdminUser, belfry.User{
			Name: AdminUser, Password: password, Role: belfry.Administrator, Instance: true, Created: t.now,
		})
		t.configured("user admin created", "system")
		return nil
	}})
}

// configured tells that configuration was changed, and by whom.
func (t *tx) configured(info, by string) {
	t.events.note(t.now, "configuration", "configuration", info, by)
}

// Internal writes an event about the service itself, for every customer: for all of them, or on an error for none. Its time
// is at, or now if that is 0 or later.
func (s *Sequencer) Internal(info string, at belfry.Time) error {
	return s.internal(func(belfry.CustomerID) string { return info }, at)
}

// InternalEach is Internal with a text for each customer.
func (s *Sequencer) InternalEach(info func(belfry.CustomerID) string) error {
	return s.internal(info, 0)
}

func (s *Sequencer) internal(info func(belfry.CustomerID) string, at belfry.Time) error {
	return s.do(&command{alone: true, urgent: true, decide: func(t *tx) error {
		if at == 0 || at > t.now {
			at = t.now
		}
		t.eachEstate(func(e *meta.Estate, told *events) { told.note(at, "system", "internal", info(e.ID), "") })
		return nil
	}})
}

// configure sets a document from a value.
func (t *tx) configure(kind string, c belfry.CustomerID, name string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // the nouns of configuration hold nothing that JSON cannot express
	}
	t.document(belfry.Doc{Kind: kind, Customer: c, Name: name, Body: body})
}
