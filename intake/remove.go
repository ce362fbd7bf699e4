package intake

import (
	"fmt"
	"io"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/meta"
)

// removalBody turns the rows of a removal body into chunks. Every row is for the sequencer to decide.
type removalBody struct {
	rowReader
	who engine.Sender
	o   Options

	name, view, resname int
}

func (in *Intake) newRemovalBody(who engine.Sender, r io.Reader, o Options) (*removalBody, error) {
	lim := in.engine.Limits()
	b := &removalBody{rowReader: newCSVReader(r, lim), who: who, o: o, name: -1, view: -1, resname: -1}
	header, err := b.header("name,view")
	if err != nil {
		return nil, err
	}
	names, err := columnNames(header, lim.Columns)
	if err != nil {
		return nil, err
	}
	places, known := map[string]*int{"name": &b.name, "view": &b.view}, []string{"name", "view"}
	if o.pt.Kind == catalog.ObjectPackage || o.pt.Kind == catalog.ViewPackage {
		places["resname"], known = &b.resname, append(known, "resname")
	}
	for i, name := range names {
		at := places[name]
		if at == nil {
			return nil, unknownColumn(name, known, "")
		}
		*at = i
	}
	if b.name < 0 && b.view < 0 {
		return nil, belfry.Errorf(belfry.BadHeader, "the header has neither name nor view; a row says with them what to remove")
	}
	return b, nil
}

func (b *removalBody) read(p readLimits) (*chunk, error) {
	c := &chunk{}
	return c, b.fill(c, p, b)
}

func (b *removalBody) addRow(c *chunk, fields [][]byte, line int) *belfry.RowError {
	c.undecided.add(b.row, line, viewRow, -1, fields)
	return nil
}

// decide decides the rows of a chunk. When that removes much, rows are left for another turn.
func (b *removalBody) decide(t decision, c *chunk) {
	t.By = b.who.Actor()
	turn := newRemovals(t, b.o)
	t.decideEach(c, func(fields [][]byte) (*belfry.RowError, bool) {
		r := removal{
			removals: turn, pt: b.o.pt, recursive: b.o.Recursive,
			name: string(cell(fields, b.name)), view: string(cell(fields, b.view)), resname: string(cell(fields, b.resname)),
		}
		n, finished, bad := r.row()
		c.report.Removed += n
		return bad, finished
	})
	c.more = c.undecided.left() > 0
}

// removal decides one row. It finds all that is meant before it removes anything.
type removal struct {
	*removals
	pt                  *catalog.PackageType
	recursive           bool
	name, view, resname string
	resource            *meta.Node // the one that resname names
	partly              bool       // there are more than this turn can remove
}

// row returns how many of the items that the row means are gone now. It may have to be called again in another turn.
func (r *removal) row() (removed int, finished bool, bad *belfry.RowError) {
	list, bad := r.meant()
	if bad != nil {
		return 0, true, bad
	}
	if finished, bad = r.removeAll(list); bad != nil {
		return 0, true, bad
	}
	for _, n := range list {
		if r.RemovedInRound(n) {
			removed++
		}
	}
	return removed, finished && !r.partly, nil
}

// meant lists the items that the row means.
func (r *removal) meant() (list []*meta.Node, bad *belfry.RowError) {
	if r.resname != "" {
		if r.resource = r.Find().Resource(r.resname); r.resource == nil {
			return nil, unknownResource(r.resname)
		}
	}
	every := r.name == "*" || r.name == ""
	switch {
	case every && r.view == "" && r.name == "":
		return nil, belfry.Rejectf("name", belfry.MissingValue, "name and view are both empty; give a name, a view, or both")
	case every && r.view == "":
		return nil, belfry.Rejectf("view", belfry.MissingValue, "* without a view would remove everything; name the view whose content is meant")
	case every:
		list, bad = r.all()
	default:
		list, bad = r.one()
	}
	if bad != nil {
		return nil, bad
	}
	for _, n := range list {
		if bad := r.checkEmpty(n); bad != nil {
			return nil, bad
		}
	}
	return list, nil
}

// one finds the item of a name, which must be in the view if the row names one.
func (r *removal) one() ([]*meta.Node, *belfry.RowError) {
	if r.name == belfry.Main && r.pt.Kind == catalog.ViewPackage {
		return nil, belfry.Rejectf("name", belfry.NotAllowed, "%s is the root of everything and cannot be removed; remove its content", belfry.Main)
	}
	all := r.named()
	if r.view != "" {
		all = keep(all, func(n *meta.Node) bool { return r.Find().ParentName(n) == r.view })
	}
	switch len(all) {
	case 0:
		return nil, r.notFound()
	case 1:
		return all, r.Check().NotRoot("name", all[0])
	}
	for i, n := range all {
		if n.Resource == nil { // a view of the customer beside those of resources
			all = append(all[:i:i], all[i+1:]...)
			return nil, belfry.Rejectf("name", belfry.AmbiguousName, "view %q exists at customer level and in %d resources; give resname, or its parent view", belfry.Clip(r.name), len(all))
		}
	}
	return nil, ambiguous("name", all)
}

