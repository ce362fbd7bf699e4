package intake

import (
	"cmp"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake/rowfmt"
	"belfry/meta"
	"belfry/status"
)

// decide decides a chunk of a send body: first the rows that were left undecided, in the order of the body, since a later row
// may use what an earlier one creates; then what the data rows mean. When there is too much to do, the rest is left for
// another turn, from the first row on that is still undecided: so what a row creates is in the same record as the row.
func (b *sendBody) decide(t decision, c *chunk) {
	late := rejections{most: c.rejected.most}
	defer func() { c.rejected.merge(late) }()
	t.checkUnqualified(c, &late)
	t.Turn().Expect(c.undecided.left(), 0)
	c.undecided.decideEach(&late, func(row *undecidedRow, fields [][]byte) (*belfry.RowError, bool) {
		if !t.Turn().NextRow() {
			return nil, false
		}
		if c.by != nil {
			t.By = c.by[row.row-1]
		}
		before := c.report.Created
		bad := t.decideRow(c, row, fields)
		if bad == nil && c.created != nil && c.report.Created != before {
			c.created(int(row.row), c.report.Created.Less(before))
		}
		return bad, true
	})
	t.recheck(c, c.data.nodes, c.data.origins, &late)
	t.recheck(c, c.logs.nodes, c.logs.origins, &late)
	t.reserveValues(c, &late)
	rows, lines := c.ready()
	if done := t.inputs(c, rows); done < rows {
		rows, lines = done, min(lines, before(c.logs.origins, c.data.origins[done].row))
	}
	data, logs := c.takeFirst(rows, lines)
	t.store(c, data.batch(t.Now))
	t.store(c, logs.batch(t.Now))
	c.more = c.undecided.left() > 0 || len(c.data.nodes) > 0 || len(c.logs.nodes) > 0
}

// store puts rows into the record.
func (t decision) store(c *chunk, b *belfry.Batch) {
	if b != nil {
		t.AddBatch(b)
		c.report.Accepted += b.Len()
	}
}

// inputs applies the first data rows to their objects and returns how many rows were applied in this turn.
func (t decision) inputs(c *chunk, rows int) int {
	values := &t.in.values
	values.reset(&c.data)
	for i, n := range c.data.nodes[:rows] {
		if n == nil {
			continue
		}
		if t.Turn().Full() {
			return i
		}
		values.row = i
		t.Input(n, status.Input{Time: cmp.Or(c.data.times[i], t.Now), Values: values})
	}
	return rows
}

// checkUnqualified refuses rows whose object was the only one of its name when they were read and is no longer. Nearly
// always nothing of the sort has happened, and then it costs nothing.
func (t decision) checkUnqualified(c *chunk, late *rejections) {
	if len(c.unqualified) == 0 || c.namesakes == t.Tenant.Namesakes && !t.RoundCreated() {
		return
	}
	for _, u := range c.unqualified {
		nodes, from := c.data.nodes, c.data.origins
		if u.log {
			nodes, from = c.logs.nodes, c.logs.origins
		}
		n := nodes[u.slot]
		if n == nil { // refused or discarded in an earlier turn
			continue
		}
		if all := t.Find().ObjectsNamed(n.Name); len(all) > 1 {
			nodes[u.slot] = nil
			late.add(int(from[u.slot].row), int(from[u.slot].line), ambiguous("object", all))
		}
	}
}

// recheck looks again at the objects that rows were found to be about. It refuses rows whose object was removed, or is
// outside of what the sender may see, and discards those of objects that are unmanaged without storage.
func (t decision) recheck(c *chunk, nodes []*meta.Node, origins []origin, late *rejections) {
	for i, n := range nodes {
		if n == nil {
			continue
		}
		now := n
		if n.Removed != 0 {
			now = t.successor(n)
		}
		switch {
		case now == nil:
			late.add(int(origins[i].row), int(origins[i].line), belfry.Rejectf("object", belfry.UnknownObject,
				"object %q of %q was removed while the request was in progress; give class and view to create it again", n.Name, n.Resource.Name))
		case t.Limited && !t.Sees(now):
			late.add(int(origins[i].row), int(origins[i].line), belfry.Rejectf("object", belfry.UnknownObject, "object %q does not exist", now.Name))
			now = nil
		case !t.Mode(now).StoresData():
			c.discard(int(origins[i].row))
			now = nil
		}
		if now != n {
			nodes[i] = now
		}
	}
}

// successor finds the object that was made in the place of a removed one; nil if there is none of the same class.
func (t decision) successor(n *meta.Node) *meta.Node {
	if r := t.Find().Resource(n.Resource.Name); r != nil {
		if now := t.Find().Object(r, n.Name); now != nil && now.Class.Name == n.Class.Name {
			return now
		}
	}
	return nil
}

