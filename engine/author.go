package engine

import (
	"slices"

	"belfry"
)

// LimitScripts stores the limits of a user with the scripts that the user wrote. It is called when they change and when the
// user is removed: then the scripts keep the last ones, even if the name is used again.
func (t *Tx) LimitScripts(u *belfry.User, removed bool) {
	for n := range t.Tenant.ByKind(belfry.KindResource) {
		d := t.Details(n)
		if d.Author == nil || d.Author.User != u.Name || d.Author.Created != u.Created {
			continue
		}
		a := &belfry.Author{User: u.Name, Created: u.Created, Views: slices.Clone(u.Views)}
		if removed {
			a.Created = 0
		}
		if removed && len(a.Views) == 0 {
			a = nil
		}
		d.Author = a
		t.change(n, &d)
	}
}
