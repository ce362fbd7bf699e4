package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"belfry"
)

// imageKey names the bytes of a picture.
type imageKey struct {
	customer belfry.CustomerID
	hash     string
}

// noteImages keeps the bytes of pictures at hand that have not reached the database.
func (m *Mover) keepImages(docs []belfry.Doc) {
	for i := range docs {
		if d := &docs[i]; d.Kind == belfry.DocImage && d.Body != nil {
			if m.images == nil {
				m.images = map[imageKey][]byte{}
			}
			m.images[imageKey{d.Customer, d.Name}] = d.Body
		}
	}
}

// forgetImages releases bytes that can now be found in the database. Equal names mean equal bytes, so it does not
// matter which of two writings it was.
func (m *Mover) forgetImages(docs []belfry.Doc) {
	for i := range docs {
		if d := &docs[i]; d.Kind == belfry.DocImage && d.Body != nil {
			delete(m.images, imageKey{d.Customer, d.Name})
		}
	}
}

// Image returns the bytes of a picture by their hash, whether or not they have reached the database; nil if there are none.
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
	d := belfry.Doc{Kind: belfry.DocImage, Customer: c, Name: hash}
	var sum any
	err = db.read.QueryRowContext(ctx, `SELECT body, sum FROM doc WHERE kind = $1 AND customer = $2 AND name = $3`,
		d.Kind, int64(c), hash).Scan(&d.Body, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err == nil && !docColumns(&d).match(sum):
		err = mismatch("doc", d.Kind, c, hash)
	}
	return d.Body, db.readError("read picture", err)
}
