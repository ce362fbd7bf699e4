package meta

import "belfry"

// Reassessment returns the mark of a reassessment that is not finished; empty when there is none of that name.
func (e *Tenant) Reassessment(name string) string {
	if mark := storedDoc[string](e.docs, belfry.DocReassess, name); mark != nil {
		return *mark
	}
	return ""
}

// Reassessing reports whether any reassessment is not finished.
func (e *Tenant) Reassessing() bool { return len(e.docs[belfry.DocReassess]) > 0 }