// decideRow decides a row that was left to the sequencer.
func (t decision) decideRow(c *chunk, row *undecidedRow, fields [][]byte) *belfry.RowError {
	l := c.layout
	if row.kind == viewRow {
		return t.createView(c, l, fields)
	}
	n, bad := t.find(c, l, row.kind, fields)
	if bad != nil {
		return bad
	}
	if d := t.Details(n); l.differs(fields, &d) {
		before := d
		l.setDetails(fields, &d)
		if bad := t.Budget().ReserveDetails("object", &before, &d); bad != nil {
			return bad
		}
		t.Change(n, nil, "", &d)
	}
	def := t.Find().Definition(n)
	switch row.kind {
	case logRow:
		c.logs.nodes[row.slot], c.logs.sep[row.slot] = n, c.separator(def)
		return nil
	case noResponseRow:
		if !t.Mode(n).StoresData() {
			c.discard(int(row.row))
			return nil
		}
		t.Input(n, status.Input{Time: t.Now, NoResponse: true, Reason: reason(cell(fields, l.log))})
		c.report.Accepted++
		return nil
	}
	if _, bad := l.readValues(fields, t.infer(l, fields, def), &c.data, int(row.slot)); bad != nil {
		return bad
	}
	c.data.nodes[row.slot] = n
	return nil
}

// reason is why an object did not respond, no longer than one wants to read.
func reason(text []byte) string {
	const most = 500
	return strings.ToValidUTF8(string(text[:min(len(text), most)]), "")
}

// infer adds indicators to an inferred class; the first value of each decides its type. The values have been
// checked.
func (t decision) infer(l *layout, fields [][]byte, def *catalog.Class) *catalog.Class {
	if !def.Inferred {
		return def
	}
	grown := def
	for _, col := range l.indicators {
		if raw := cell(fields, col.at); len(raw) > 0 {
			_, number := rowfmt.ParseNumber(raw)
			grown = grown.WithIndicator(col.n, !number)
		}
	}
	if grown != def {
		t.Define(grown)
	}
	return grown
}

// find returns the object of a row, creating it when the row says how. A row it finds no fault with has none.
func (t decision) find(c *chunk, l *layout, kind rowKind, fields [][]byte) (*meta.Node, *belfry.RowError) {
	name, resname := string(cell(fields, l.object)), string(cell(fields, l.resname))
	if name == "" {
		return nil, belfry.Rejectf("object", belfry.MissingValue, "object is empty; the row must name its object")
	}
	var n, resource *meta.Node
	if resname == "" {
		all := t.Find().ObjectsNamed(name)
		switch len(all) {
		case 0:
			return nil, belfry.Rejectf("object", belfry.UnknownObject, "object %q does not exist; give resname, class and view to create it", belfry.Clip(name))
		case 1:
			n = all[0]
		default:
			return nil, ambiguous("object", all)
		}
	} else {
		if resource = t.Find().Resource(resname); resource == nil {
			return nil, unknownResource(resname)
		}
		n = t.Find().Object(resource, name)
	}
	if n == nil {
		return t.createObject(c, l, kind, fields, resource, name)
	}
	if class := string(cell(fields, l.class)); class != "" && class != n.Class.Name {
		return nil, classMismatch(n, class)
	}
	def := t.Find().Definition(n)
	if bad := l.checkValues(kind, fields, def); bad != nil {
		return n, bad
	}
	return n, t.reserveInferred(l, fields, def, false)
}

func ambiguous(column string, all []*meta.Node) *belfry.RowError {
	return belfry.Rejectf(column, belfry.AmbiguousName, "%s; give resname", meta.Namesakes(all))
}

func (t decision) createObject(c *chunk, l *layout, kind rowKind, fields [][]byte, resource *meta.Node, name string) (*meta.Node, *belfry.RowError) {
	class, view := string(cell(fields, l.class)), string(cell(fields, l.view))
	if class == "" || view == "" {
		return nil, belfry.Rejectf("class", belfry.UnknownObject, "object %q does not exist in %q; give class and view to create it", belfry.Clip(name), resource.Name)
	}
	if bad := engine.CheckName("object", name); bad != nil {
		return nil, bad
	}
	if bad := t.Budget().CheckObjects(1); bad != nil {
		return nil, bad
	}
	// Everything that can be wrong is checked before anything is made, so that a refused row leaves nothing behind.
	cl, bad := t.objectClass(class)
	if bad != nil {
		return nil, bad
	}
	if bad := l.checkValues(kind, fields, cl.Def); bad != nil {
		return nil, bad
	}
	var d belfry.Details
	l.setDetails(fields, &d)
	details := &d
	if d.IP == "" && d.Host == "" && d.Constants == [5]string{} {
		details = nil
	}
	if bad := t.Budget().ReserveDetails("object", nil, details); bad != nil {
		return nil, bad
	}
	if bad := t.reserveInferred(l, fields, cl.Def, t.Find().Class(class) == nil); bad != nil {
		return nil, bad
	}
	if bad := t.Budget().CheckItem("object", meta.ItemSize(belfry.KindObject, name, "")+cl.MarksSize()+engine.ValuesSize(l.lastValues(fields))); bad != nil {
		return nil, bad
	}
	parent, bad := t.parentFor(c, resource, view, string(cell(fields, l.parentview)))
	if bad != nil {
		return nil, bad
	}
	if t.Find().Class(class) == nil {
		cl = t.Define(cl.Def)
	}
	c.report.Created.Objects++
	n := t.Create(belfry.KindObject, name, parent, resource, cl, "", details)
	t.Budget().AddValues(n, l.lastValues(fields))
	return n, nil
}

