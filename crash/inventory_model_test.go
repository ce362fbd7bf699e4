package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// inventory is what a customer must have: a map of items, each of which knows where it stands. It follows the same rules as
// the program, in the plainest way: everything is found by looking at everything.
type inventory struct {
	items map[string]item // by id: a, a/b in resource a, a:b for objects, label=b for elements
	told  int             // events about what was made, changed or removed
}

// item is a value; cells are replaced and never changed.
type item struct {
	kind   string
	pkg    string // of resources and elements
	name   string
	in     string            // id of the view or resource in which it stands
	res    string            // name of its resource; a resource is its own
	class  string            // of views and objects
	cells  map[string]string // other answers that are not the default
	status string            // of objects
}

// columns are what the model knows of each package beside name and view.
var columns = map[string][]string{
	"view":                {"resname", "class", "bg", "posx", "posy"},
	"object":              {"resname", "class", "object_1"},
	"custom":              {"posx"},
	"network-ping":        {"ip_address_fqdn", "interval"},
	"log-syslog-receiver": nil,
	"log-trap-receiver":   nil,
	"label":               {"text"},
	"link":                {"from", "to"},
	"picture":             {"picture"},
	"shortcut":            {"target"},
}

var (
	packages = slices.Sorted(maps.Keys(columns))
	kinds    = map[string]string{
		"view": "view", "object": "object", "custom": "resource", "network-ping": "resource",
		"label": "element", "link": "element", "picture": "element", "shortcut": "element",
	}
	defaults = map[string]string{"interval": "60s"}
	required = map[string]bool{"ip_address_fqdn": true, "from": true, "to": true, "picture": true, "target": true}
)

func newEstate() *inventory {
	return &inventory{items: map[string]item{"MAIN": {kind: "view", name: "MAIN"}}}
}

// effect is what a request comes to.
type effect struct {
	rows, accepted, updated, unchanged, removed int
	created                                     [4]int // resources, views, objects, elements
	codes                                       []string

	changed, inside int // items that were changed, and those that went with others
}

func (e effect) String() string {
	return fmt.Sprintf("%d rows, %d accepted, created %v, updated %d, unchanged %d, removed %d, errors %q",
		e.rows, e.accepted, e.created, e.updated, e.unchanged, e.removed, e.codes)
}

// change gives the inventory after a request, and what the request is told.
func (e *inventory) change(c *change) (*inventory, effect) {
	after := &inventory{maps.Clone(e.items), e.told}
	f := effect{rows: len(c.rows)}
	for i, row := range c.rows {
		before := f
		if code := after.decide(c, row, &f); code != "" {
			f.codes = append(f.codes, fmt.Sprint(i+1, " ", code))
		} else {
			f.accepted++
		}
		if f.created != before.created || f.updated > before.updated {
			f.changed++
		}
	}
	if c.atomic && len(f.codes) > 0 {
		return e, effect{rows: f.rows, codes: f.codes}
	}
	if c.dryrun {
		return e, f
	}
	after.told += f.events()
	return after, f
}

// events is how many tell of what a request has changed: one for each item, and one that lists what went with others; if there are many, one
// that lists all of them.
func (e *effect) events() int {
	const few = 20
	switch {
	case e.changed > few:
		return 1
	case e.inside > 0:
		return e.changed + 1
	}
	return e.changed
}

func (e *inventory) decide(c *change, row map[string]string, f *effect) (code string) {
	if c.method == "DELETE" {
		return e.removal(c, row, f)
	}
	switch {
	case c.pkg == "" || c.pkg == "d":
		return e.data(row)
	case row["name"] == "MAIN":
		return "bad_name"
	case c.pkg == "view" || c.pkg == "cv":
		return e.view(row, f)
	case c.pkg == "object":
		return e.object(row, f)
	case kinds[c.pkg] == "element":
		return e.element(c.pkg, row, f)
	}
	return e.resource(c.pkg, row, f)
}

// inside gives the id of a view in a resource; the resource is one itself.
func inside(resource, name string) string {
	if name == resource {
		return name
	}
	return resource + "/" + name
}

func (e *inventory) resource(pkg string, row map[string]string, f *effect) (code string) {
	name, parent := row["name"], row["view"]
	have, ok := e.items[name]
	if ok && have.pkg != pkg {
		return "name_in_use"
	}
	if in, ok := e.items[parent]; parent != "" && !ok {
		return "unknown_view"
	} else if parent != "" && in.kind != "view" {
		return "not_allowed"
	}
	if ok {
		return e.update(name, pkg, parent, "", row, f)
	}
	cells, code := answers(pkg, row, nil)
	if code != "" {
		return code
	}
	if parent == "" {
		parent = "MAIN"
	}
	e.items[name] = item{kind: "resource", pkg: pkg, name: name, in: parent, res: name, class: pkg, cells: cells}
	f.created[0]++
	if pkg == "network-ping" {
		part := name + " - Ping"
		e.items[name+":"+part] = item{kind: "object", name: part, in: name, res: name, class: pkg, status: "?"}
		f.created[2]++
	}
	return ""
}

