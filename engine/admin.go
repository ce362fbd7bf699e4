package engine

import (
	"encoding/json"

	"belfry"
	"belfry/engine/audit"
	"belfry/engine/history"
	"belfry/meta"
)

// Event adds an event without a status: a configuration change, a login, an internal matter.
func (t *Tx) Event(source, kind, info, by string) { t.events.Note(t.Now, source, kind, info, by) }

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
	t.rec.Docs, t.events, t.audit = nil, history.Events{}, audit.Trail{}
	return t.seq.cfg.Tree.Apply(&belfry.Record{Docs: docs})
}

// Internal writes an event about the service itself, for every customer: for all of them, or on an error for none. Its time
// is at, or now if that is 0 or later.
func (s *Sequencer) Internal(info string, at belfry.Time) error {
	return s.Do(&Command{Alone: true, Urgent: true, Decide: func(t *Tx) error {
		if at == 0 || at > t.Now {
			at = t.Now
		}
		t.eachTenant(func(_ *meta.Tenant, o *other) { o.events.Note(at, "system", "internal", info, "") })
		return nil
	}})
}

// Reloaded writes an event and a row of the audit trail for every customer, with a text for each: the configuration was read again.
func (s *Sequencer) Reloaded(info func(belfry.CustomerID) string) error {
	by := &belfry.Actor{Via: belfry.ViaSignal}
	return s.Do(&Command{Alone: true, Urgent: true, By: by, Decide: func(t *Tx) error {
		t.eachTenant(func(e *meta.Tenant, o *other) {
			o.changed(t, "system", "internal", audit.Change{Kind: audit.KindConfiguration, Action: "reloaded", Info: info(e.ID)})
		})
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