// named lists the items of the package that have the name.
func (r *removal) named() (all []*meta.Node) {
	add := func(n *meta.Node) {
		if n != nil && !r.RemovedInRound(n) && r.Sees(n) && (r.resource == nil || n.Resource == r.resource && n != r.resource) {
			all = append(all, n)
		}
	}
	switch r.pt.Kind {
	case catalog.ObjectPackage:
		for _, n := range r.Find().ObjectsNamed(r.name) {
			add(n)
		}
	case catalog.ViewPackage:
		if n := r.Find().Place(r.name); n != nil && n.Kind == belfry.KindView {
			add(n)
		}
		for n := range r.Tenant.ViewsNamed(r.name) {
			add(n)
		}
	case catalog.ElementPackage:
		add(r.Find().Element(r.pt.Name, r.name))
	case catalog.ResourcePackage:
		if n := r.Find().Resource(r.name); n != nil && n.Package == r.pt.Name {
			add(n)
		}
	}
	return all
}

func keep(all []*meta.Node, f func(*meta.Node) bool) (some []*meta.Node) {
	for _, n := range all {
		if f(n) {
			some = append(some, n)
		}
	}
	return some
}

// notFound says what there is instead.
func (r *removal) notFound() *belfry.RowError {
	where := ""
	if r.view != "" {
		where = fmt.Sprintf(" in view %q", belfry.Clip(r.view))
	}
	if r.resname != "" {
		where += fmt.Sprintf(" of %q", r.resname)
	}
	hint := ""
	if all := r.named(); len(all) > 0 {
		hint = fmt.Sprintf("; it is in %q", r.Find().ParentName(all[0]))
	} else if n := r.Find().Place(r.name); n != nil && n.Package != "" {
		hint = fmt.Sprintf("; %q is of package %s", n.Name, n.Package)
	}
	return belfry.Rejectf("name", belfry.NotFound, "there is no %s %q%s%s", r.pt.Name, belfry.Clip(r.name), where, hint)
}

// all finds the items of the package in the view; with recursive also those in the views inside it.
func (r *removal) all() ([]*meta.Node, *belfry.RowError) {
	view, bad := r.inView()
	if bad != nil {
		return nil, bad
	}
	var list []*meta.Node
	var walk func(*meta.Node)
	walk = func(v *meta.Node) {
		v.Elements(func(n *meta.Node) { list = r.appendOwn(list, n) })
		v.Children(func(n *meta.Node) bool {
			if r.enough(len(list)) {
				return false
			}
			if r.RemovedInRound(n) {
				return true
			}
			list = r.appendOwn(list, n)
			if r.recursive && r.descends(n) {
				walk(n)
			}
			return true
		})
	}
	walk(view)
	if r.partly && r.oneTurn() {
		return nil, tooManyAtOnce()
	}
	return list, nil
}

// enough reports whether the rest of a list can wait for another turn, or there is none. Views are all looked at, because none is removed when one of them is not empty.
func (r *removal) enough(listed int) bool {
	r.looked++
	r.partly = r.partly || r.oneTurn() && r.looked > removeLooked || !r.oneTurn() && listed > r.left && r.pt.Kind != catalog.ViewPackage
	return r.partly
}

// appendOwn adds an item of the package to the list.
func (r *removal) appendOwn(list []*meta.Node, n *meta.Node) []*meta.Node {
	mine := false
	switch r.pt.Kind {
	case catalog.ObjectPackage:
		mine = n.Kind == belfry.KindObject
	case catalog.ViewPackage:
		mine = n.Kind == belfry.KindView
	case catalog.ElementPackage:
		mine = n.Kind == belfry.KindElement && n.Package == r.pt.Name
	case catalog.ResourcePackage:
		mine = n.Kind == belfry.KindResource && n.Package == r.pt.Name
	}
	if mine && !r.RemovedInRound(n) {
		return append(list, n)
	}
	return list
}

// descends reports whether "every" reaches into n: the views of a view, and for objects the resources too.
func (r *removal) descends(n *meta.Node) bool {
	return n.Kind == belfry.KindView || n.Kind == belfry.KindResource && (r.pt.Kind == catalog.ObjectPackage || r.pt.Kind == catalog.ElementPackage)
}

// inView finds the view whose content is meant.
func (r *removal) inView() (*meta.Node, *belfry.RowError) {
	if r.resource != nil {
		if v := r.Find().View(r.resource, r.view); v != nil {
			return v, nil
		}
		return nil, unknownInside("view", r.view, r.resource)
	}
	if v := r.Find().Place(r.view); v != nil {
		return v, nil
	}
	if bad := r.Check().MayUseMain("view"); bad != nil && r.view == belfry.Main {
		return nil, bad
	}
	all := r.Find().ViewsNamed(r.view)
	switch {
	case len(all) == 0:
		return nil, belfry.Rejectf("view", belfry.UnknownView, "there is no view %q; name an existing view or resource", belfry.Clip(r.view))
	case len(all) > 1:
		return nil, ambiguous("view", all)
	}
	return all[0], nil
}

// checkEmpty refuses to remove a view with something in it unless that was asked for. A resource goes with its content.
func (r *removal) checkEmpty(n *meta.Node) *belfry.RowError {
	if n.Kind != belfry.KindView || r.recursive {
		return nil
	}
	var counts [belfry.Kinds]int
	n.Children(func(c *meta.Node) bool {
		if !r.RemovedInRound(c) {
			counts[c.Kind]++
		}
		return true
	})
	var inside []string
	for _, k := range []belfry.Kind{belfry.KindView, belfry.KindResource, belfry.KindObject} {
		if counts[k] > 0 {
			inside = append(inside, fmt.Sprintf("%d %ss", counts[k], k))
		}
	}
	if len(inside) == 0 {
		return nil
	}
	return belfry.Rejectf("name", belfry.NotEmpty, "view %q holds %s; remove them first or send ?recursive=true", n.Name, strings.Join(inside, ", "))
}
