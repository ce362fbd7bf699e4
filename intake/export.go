package intake

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/engine/audit"
	"belfry/meta"
)

// Export writes, as CSV, what Provision would take to make again all that a package has made, each item after the one
// that contains it. The order is that of the names, so that two exports of the same items are the same bytes. Elements that name something
// that has been removed would not be taken; if broken, they are written, with the columns of a removal.
func (in *Intake) Export(scope belfry.Scope, packageType string, broken bool, w io.Writer) error {
	pt, err := in.packageType(packageType)
	if err != nil {
		return err
	}
	// A piece is gathered while the tree is locked and written when it is not: a slow reader must not hold it up, and keeps
	// little more than exportPiece in memory.
	var page bytes.Buffer
	out := csv.NewWriter(&page)
	questions := slices.Clone(pt.Questions)
	if broken {
		questions = slices.DeleteFunc(questions, func(q catalog.Question) bool { return q.Name != "name" && q.Name != "view" })
	}
	cells := make([]string, len(questions))
	for i := range questions {
		cells[i] = questions[i].Name
	}
	_ = out.Write(cells) // a buffer takes everything
	within := in.tree.Visibility(scope)
	var rest []*meta.Node
	if !broken || pt.Kind == catalog.ElementPackage { // nothing else can be broken
		rest = in.made(scope, pt)
	}
	for len(rest) > 0 {
		seen := 0
		for n := range in.tree.EachWithRemoved(rest[:min(exportItems, len(rest))]) {
			seen++
			if n.Removed != 0 || !within.Has(n) || !within.ShowsAll(n) || len(within.BrokenColumns(n)) > 0 != broken {
				continue // it has just left, or could not be imported again
			}
			for i := range questions {
				cells[i] = exported(within.Show(n), &questions[i])
			}
			if _ = out.Write(cells); page.Len() >= exportPiece {
				break
			}
		}
		rest = rest[seen:]
		out.Flush()
		if page.Len() < exportPiece && len(rest) > 0 {
			continue
		}
		if _, err := page.WriteTo(w); err != nil {
			return err
		}
	}
	out.Flush()
	_, err = page.WriteTo(w)
	return err
}

// What an export gathers under one lock.
const (
	exportItems = 500
	exportPiece = 64 << 10
)

// made lists what a package has made, in the order of an export. The tree is locked to gather nodes, of objects those of one
// resource at a time, and not to sort them: names never change.
func (in *Intake) made(scope belfry.Scope, pt *catalog.PackageType) (list []*meta.Node) {
	if pt.Kind == catalog.ObjectPackage {
		return in.madeObjects(scope)
	}
	in.tree.Read(scope.Customer, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		within := e.Visibility(scope)
		switch pt.Kind {
		case catalog.ElementPackage:
			e.Elements(pt.Name, func(n *meta.Node) { list = append(list, n) })
		case catalog.ResourcePackage:
			e.Resources(func(n *meta.Node) {
				if n.Package == pt.Name {
					list = append(list, n)
				}
			})
		case catalog.ViewPackage:
			list = viewsBelow(list, within.Main())
			for _, r := range resourcesOf(e) {
				list = viewsBelow(list, r)
			}
		}
		list = within.Filter(list)
	})
	if pt.Kind == catalog.ElementPackage || pt.Kind == catalog.ResourcePackage {
		slices.SortFunc(list, byName)
	}
	return list
}

func (in *Intake) madeObjects(scope belfry.Scope) (list []*meta.Node) {
	var resources []*meta.Node
	in.tree.Read(scope.Customer, func(e *meta.Tenant) {
		if e != nil {
			e.Resources(func(n *meta.Node) { resources = append(resources, n) })
		}
	})
	slices.SortFunc(resources, byName)
	for _, r := range resources {
		var objects []*meta.Node
		in.tree.Read(scope.Customer, func(e *meta.Tenant) {
			if e != nil && r.Removed == 0 {
				within := e.Visibility(scope)
				objects = within.Filter(objectsOf(r))
			}
		})
		slices.SortFunc(objects, byName)
		list = append(list, objects...)
	}
	return list
}

func byName(a, b *meta.Node) int { return strings.Compare(a.Name, b.Name) }

func resourcesOf(e *meta.Tenant) (list []*meta.Node) {
	e.Resources(func(n *meta.Node) { list = append(list, n) })
	slices.SortFunc(list, byName)
	return list
}

// viewsBelow adds the views inside v, each before those inside it. Resources are not entered.
func viewsBelow(list []*meta.Node, v *meta.Node) []*meta.Node {
	var views []*meta.Node
	v.Children(func(n *meta.Node) bool {
		if n.Kind == belfry.KindView {
			views = append(views, n)
		}
		return true
	})
	slices.SortFunc(views, byName)
	for _, n := range views {
		list = viewsBelow(append(list, n), n)
	}
	return list
}

// objectsOf lists the objects of a resource, in no order.
func objectsOf(r *meta.Node) (list []*meta.Node) {
	var walk func(*meta.Node)
	walk = func(v *meta.Node) {
		v.Children(func(n *meta.Node) bool {
			if n.Kind == belfry.KindObject {
				list = append(list, n)
			} else {
				walk(n)
			}
			return true
		})
	}
	walk(r)
	return list
}

// exported is one cell of an export.
func exported(n *meta.Node, q *catalog.Question) string {
	d := n.Details
	if d == nil {
		d = &belfry.Details{}
	}
	object := n.Kind == belfry.KindObject
	inside := object || n.Kind == belfry.KindView // elsewhere these columns are ordinary questions
	switch {
	case q.Name == "name":
		return n.Name
	case q.Name == "view":
		return n.Parent.Name
	case q.Name == "resname" && inside && n.Resource == nil:
		return ""
	case q.Name == "resname" && inside:
		return n.Resource.Name
	case q.Name == "class" && inside:
		return n.Class.Name
	case q.Name == "ip" && object:
		return d.IP
	case q.Name == "host" && object:
		return d.Host
	case strings.HasPrefix(q.Name, "object_") && object:
		return d.Constants[q.Name[len("object_")]-'1']
	}
	v := d.Answers[q.Name]
	switch {
	case v == "":
		return q.Default
	case q.Secret || meta.Sealed(v):
		return audit.Hidden
	}
	return v
}
