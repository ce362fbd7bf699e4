package intake

import (
	"strings"

	"belfry"
	"belfry/catalog"
)

// checkPicture refuses a picture that a limited user neither sees already nor has uploaded: drawing it would show it. Whether there is
// whether a picture of that name exists is not revealed, and a missing one may later be created by another user.
func (p *provisioning) checkPicture(answers, before map[string]string) *belfry.RowError {
	kind := p.b.pt.Kind
	if !p.Limited || kind != catalog.ViewPackage && kind != catalog.ElementPackage {
		return nil
	}
	for _, column := range []string{"bg", "picture"} {
		name := answers[column]
		if name == "" || name == before[column] {
			continue
		}
		have := p.Tenant.Picture(name)
		if have == nil && column == "bg" && strings.HasPrefix(name, "#") { // a colour
			continue
		}
		if p.pictures == nil {
			p.pictures = p.Tenant.PicturesDrawn(p.b.who.Scope)
		}
		if have != nil && have.Creator == p.b.who.Name || p.pictures[name] {
			continue
		}
		return belfry.Rejectf(column, belfry.NotFound, "there is no picture %q that you may use; name one that is drawn in a view of yours or that you have uploaded, or ask an administrator who is not limited to views", belfry.Clip(name))
	}
	return nil
}
