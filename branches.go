package belfry

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// Branch is what an instance has done from one start, or restore, to the next.
type Branch struct {
	ID    string
	Since Position // the last one before it
}

// Branches are those of an instance, oldest first. Every part of the instance has the id of the branch in which it was written last.
// A part that a copy of the instance has written, which went its own way, has an id that is not among them, or positions that its
// branch never had here. Both mean other rows and items than those of this instance, under the same ids.
type Branches struct{ list atomic.Pointer[[]Branch] }

// NewBranches returns branches, the last of which is the current one.
func NewBranches(list []Branch) *Branches {
	b := &Branches{}
	b.Set(list)
	return b
}

// Set replaces the branches.
func (b *Branches) Set(list []Branch) { b.list.Store(&list) }

// List returns the branches. It must not be changed.
func (b *Branches) List() []Branch {
	if b == nil {
		return nil
	}
	return *b.list.Load()
}

// Current returns the id of the last branch; empty if there is none.
func (b *Branches) Current() string {
	if list := b.List(); len(list) > 0 {
		return list[len(list)-1].ID
	}
	return ""
}

// Check returns an error unless a part that was written last in the branch id, and has the records up to pos, can be of this instance.
//
// The list may lack its beginning: it was lost, or became too long. So an unknown branch may be one from before the first that is
// known, if the part has nothing that is later.
func (b *Branches) Check(id string, pos Position) error {
	list := b.List()
	if len(list) == 0 {
		return nil
	}
	i := slices.IndexFunc(list, func(b Branch) bool { return b.ID == id })
	switch {
	case i < 0 && list[0].Since > 0 && pos <= list[0].Since:
		return nil
	case i < 0 && id == "":
		return errors.New("it does not say in which start of the service it was written")
	case i < 0:
		return fmt.Errorf("it was written last in a start of the service that the list of starts does not have (%.40s), by a copy that went its own way", id)
	case i+1 < len(list) && pos > list[i+1].Since:
		return fmt.Errorf("it has records up to %s, and was written last in a start of the service that ended here at %s: a copy that went its own way wrote the rest", pos, list[i+1].Since)
	}
	return nil
}
