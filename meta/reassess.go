package meta

import (
	"maps"
	"slices"

	"belfry"
)

func (e *Tenant) applyReassessment(d *belfry.Doc) error {
	if d.Body == nil {
		delete(e.reassess, d.Name)
		return nil
	}
	var mark string
	if err := decodeDoc(d, &mark); err != nil {
		return err
	}
	if e.reassess == nil {
		e.reassess = map[string]string{}
	}
	e.reassess[d.Name] = mark
	return nil
}

// Reassessment gives the mark of what is to be reassessed; empty when it is not.
func (e *Tenant) Reassessment(name string) string { return e.reassess[name] }

// Reassessing tells whether anything is to be reassessed.
func (e *Tenant) Reassessing() bool { return len(e.reassess) > 0 }

// Reassessments lists what of a customer is to be reassessed.
func (t *Tree) Reassessments(c belfry.CustomerID) (names []string) {
	t.Read(c, func(e *Tenant) {
		if e != nil {
			names = slices.Sorted(maps.Keys(e.reassess))
		}
	})
	return names
}