// objectClass finds the class of a new object, or infers one that is not defined yet.
func (t decision) objectClass(name string) (*meta.Class, *belfry.RowError) {
	if c := t.Find().Class(name); c != nil {
		return c, nil
	}
	if t.in.engine.Limits().StrictClasses {
		return nil, belfry.Rejectf("class", belfry.UnknownClass, "class %q is not defined and strict_classes is set; define the class first", belfry.Clip(name))
	}
	if bad := engine.CheckName("class", name); bad != nil {
		return nil, bad
	}
	return &meta.Class{Name: name, Def: catalog.InferClass(name)}, nil
}

// checkValues reports whether the class takes the values of a row, before the row leaves any trace.
func (l *layout) checkValues(kind rowKind, fields [][]byte, def *catalog.Class) *belfry.RowError {
	if kind != dataRow {
		return nil
	}
	_, bad := l.readValues(fields, def, nil, 0)
	return bad
}

// parentFor finds the view for a new object. A view that does not exist is made, of the generic class, when the row
// names an existing view around it.
func (t decision) parentFor(c *chunk, resource *meta.Node, view, around string) (*meta.Node, *belfry.RowError) {
	if v := t.Find().View(resource, view); v != nil {
		return v, nil
	}
	if around == "" {
		return nil, belfry.Rejectf("view", belfry.UnknownView, "view %q does not exist in %q; create it with a createview row, or give parentview to have it made", belfry.Clip(view), resource.Name)
	}
	parent := t.Find().View(resource, around)
	if parent == nil {
		return nil, unknownInside("parentview", around, resource)
	}
	if bad := engine.CheckName("view", view); bad != nil {
		return nil, bad
	}
	if bad := t.Check().Depth("parentview", parent); bad != nil {
		return nil, bad
	}
	if bad := t.Budget().CheckPlace("view", view); bad != nil {
		return nil, bad
	}
	c.report.Created.Views++
	return t.Create(belfry.KindView, view, parent, resource, t.Find().ViewClass(engine.GenericView), "", nil), nil
}

// createView decides a createview row.
func (t decision) createView(c *chunk, l *layout, fields [][]byte) *belfry.RowError {
	values := map[string]string{}
	for column, at := range map[string]int{"resname": l.resname, "class": l.class, "view": l.view, "parentview": l.parentview} {
		values[column] = string(cell(fields, at))
	}
	for _, column := range []string{"resname", "class", "view", "parentview"} {
		if values[column] == "" {
			return belfry.Rejectf(column, belfry.MissingValue, "%s is empty; a createview row needs resname, class, view and parentview", column)
		}
	}
	resource := t.Find().Resource(values["resname"])
	if resource == nil {
		return unknownResource(values["resname"])
	}
	parent := t.Find().View(resource, values["parentview"])
	if parent == nil {
		return unknownInside("parentview", values["parentview"], resource)
	}
	if bad := engine.CheckName("class", values["class"]); bad != nil {
		return bad
	}
	if have := t.Find().View(resource, values["view"]); have != nil {
		return t.sameView(c, have, parent, values["class"])
	}
	if bad := engine.CheckName("view", values["view"]); bad != nil {
		return bad
	}
	if bad := t.Check().Depth("parentview", parent); bad != nil {
		return bad
	}
	if bad := t.Budget().CheckPlace("view", values["view"]); bad != nil {
		return bad
	}
	t.Create(belfry.KindView, values["view"], parent, resource, t.Find().ViewClass(values["class"]), "", nil)
	c.report.Accepted++
	c.report.Created.Views++
	return nil
}

// sameView decides a createview row whose view exists: it becomes what the row says.
func (t decision) sameView(c *chunk, have, parent *meta.Node, class string) *belfry.RowError {
	if have == have.Resource {
		return belfry.Rejectf("view", belfry.NameInUse, "%q is the name of the resource itself; choose another name for the view", have.Name)
	}
	if bad := t.Check().Move("parentview", have, parent); bad != nil {
		return bad
	}
	c.report.Accepted++
	if parent == t.Parent(have) {
		parent = nil
	}
	if parent == nil && class == t.Current(have).Class {
		c.report.Unchanged++
		return nil
	}
	t.Change(have, parent, class, nil)
	c.report.Updated++
	return nil
}

// discard counts a discarded row.
func (c *chunk) discard(row int) {
	c.report.Discarded++
	c.discardedRows = append(c.discardedRows, int32(row))
	if c.discarded != nil {
		c.discarded(row)
	}
}
