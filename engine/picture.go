package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"belfry"
	"belfry/engine/audit"
	"belfry/engine/picture"
)

// Limits of pictures. They are stored in the journal and in the metadata database.
const (
	MaxPicture     = 2 << 20  // bytes of one
	maxPictures    = 1000     // of a customer
	maxAllPictures = 64 << 20 // bytes of all of them together
)

// ReadPicture checks an image and its name.
func ReadPicture(who Sender, name string, image []byte) (*belfry.Picture, error) {
	if bad := CheckName("name", name); bad != nil {
		return nil, belfry.Errorf(belfry.BadParameter, "picture: %s", bad.Message)
	}
	h, err := picture.ReadHeader(image)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(image) // in the goroutine of the request
	return &belfry.Picture{
		Name: name, Type: h.Type, Hash: hex.EncodeToString(sum[:]), Size: int64(len(image)),
		Width: h.Width, Height: h.Height, Creator: who.Name,
	}, nil
}

// PutPicture stores a picture that ReadPicture made of image; result is created, updated or unchanged.
func (d Definitions) PutPicture(who Sender, next *belfry.Picture, image []byte) (result string, p *belfry.Picture, err error) {
	err = d.seq.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) (err error) {
		result, err = t.putPicture(who, next, image)
		return err
	}})
	if result == resultUnchanged {
		next = d.seq.cfg.Tree.Documents().Picture(belfry.Whole(who.Customer), next.Name)
	}
	return result, next, err
}

func (t *Tx) putPicture(who Sender, next *belfry.Picture, image []byte) (result string, err error) {
	was := t.Tenant.Picture(next.Name)
	if was != nil && was.Hash == next.Hash {
		return resultUnchanged, nil
	}
	count, size := t.Tenant.PicturesSize()
	result = resultCreated
	if was != nil {
		count, size, result = count-1, size-was.Size, resultUpdated
	}
	switch {
	case count >= maxPictures:
		return "", belfry.Errorf(belfry.BadParameter, "there are %d pictures already, as many as are allowed; remove some", maxPictures)
	case size+next.Size > maxAllPictures:
		return "", belfry.Errorf(belfry.BadParameter, "with this one the pictures would have %d bytes together, and %d are allowed; remove some, or send smaller ones", size+next.Size, maxAllPictures)
	}
	next.Changed = t.Now
	if err := t.Budget().ReserveDocument(belfry.DocPicture, next.Name, next); err != nil {
		return "", err
	}
	t.Put(belfry.DocPicture, t.Tenant.ID, next.Name, next)
	t.Document(belfry.Doc{Kind: belfry.DocImage, Customer: t.Tenant.ID, Name: next.Hash, Body: image})
	t.dropImage(was)
	text := "picture " + next.Name + " " + result + ": "
	if was != nil {
		text += pictureText(was) + " -> "
	}
	t.Changed(audit.Change{Kind: belfry.DocPicture, Name: next.Name, Action: actionOf(result), Fields: audit.Differences(orNil(was), next), Info: text + pictureText(next)})
	return result, nil
}

// pictureText describes a picture for an event.
func pictureText(p *belfry.Picture) string {
	return fmt.Sprintf("%s of %d x %d, %d bytes", p.Type, p.Width, p.Height, p.Size)
}

// dropImage removes the image of a picture unless another picture has the same one; nil: none.
func (t *Tx) dropImage(p *belfry.Picture) {
	if p != nil && !t.Tenant.ImageUsed(p.Hash, p.Name) {
		t.Document(belfry.Doc{Kind: belfry.DocImage, Customer: t.Tenant.ID, Name: p.Hash})
	}
}

var errNoPicture = errors.New("no such picture")

// DeletePicture removes a picture. Views and elements that name it show none.
func (d Definitions) DeletePicture(who Sender, name string, r Repeat) error {
	err := d.seq.Do(&Command{Customer: who.Customer, By: who.Actor(), Alone: true, Decide: func(t *Tx) error {
		p := t.Tenant.Picture(name)
		if p == nil {
			return errNoPicture
		}
		t.Document(belfry.Doc{Kind: belfry.DocPicture, Customer: t.Tenant.ID, Name: name})
		t.dropImage(p)
		t.Changed(audit.Change{Kind: belfry.DocPicture, Name: name, Action: audit.ActionRemoved, Fields: audit.Differences(p, nil), Info: "picture " + name + " removed, was " + pictureText(p)})
		t.Reply(who, r, r.Done)
		return nil
	}})
	if errors.Is(err, errNoPicture) {
		return d.seq.cfg.Tree.Documents().Unknown(who.Scope, belfry.DocPicture, name) // compares many names, so not in the sequencer
	}
	return err
}
