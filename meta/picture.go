package meta

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"belfry"
	"belfry/catalog"
)

// pictures are those of a customer, by name, without their bytes: these are in the database alone, and with the mover
// until they get there.
type pictures map[string]*belfry.Picture

// applyPicture sets or removes a picture.
func (e *Tenant) applyPicture(d *belfry.Doc) error {
	if d.Body == nil {
		delete(e.pictures, d.Name)
		return nil
	}
	p := new(belfry.Picture)
	if err := decodeDoc(d, p); err != nil {
		return err
	}
	if e.pictures == nil {
		e.pictures = pictures{}
	}
	e.pictures[d.Name] = p
	return nil
}

// Picture finds a picture by name; nil when there is none.
func (e *Tenant) Picture(name string) *belfry.Picture { return e.pictures[name] }

// PicturesSize tells how many pictures there are, and how many bytes they have.
func (e *Tenant) PicturesSize() (count int, size int64) {
	for _, p := range e.pictures {
		size += p.Size
	}
	return len(e.pictures), size
}

// ImageUsed tells whether a picture of another name has the same bytes.
func (e *Tenant) ImageUsed(hash, except string) bool {
	for name, p := range e.pictures {
		if p.Hash == hash && name != except {
			return true
		}
	}
	return false
}

// Pictures lists the pictures of a customer by name, from the one after the given name on.
func (t *Tree) Pictures(c belfry.CustomerID, after string, limit int) (list []*belfry.Picture, more bool) {
	t.Read(c, func(e *Tenant) {
		if e == nil {
			return
		}
		names := slices.Sorted(maps.Keys(e.pictures))
		first, _ := slices.BinarySearch(names, after+"\x00") // no name holds that
		for _, name := range names[first:] {
			if more = len(list) == limit; more {
				return
			}
			list = append(list, e.pictures[name])
		}
	})
	return list, more
}

// PictureNamed finds a picture of a customer; nil when there is none.
func (t *Tree) PictureNamed(c belfry.CustomerID, name string) (p *belfry.Picture) {
	t.Read(c, func(e *Tenant) {
		if e != nil {
			p = e.pictures[name]
		}
	})
	return p
}

// PictureShown finds a picture that can be seen within a scope: somebody who is limited to some views sees those that are drawn
// there, and no other.
func (t *Tree) PictureShown(s belfry.Scope, name string) (p *belfry.Picture) {
	t.Read(s.Customer, func(e *Tenant) {
		if e == nil || e.pictures[name] == nil {
			return
		}
		if within := e.Within(s); !s.Limited() || e.drawsWithin(&within, name) {
			p = e.pictures[name]
		}
	})
	return p
}

// drawsWithin tells whether a view inside has the picture behind it or in it.
func (e *Tenant) drawsWithin(w *Within, picture string) (found bool) {
	e.showing(func(n *Node, name string) { found = found || name == picture && w.Has(n) })
	return found
}

// PicturesDrawn are the names of all pictures that views within a scope have behind them or in them.
func (e *Tenant) PicturesDrawn(s belfry.Scope) map[string]bool {
	within, names := e.Within(s), map[string]bool{}
	e.showing(func(n *Node, name string) {
		if !names[name] && within.Has(n) {
			names[name] = true
		}
	})
	return names
}

// showing calls f with everything that shows a picture, and its name.
func (e *Tenant) showing(f func(n *Node, name string)) {
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

// UnknownPicture is the answer to who asks for a picture that there is not, or not within the scope.
func (t *Tree) UnknownPicture(s belfry.Scope, name string) error {
	var names []string
	t.Read(s.Customer, func(e *Tenant) {
		if e != nil && !s.Limited() {
			names = slices.Sorted(maps.Keys(e.pictures))
		}
	})
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100]) + "…"
	}
	if near := catalog.Nearest(name, names); near != "" {
		return belfry.Errorf(belfry.UnknownItem, "there is no picture %q; nearest is %q", name, near)
	}
	return belfry.Errorf(belfry.UnknownItem, "there is no picture %q; see /api/pictures for those there are", name)
}

// imageKey names the bytes of a picture.
type imageKey struct {
	customer belfry.CustomerID
	hash     string
}

// noteImages keeps the bytes of pictures at hand that have not reached the database.
func (m *Mover) noteImages(docs []belfry.Doc) {
	for i := range docs {
		if d := &docs[i]; d.Kind == belfry.DocImage && d.Body != nil {
			if m.images == nil {
				m.images = map[imageKey][]byte{}
			}
			m.images[imageKey{d.Customer, d.Name}] = d.Body
		}
	}
}

// forgetImages lets go of bytes that can now be found in the database. Equal names mean equal bytes, so it does not
// matter which of two writings it was.
func (m *Mover) forgetImages(docs []belfry.Doc) {
	for i := range docs {
		if d := &docs[i]; d.Kind == belfry.DocImage && d.Body != nil {
			delete(m.images, imageKey{d.Customer, d.Name})
		}
	}
}

// Image gives the bytes of a picture by their hash, whether they have reached the database or not; nil when there are none.
func (m *Mover) Image(ctx context.Context, c belfry.CustomerID, hash string) ([]byte, error) {
	m.mu.Lock()
	image := m.images[imageKey{c, hash}]
	m.mu.Unlock()
	if image != nil {
		return image, nil
	}
	return m.db.image(ctx, c, hash)
}

func (db *DB) image(ctx context.Context, c belfry.CustomerID, hash string) (image []byte, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	err = db.read.QueryRowContext(ctx, `SELECT body FROM doc WHERE kind = $1 AND customer = $2 AND name = $3`,
		belfry.DocImage, int64(c), hash).Scan(&image)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read picture: %w", err)
	}
	return image, nil
}
