package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// named lists the ids of what has a name and is of a kind, in a resource or in all of them.
func (e *inventory) named(kind, name, res string) (ids []string) {
	for id, it := range e.items {
		if it.kind == kind && it.name == name && (res == "" || it.res == res) {
			ids = append(ids, id)
		}
	}
	return ids
}

// children lists the ids of what stands directly in something.
func (e *inventory) children(in string) (ids []string) {
	for id, it := range e.items {
		if it.in == in {
			ids = append(ids, id)
		}
	}
	return ids
}

// removal decides a row of a removal. All that is meant is found before any of it goes.
func (e *inventory) removal(c *change, row map[string]string, f *effect) (code string) {
	name, view, res := row["name"], row["view"], row["resname"]
	if res != "" && e.items[res].kind != "resource" {
		return "unknown_resource"
	}
	var ids []string
	switch {
	case name != "" && name != "*":
		ids, code = e.single(c.pkg, name, view, res)
	case view == "":
		return "missing_value"
	default:
		ids, code = e.every(c, view, res)
	}
	if code != "" {
		return code
	}
	for _, id := range ids {
		if e.items[id].kind == "view" && !c.recursive && slices.ContainsFunc(e.children(id), func(id string) bool { return e.items[id].kind != "element" }) {
			return "not_empty"
		}
	}
	for _, id := range ids {
		if n := e.remove(id); n > 0 { // else it has gone with one before it
			f.changed++
			f.inside += n - 1
		}
	}
	f.removed += len(ids)
	return ""
}

// remove takes an item away with what stands in it, and tells how many that are.
func (e *inventory) remove(id string) (n int) {
	if _, ok := e.items[id]; !ok {
		return 0
	}
	for _, child := range e.children(id) {
		n += e.remove(child)
	}
	delete(e.items, id)
	return n + 1
}

func (e *inventory) single(pkg, name, view, res string) (ids []string, code string) {
	if pkg == "view" && name == "MAIN" {
		return nil, "not_allowed"
	}
	for _, id := range e.named(kinds[pkg], name, res) {
		it := e.items[id]
		if (it.pkg == "" || it.pkg == pkg) && (view == "" || e.items[it.in].name == view) {
			ids = append(ids, id)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, "not_found"
	case len(ids) > 1:
		return nil, "ambiguous_name"
	}
	return ids, ""
}

// every finds all items of a package in a view; a recursive removal also those in the views inside it, and objects and
// elements also in resources.
func (e *inventory) every(c *change, view, res string) (ids []string, code string) {
	at := view
	if res != "" {
		at = inside(res, view)
	}
	if _, ok := e.items[at]; !ok && res == "" {
		all := e.named("view", view, "")
		switch {
		case len(all) > 1:
			return nil, "ambiguous_name"
		case len(all) == 1:
			at = all[0]
		}
	}
	if _, ok := e.items[at]; !ok {
		return nil, "unknown_view"
	}
	into := map[string]bool{"view": true, "resource": kinds[c.pkg] == "object" || kinds[c.pkg] == "element"}
	var walk func(string)
	walk = func(in string) {
		for _, id := range e.children(in) {
			it := e.items[id]
			if it.kind == kinds[c.pkg] && (it.pkg == "" || it.pkg == c.pkg) {
				ids = append(ids, id)
			}
			if c.recursive && into[it.kind] {
				walk(id)
			}
		}
	}
	walk(at)
	return ids, ""
}

// listing is all that the program must show, a line for each row of an export and of objectstatus, sorted.
func (e *inventory) listing() (list []string) {
	for _, it := range e.items {
		if it.name != "MAIN" && !e.broken(it) {
			list = append(list, e.exported(it))
		}
	}
	for id, it := range e.items {
		if it.kind != "element" {
			list = append(list, statusLine(e.row(id)))
		}
	}
	list = append(list, toldLine(e.told))
	slices.Sort(list)
	return list
}

// broken tells whether an element names something that is gone, and is not exported.
func (e *inventory) broken(it item) bool {
	for _, column := range []string{"target", "from", "to"} {
		name := it.cells[column]
		if _, ok := e.items[name]; name != "" && it.kind == "element" && !ok && (column == "target" || len(e.named("object", name, "")) == 0) {
			return true
		}
	}
	return false
}

func (e *inventory) exported(it item) string {
	cells := map[string]string{"name": it.name, "view": e.items[it.in].name, "resname": it.res, "class": it.class}
	pkg := it.pkg
	if pkg == "" {
		pkg = it.kind
	}
	for _, column := range columns[pkg] {
		if v := defaults[column]; v != "" {
			cells[column] = v
		}
	}
	maps.Copy(cells, it.cells)
	return exportLine(pkg, cells)
}

// row is an item as objectstatus must show it.
func (e *inventory) row(id string) found {
	it := e.items[id]
	f := found{Name: it.name, Kind: it.kind, Resource: it.res, Class: it.class, Package: it.pkg, Status: e.status(id)}
	around := e.items[it.in]
	if it.kind == "view" {
		f.View, f.Parent = it.name, around.name
	} else {
		f.View, f.Parent = around.name, e.items[around.in].name
	}
	return f
}

// status is that of an object, or the worst of what stands in a view.
func (e *inventory) status(id string) string {
	if it := e.items[id]; it.kind == "object" {
		return it.status
	}
	most := 0
	for _, child := range e.children(id) {
		if e.items[child].kind != "element" {
			most = max(most, strings.Index(worst, e.status(child)))
		}
	}
	return worst[most : most+1]
}

func exportLine(pkg string, cells map[string]string) string {
	line := fmt.Sprintf("%s %q in %q", pkg, cells["name"], cells["view"])
	for _, column := range columns[pkg] {
		line += fmt.Sprintf(" %s=%q", column, cells[column])
	}
	return line
}

func statusLine(f found) string {
	if f.Name == "MAIN" {
		f.Class = "" // its own business
	}
	return fmt.Sprintf("status of %s %q: %s, resource %q, view %q, parentview %q, class %q, package %q", f.Kind, f.Name, f.Status, f.Resource, f.View, f.Parent, f.Class, f.Package)
}

func toldLine(n int) string { return fmt.Sprintf("%d events about configuration", n) }
