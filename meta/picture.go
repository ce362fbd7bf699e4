package meta

import (
	"belfry"
)

// Picture finds a picture by name; nil when there is none.
func (e *Tenant) Picture(name string) *belfry.Picture {
	return storedDoc[belfry.Picture](e.docs, belfry.DocPicture, name)
}

func (e *Tenant) pictures() []*belfry.Picture {
	return storedDocs[belfry.Picture](e.docs, belfry.DocPicture)
}

// PicturesSize returns how many pictures there are, and their size in bytes.
func (e *Tenant) PicturesSize() (count int, size int64) {
	pictures := e.pictures()
	for _, p := range pictures {
		size += p.Size
	}
	return len(pictures), size
}

// ImageUsed reports whether another picture has the same bytes.
func (e *Tenant) ImageUsed(hash, except string) bool {
	for _, p := range e.pictures() {
		if p.Hash == hash && p.Name != except {
			return true
		}
	}
	return false
}

// Pictures lists at most limit pictures of a customer whose names sort after the given one.
func (ds *Documents) Pictures(c belfry.CustomerID, after string, limit int) (list []*belfry.Picture, more bool) {
	ds.tree.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		list, more = pageAfter(e.pictures(), func(p *belfry.Picture) string { return p.Name }, after, limit)
	})
	return list, more
}

// Picture finds a picture that is visible within a scope. A limited scope sees only the pictures drawn in its views.
func (ds *Documents) Picture(s belfry.Scope, name string) (p *belfry.Picture) {
	ds.tree.Read(s.Customer, func(e *Tenant) {
		if e == nil || e.Picture(name) == nil {
			return
		}
		if within := e.Visibility(s); !s.Limited() || e.draws(&within, name) {
			p = e.Picture(name)
		}
	})
	return p
}

// draws reports whether a visible view shows the picture, as background or element.
func (e *Tenant) draws(w *Visibility, picture string) (found bool) {
	e.eachPictureUse(func(n *Node, name string) { found = found || name == picture && w.Has(n) })
	return found
}

// PicturesDrawn returns the names of all pictures shown by views within a scope.
func (e *Tenant) PicturesDrawn(s belfry.Scope) map[string]bool {
	within, names := e.Visibility(s), map[string]bool{}
	e.eachPictureUse(func(n *Node, name string) {
		if !names[name] && within.Has(n) {
			names[name] = true
		}
	})
	return names
}

// eachPictureUse calls f with every item that shows a picture, and the picture's name.
func (e *Tenant) eachPictureUse(f func(n *Node, name string)) {
	show := func(n *Node, column string) {
		if n.Details != nil && n.Details.Answers[column] != "" {
			f(n, n.Details.Answers[column])
		}
	}
	for _, n := range e.boxes[belfry.KindView] {
		show(n, "bg")
	}
	e.Elements("picture", func(n *Node) { show(n, "picture") })
}
