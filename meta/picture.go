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
func (e *Estate) applyPicture(d *belfry.Doc) error {
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
func (e *Estate) Picture(name string) *belfry.Picture { return e.pictures[name] }

// PicturesSize tells how many pictures there are, and how many bytes they have.
func (e *Estate) PicturesSize() (count int, size int64) {
	for _, p := range e.pictures {
		size += p.Size
	}
	return len(e.pictures), size
}

// ImageUsed tells whether a picture of another name has the same bytes.
func (e *Estate) ImageUsed(hash, except string) bool {
	for name, p := range e.pictures {
		if p.Hash == hash && name != except {
			return true
		}
	}
	return false
}

// Pictures lists the pictures of a customer by name, from the one after the given name on.
func (t *Tree) Pictures(c belfry.CustomerID, after string, limit int) (list []*belfry.Picture, more bool) {
	t.Read(c, func(e *Estate) {
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
	t.Read(c, func(e *Estate) {
		if e != nil {
			p = e.pictures[name]
		}
	})
	return p
}

// UnknownPicture is the answer to who asks for a picture that a customer does not have.
func (t *Tree) UnknownPicture(c belfry.CustomerID, name string) error {
	var names []string
	t.Read(c, func(e *Estate) {
		if e != nil {
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
