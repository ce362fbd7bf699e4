package meta

import "belfry"

// applyRemoval removes a customer with everything it has. After a crash the replay may bring older records about it although
// the database has the removal already; those are skipped, see Access.isRemoved.
func (t *Tree) applyRemoval(d *belfry.Doc) error {
	if d.Body == nil {
		return nil
	}
	var r belfry.Removal
	if err := decodeDoc(d, &r); err != nil {
		return err
	}
	t.access.removeCustomer(r)
	e := t.customers[r.Customer]
	if e == nil {
		return nil
	}
	delete(t.customers, e.ID)
	t.documents.removeCustomer(e)
	t.texts.Add(-e.texts)
	t.memory.Add(-e.memory)
	t.forgetAll(e)
	return nil
}

// forgetAll deletes all items of a customer from memory. Their ids stay used.
func (t *Tree) forgetAll(e *Tenant) {
	var ids []uint64
	for id, n := range t.nodes.From(0) {
		if n.Customer == e.ID {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		t.nodes.Set(id, nil)
	}
}
