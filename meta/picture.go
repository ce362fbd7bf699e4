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

// PicturesSize tells how many pictures there are, and how many bytes they have.
func (e *Tenant) PicturesSize() (count int, size int64) {
	pictures := e.pictures()
	for _, p := range pictures {
		size += p.Size
	}
	return len(pictures), size
}

// ImageUsed tells whether a picture of another name has the same bytes.
func (e *Tenant) ImageUsed(hash, except string) bool {
	for _, p := range e.pictures() {
		if p.Hash == hash && p.Name != except {
			return true
		}
	}
	return false
}

// Pictures lists the pictures of a customer by name, from the one after the given name on.
func (ds *Documents) Pictures(c belfry.CustomerID, after string, limit int) (list []*belfry.Picture, more bool) {
	ds.tree.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		list, more = pageAfter(e.pictures(), func(p *belfry.Picture) string { return p.Name }, after, limit)
	})
	return list, more
}

// Picture finds a picture that is visible within a scope: a limited scope has only the pictures drawn in its views.
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

// drawsWithin tells whether a view inside has the picture behind it or in it.
func (e *Tenant) draws(w *Visibility, picture string) (found bool) {
	e.eachPictureUse(func(n *Node, name string) { found = found || name == picture && w.Has(n) })
	return found
}

// PicturesDrawn are the names of all pictures that views within a scope have behind them or in them.
func (e *Tenant) PicturesDrawn(s belfry.Scope) map[string]bool {
	within, names := e.Visibility(s), map[string]bool{}
	e.eachPictureUse(func(n *Node, name string) {
		if !names[name] && within.Has(n) {
			names[name] = true
		}
	})
	return names
}

// showing calls f with everything that shows a picture, and its name.
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
