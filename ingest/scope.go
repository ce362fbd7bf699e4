package ingest

import (
	"errors"
	"slices"
	"strings"

	"belfry/intake/rowfmt"

	"belfry"
	"belfry/meta"
)

// A command of somebody who is limited to sub-trees meets an estate that has nothing else in it: every look-up of the tx
// gives what is inside, and nothing is made, moved or removed that is not. The roots of the sub-trees were put where they
// are by others, and stay there.

// limit keeps the tx to sub-trees. Their names mean what the round has made of them so far.
func (t *tx) limit(views []string) {
	if t.limited = len(views) > 0; !t.limited {
		return
	}
	for _, name := range views {
		if n := t.anyPlace(name); n != nil && n != t.estate.Main {
			t.roots = append(t.roots, n)
		}
	}
}

// sees tells whether an item is inside.
func (t *tx) sees(n *meta.Node) bool {
	if !t.limited {
		return true
	}
	at := n
	if n.Resource != nil { // which it never leaves
		at = n.Resource
	}
	for ; at != nil; at = t.parent(at) {
		if t.s.gone[at.ID] {
			return false
		}
		if slices.Contains(t.roots, at) {
			return true
		}
	}
	return false
}

// only gives an item if it is inside.
func (t *tx) only(n *meta.Node) *meta.Node {
	if n == nil || !t.sees(n) {
		return nil
	}
	return n
}

// viewsNamed lists the views of that name inside resources.
func (t *tx) viewsNamed(name string) (list []*meta.Node) {
	t.estate.ViewsNamed(name, func(n *meta.Node) {
		if !t.s.gone[n.ID] && t.sees(n) {
			list = append(list, n)
		}
	})
	return list
}

// root tells whether an item is inside and what it stands in is not.
func (t *tx) root(n *meta.Node) bool {
	p := t.parent(n)
	return t.limited && p != nil && !t.sees(p)
}

// standsIn names what an item stands in; all that is outside is MAIN.
func (t *tx) standsIn(n *meta.Node) string {
	if t.root(n) {
		return belfry.Main
	}
	return t.parent(n).Name
}

// keepInside is the last of the guards: whatever let a command get here, it changes nothing outside.
func (t *tx) keepInside(n *meta.Node) {
	if n != nil && !t.sees(n) {
		panic("ingest: a command would change what is outside its scope")
	}
}

// atMain refuses what a limited user wants done directly in MAIN.
func (t *tx) atMain(column string) *belfry.RowError {
	if !t.limited {
		return nil
	}
	return rejectf(column, belfry.NotAllowed, "you are limited to some views, and %s is outside them; name a view of yours", belfry.Main)
}

// rooted refuses to move or remove a root.
func (t *tx) rooted(column string, n *meta.Node) *belfry.RowError {
	if !t.root(n) {
		return nil
	}
	return rejectf(column, belfry.NotAllowed, "%q is where what you may see begins, and stays where it stands; ask an administrator who is not limited to it", n.Name)
}

// taken refuses a name at customer level that somebody has whom a limited user does not see. It says nothing more.
func (t *tx) taken(name string) *belfry.RowError {
	if n := t.anyPlace(name); n != nil && !t.sees(n) {
		return errTaken(name)
	}
	return nil
}

func errTaken(name string) *belfry.RowError {
	return rejectf("name", belfry.NameInUse, "the name %q is taken; choose another", rowfmt.Clip([]byte(name)))
}

// leave takes rows out of a chunk whose objects were inside when they were found, and are not any more.
func (t *tx) leave(c *chunk, late *rejections) {
	if !t.limited {
		return
	}
	look := func(nodes []*meta.Node, origins []origin) {
		for i, n := range nodes {
			if n != nil && !t.sees(n) {
				nodes[i] = nil
				late.add(int(origins[i].row), int(origins[i].line), rejectf("object", belfry.UnknownObject, "object %q does not exist", n.Name))
			}
		}
	}
	look(c.data.nodes, c.data.origins)
	look(c.logs.nodes, c.logs.origins)
}

// maxViews is how many sub-trees a user may have.
const maxViews = 100

// CheckViews tells whether a user may be limited to its views: each is a view of the customer or a resource that exists.
func CheckViews(tree *meta.Tree, c belfry.CustomerID, u *belfry.User) error {
	switch {
	case len(u.Views) > maxViews:
		return belfry.Errorf(belfry.BadParameter, "a user may be limited to %d views, got %d; put some of them into one view", maxViews, len(u.Views))
	case len(u.Views) > 0 && u.Instance:
		return belfry.Errorf(belfry.BadParameter, "user %q administers the instance and cannot be limited to views", u.Name)
	}
	for i, name := range u.Views {
		switch {
		case name == belfry.Main:
			return belfry.Errorf(belfry.BadParameter, "%s holds everything; give no views to limit nothing", belfry.Main)
		case slices.Contains(u.Views[:i], name):
			return belfry.Errorf(belfry.BadParameter, "view %q is given twice", rowfmt.Clip([]byte(name)))
		}
		if bad := checkName("views", name); bad != nil {
			return belfry.Errorf(belfry.BadParameter, "%s", bad.Message)
		}
		n, err := tree.Place(belfry.Whole(c), "", name)
		if e, ok := errors.AsType[*belfry.Error](err); ok {
			if strings.Contains(e.Message, belfry.Main) { // which is no advice: it cannot be given
				return belfry.Errorf(belfry.BadParameter, "views: there is no view or resource %q; create it first", rowfmt.Clip([]byte(name)))
			}
			return belfry.Errorf(belfry.BadParameter, "views: %s", e.Message)
		}
		if n.Place() != n {
			return belfry.Errorf(belfry.BadParameter, "view %q is a part of the resource %q; name the resource, or a view of the customer", name, n.Resource.Name)
		}
	}
	return nil
}

// SetViews limits a user to views; none: to nothing less than the customer. Sessions that see more, or less, end.
func (s *Sequencer) SetViews(c belfry.CustomerID, name string, views []string, by string) error {
	return s.ChangeUser(c, name, UserChange{Views: &views}, true, by)
}

// limitText says in an event to what a user is limited.
func limitText(views []string) string {
	if len(views) == 0 {
		return "may see all views"
	}
	return "limited to " + strings.Join(views, ", ")
}
