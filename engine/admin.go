package engine

import (
	"encoding/json"

	"belfry"
	"belfry/meta"
)

// Configured adds an event about a change of configuration.
func (t *Tx) Configured(info, by string) {
	t.Event("configuration", "configuration", info, by)
}

// Event adds an event without a status: a configuration change, a login, an internal matter.
func (t *Tx) Event(source, kind, info, by string) { t.events.note(t.Now, source, kind, info, by) }

// EventOf is Event in another customer; 0 is none.
func (t *Tx) EventOf(c belfry.CustomerID, source, kind, info, by string) {
	if e := t.seq.cfg.Tree.Tenant(c); e != nil {
		t.eventInTenant(e, func(list *events) { list.note(t.Now, source, kind, info, by) })
	}
}

// BeginCustomer creates the root view of a new customer and makes the record one of that customer.
func (t *Tx) BeginCustomer(c belfry.Customer) {
	t.Tenant, t.rec.Customer = meta.NewTenant(c), c.ID
	t.create(belfry.KindView, belfry.Main, nil, nil, t.Find().ViewClass(GenericView), "", nil)
}

// ApplyUnstored makes the documents of one kind visible at once and drops everything else of the transaction, so that it
// needs no journal.
func (t *Tx) ApplyUnstored(kind string) error {
	var docs []belfry.Doc
	for _, d := range t.rec.Docs {
		if d.Kind == kind {
			docs = append(docs, d)
		}
	}
	t.rec.Docs, t.events = nil, events{}
	return t.seq.cfg.Tree.Apply(&belfry.Record{Docs: docs})
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
	return s.Do(&Command{Alone: true, Urgent: true, Decide: func(t *Tx) error {
		if at == 0 || at > t.Now {
			at = t.Now
		}
		t.eachTenant(func(e *meta.Tenant, list *events) { list.note(at, "system", "internal", info(e.ID), "") })
		return nil
	}})
}

// Put sets a document from a value.
func (t *Tx) Put(kind string, c belfry.CustomerID, name string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // configuration holds nothing that JSON cannot express
	}
	t.Document(belfry.Doc{Kind: kind, Customer: c, Name: name, Body: body})
}