func (e *inventory) view(row map[string]string, f *effect) (code string) {
	name, res, parent := row["name"], row["resname"], row["view"]
	switch {
	case res != "" && e.items[res].kind != "resource":
		return "unknown_resource"
	case parent == "":
	case res != "":
		parent = inside(res, parent)
	default:
		res = e.items[parent].res
	}
	if _, ok := e.items[parent]; parent != "" && !ok {
		return "unknown_view"
	}
	id := name
	if res != "" {
		id = inside(res, name)
	}
	have, ok := e.items[id]
	switch {
	case ok && have.kind != "view":
		return "name_in_use"
	case ok:
		return e.update(id, "view", parent, row["class"], row, f)
	case parent == "":
		return "missing_value"
	}
	cells, code := answers("view", row, nil)
	if code != "" {
		return code
	}
	class := row["class"]
	if class == "" {
		class = "generic"
	}
	e.items[id] = item{kind: "view", name: name, in: parent, res: res, class: class, cells: cells}
	f.created[1]++
	return ""
}

func (e *inventory) element(pkg string, row map[string]string, f *effect) (code string) {
	id, parent := pkg+"="+row["name"], row["view"]
	if in := e.items[parent]; parent != "" && in.kind != "view" && in.kind != "resource" {
		return "unknown_view"
	}
	have, ok := e.items[id]
	for _, column := range []string{"target", "from", "to"} {
		v := row[column]
		if v == "" || v == have.cells[column] {
			continue
		}
		if _, ok := e.items[v]; !ok && (column == "target" || len(e.named("object", v, "")) == 0) {
			return "not_found"
		}
	}
	if ok {
		return e.update(id, pkg, parent, "", row, f)
	}
	cells, code := answers(pkg, row, nil)
	if code != "" {
		return code
	}
	if parent == "" {
		parent = "MAIN"
	}
	e.items[id] = item{kind: "element", pkg: pkg, name: row["name"], in: parent, cells: cells}
	f.created[3]++
	return ""
}

func (e *inventory) object(row map[string]string, f *effect) (code string) {
	id, code := e.find(row["name"], row["resname"], "missing_value")
	if code != "" {
		return code
	}
	have, ok := e.items[id]
	res, _, _ := strings.Cut(id, ":")
	parent := row["view"]
	if parent != "" {
		parent = inside(res, parent)
		if _, ok := e.items[parent]; !ok {
			return "unknown_view"
		}
	}
	class := row["class"]
	switch {
	case ok && class != "" && class != have.class:
		return "class_mismatch"
	case ok:
		return e.update(id, "object", parent, "", row, f)
	case class == "" || parent == "":
		return "missing_value"
	}
	cells, _ := answers("object", row, nil)
	e.items[id] = item{kind: "object", name: row["name"], in: parent, res: res, class: class, cells: cells, status: "?"}
	f.created[2]++
	return ""
}

// find gives the id of an object, which may not exist when its resource is named.
func (e *inventory) find(name, res, none string) (id, code string) {
	if res != "" {
		if e.items[res].kind != "resource" {
			return "", "unknown_resource"
		}
		return res + ":" + name, ""
	}
	switch all := e.named("object", name, ""); len(all) {
	case 0:
		return "", none
	case 1:
		return all[0], ""
	}
	return "", "ambiguous_name"
}

// data applies a data row, or n=yes, to its object.
func (e *inventory) data(row map[string]string) (code string) {
	id, code := e.find(row["object"], row["resname"], "unknown_object")
	if code != "" {
		return code
	}
	have, ok := e.items[id]
	if !ok {
		return "unknown_object"
	}
	have.status = "0"
	if row["n"] == "yes" {
		have.status = "-"
	}
	e.items[id] = have
	return ""
}

// update changes what a row says differently about an item that exists; an empty parent or class says nothing.
func (e *inventory) update(id, pkg, parent, class string, row map[string]string, f *effect) (code string) {
	have := e.items[id]
	cells, code := answers(pkg, row, have.cells)
	if code != "" {
		return code
	}
	next := have
	next.cells = cells
	if parent != "" {
		for at := parent; at != ""; at = e.items[at].in {
			if at == id && parent != have.in {
				return "cycle"
			}
		}
		next.in = parent
	}
	if class != "" {
		next.class = class
	}
	if next.in == have.in && next.class == have.class && maps.Equal(cells, have.cells) {
		f.unchanged++
		return ""
	}
	e.items[id] = next
	f.updated++
	return ""
}

// answers are those of a row over the ones before.
func answers(pkg string, row, before map[string]string) (map[string]string, string) {
	cells := maps.Clone(before)
	if cells == nil {
		cells = map[string]string{}
	}
	for _, column := range columns[pkg] {
		v, ok := row[column]
		switch {
		case !ok || column == "resname" || column == "class":
		case v == "" && strings.HasPrefix(column, "pos"):
		case v == "" && required[column]:
			return nil, "missing_value"
		case v == "" || v == defaults[column]:
			delete(cells, column)
		default:
			cells[column] = v
		}
	}
	for _, column := range columns[pkg] {
		if required[column] && cells[column] == "" {
			return nil, "missing_value"
		}
	}
	return cells, ""
}
