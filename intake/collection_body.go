package intake

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
	"belfry/intake/rowfmt"
	"belfry/meta"
)

// InputCollection returns the collection that rows can be sent to under a name, or says why there is none.
func InputCollection(cat *catalog.Catalog, name string) (*catalog.Collection, error) {
	c := cat.Collection(name)
	if c == nil {
		var names []string
		for _, c := range cat.Collections() {
			if c.Input() {
				names = append(names, c.Name)
			}
		}
		hint := "."
		if near := catalog.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, belfry.Errorf(belfry.UnknownCollection, "there is no collection %q%s Rows can be sent to %s", belfry.Clip(name), hint, strings.Join(names, ", "))
	}
	switch {
	case c.Computed:
		return nil, belfry.Errorf(belfry.ReadOnlyCollection, "the service computes the rows of %s itself; they cannot be sent", c.Name)
	case !c.Historical:
		return nil, belfry.Errorf(belfry.ReadOnlyCollection, "rows of %s, which has the present state only, cannot be sent in this version", c.Name)
	}
	return c, nil
}

// collectionBody is a body of rows whose columns are the fields of a collection. Its rows create nothing, so all of them are
// decided while they are read, except that a resource may be removed or unmanaged before the rows are applied.
type collectionBody struct {
	rowReader
	collection *catalog.Collection
	tree       *meta.Tree
	who        belfry.Scope
	times      timeBounds
	columns    []inputColumn
	names      map[string]bool
	last       *meta.Node // resource of the row before
}

// inputColumn is a column of the body.
type inputColumn struct {
	field catalog.Ref
	kind  inputKind
}

type inputKind uint8

const (
	fieldInput inputKind = iota
	timestampInput
	resourceInput
)

func (in *Intake) newCollectionBody(c *catalog.Collection, who belfry.Scope, body io.Reader, f belfry.Format) (*collectionBody, error) {
	lim := in.engine.Limits()
	if who.Limited() && !c.Item {
		return nil, belfry.Errorf(belfry.InsufficientLevel, "rows of %s belong to no resource, so a key or user that is limited to views cannot send them", c.Name)
	}
	b := &collectionBody{collection: c, tree: in.tree, who: who, times: in.bounds(c.Name, lim), names: map[string]bool{}}
	if f != belfry.CSV {
		b.rowReader = newJSONReader(body, f, lim, b.addColumn)
		return b, nil
	}
	b.rowReader = newCSVReader(body, lim)
	header, err := b.header(b.example())
	if err != nil {
		return nil, err
	}
	names, err := columnNames(header, lim.Columns)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := b.addColumn(name); err != nil {
			return nil, belfry.Errorf(belfry.BadHeader, "%s", err)
		}
	}
	return b, nil
}

// example is a header of two columns.
func (b *collectionBody) example() string {
	first := "timestamp"
	if b.collection.Item {
		first = "resname"
	}
	return first + "," + b.collection.Text
}

// addColumn adds a column.
func (b *collectionBody) addColumn(name string) error {
	c, canonical := inputColumn{}, name
	switch name {
	case "id", "period":
	case "timestamp":
		c.kind = timestampInput
	case "resname", "resource":
		c.kind, canonical = resourceInput, "resname"
		if !b.collection.Item {
			return noField{b, name}
		}
	}
	if c.kind == fieldInput {
		ref, ok := b.collection.Field(name)
		if !ok || ref.Type == catalog.ID || ref.Of != "" || ref.Split != "" {
			return noField{b, name}
		}
		c.field, canonical = ref, ref.Canonical
	}
	if b.names[canonical] {
		return noField{b, name}
	}
	b.names[canonical] = true
	b.columns = append(b.columns, c)
	return nil
}

// noField is the error for a column that addColumn refuses. Few of many are ever shown, so the text is made when asked for.
type noField struct {
	b    *collectionBody
	name string
}

func (e noField) Error() string {
	b, name := e.b, e.name
	ref, known := b.collection.Field(name)
	switch {
	case name == "id":
		return `there is no column "id" in rows that are sent; the service gives each row its id`
	case (name == "resname" || name == "resource") && !b.collection.Item:
		return fmt.Sprintf("rows of %s belong to no resource; leave out the column %q", b.collection.Name, name)
	case name == "resource" || name == "resname" || known && b.names[ref.Canonical]:
		return fmt.Sprintf("the column %q is there twice, once by another name; name it once", belfry.Clip(name))
	case known && ref.Split != "":
		return fmt.Sprintf("%s is a part of %s; send %[2]s", name, ref.Split)
	}
	return noColumn(name, b.fields(), "")
}

// fields lists the columns that rows may have.
func (b *collectionBody) fields() (list []string) {
	for i := range b.collection.Fields {
		switch f := &b.collection.Fields[i]; {
		case f.Of == "resource":
			list = append(list, "resname")
		case f.Type == catalog.ID, f.Of != "", f.Split != "":
		default:
			list = append(list, f.String())
		}
	}
	return list
}

func (b *collectionBody) read(p readLimits) (*chunk, error) {
	c := &chunk{collected: &collectionRows{collection: b.collection}}
	return c, b.fill(c, p, b)
}

func (b *collectionBody) addRow(c *chunk, fields [][]byte, line int) *belfry.RowError {
	rows := c.collected
	at, resource, values := belfry.Time(0), (*meta.Node)(nil), 0
	slot := len(rows.times)
	for i := range b.columns {
		col := &b.columns[i]
		raw := cell(fields, i)
		if len(raw) == 0 || blank(raw) {
			continue
		}
		var bad *belfry.RowError
		switch col.kind {
		case timestampInput:
			at, bad = b.times.read(raw)
		case resourceInput:
			resource, bad = b.resource(raw)
		default:
			values++
			bad = rows.column(i, col.field).set(slot, col.field, raw)
		}
		if bad != nil {
			rows.drop(slot)
			return bad
		}
	}
	switch {
	case b.collection.Item && resource == nil:
		rows.drop(slot)
		return belfry.Rejectf("resname", belfry.MissingValue, "resname is empty; a row of %s names its resource", b.collection.Name)
	case values == 0:
		return belfry.Rejectf(b.collection.Text, belfry.MissingValue, "the row has no value; fill at least one field of %s", b.collection.Name)
	}
	if b.collection.Item {
		rows.nodes = append(rows.nodes, resource)
	}
	rows.times, rows.origins = append(rows.times, at), append(rows.origins, origin{int32(b.row), int32(line)})
	return nil
}

// resource finds the resource of a row.
func (b *collectionBody) resource(name []byte) (n *meta.Node, bad *belfry.RowError) {
	if b.last != nil && b.last.Name == string(name) && b.last.Removed == 0 {
		return b.last, nil
	}
	b.tree.Read(b.who.Customer, func(t *meta.Tenant) {
		if t == nil {
			return
		}
		if n = t.Resource(string(name)); n != nil && b.who.Limited() {
			if w := t.Visibility(b.who); !w.Has(n) {
				n = nil
			}
		}
	})
	if n == nil {
		return nil, unknownResource(string(name))
	}
	b.last = n
	return n, nil
}

// decide stores the rows of a chunk.
func (b *collectionBody) decide(t decision, c *chunk) {
	late := rejections{most: c.rejected.most}
	defer func() { c.rejected.merge(late) }()
	rows := c.collected
	keep := make([]bool, len(rows.times))
	for i := range keep {
		keep[i] = rows.nodes == nil || t.keepsRow(c, i, &late)
	}
	t.store(c, rows.batch(t.Now, keep))
}

// keepsRow reports whether the resource of a row is still there and stores data.
func (t decision) keepsRow(c *chunk, i int, late *rejections) bool {
	rows := c.collected
	n, from := rows.nodes[i], rows.origins[i]
	if n.Removed != 0 || t.RemovedInRound(n) || t.Limited && !t.Sees(n) {
		if n = t.Find().Resource(n.Name); n == nil {
			late.add(int(from.row), int(from.line), unknownResource(rows.nodes[i].Name))
			return false
		}
		rows.nodes[i] = n
	}
	if !t.Mode(n).StoresData() {
		c.discard(int(from.row))
		return false
	}
	return true
}

// collectionRows are rows of a collection, by column.
type collectionRows struct {
	collection *catalog.Collection
	nodes      []*meta.Node  // resources; nil if the rows have none
	times      []belfry.Time // 0: arrival
	origins    []origin
	columns    []*collectionColumn // in the order of the body; nil until a row has a value
}

// collectionColumn holds one field. It ends with the last row that has a value.
type collectionColumn struct {
	belfry.Column
	text bool
	real bool // numbers, not integers
}

// column returns the column at a place of the body.
func (r *collectionRows) column(i int, f catalog.Ref) *collectionColumn {
	for len(r.columns) <= i {
		r.columns = append(r.columns, nil)
	}
	if r.columns[i] == nil {
		r.columns[i] = &collectionColumn{
			Column: belfry.Column{Name: f.Canonical}, text: f.Type == catalog.Text || f.Type == catalog.FullText, real: f.Type == catalog.Number,
		}
	}
	return r.columns[i]
}

// set parses the value of a row. Rows before it without one have an absent value.
func (c *collectionColumn) set(row int, f catalog.Ref, raw []byte) *belfry.RowError {
	c.pad(row)
	switch f.Type {
	case catalog.Text, catalog.FullText:
		c.Texts = append(c.Texts, string(raw))
	case catalog.Number:
		v, ok := rowfmt.ParseNumber(raw)
		if !ok {
			return belfry.Rejectf(c.Name, belfry.BadValue, "%s takes a number, got %q", c.Name, belfry.Clip(raw))
		}
		if rowfmt.Rounded(raw, v) {
			return inexactInteger(c.Name, raw, v)
		}
		c.Numbers = append(c.Numbers, v)
	case catalog.Integer:
		v, ok := parseInteger(raw)
		if !ok {
			return belfry.Rejectf(c.Name, belfry.BadValue, "%s takes a whole number of at most 18 digits, got %q", c.Name, belfry.Clip(raw))
		}
		c.Ints = append(c.Ints, v)
	case catalog.Time:
		at, ok := rowfmt.ParseTimestamp(raw)
		if !ok {
			return belfry.Rejectf(c.Name, belfry.BadValue, "%s takes a time, in RFC 3339 or as seconds or milliseconds since 1970, got %q", c.Name, belfry.Clip(raw))
		}
		c.Ints = append(c.Ints, int64(at))
	default:
		return belfry.Rejectf(c.Name, belfry.BadValue, "%s cannot be sent", c.Name) // no collection with input has such a field
	}
	return nil
}

// parseInteger reads a whole number. A fraction of zeros and an exponent are fine, as spreadsheets and JSON libraries write them.
func parseInteger(raw []byte) (int64, bool) {
	const limit = 1e18
	text := rowfmt.TrimBlanks(raw)
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return v, -limit < v && v < limit
	}
	v, ok := rowfmt.ParseNumber(text)
	if !ok || v != float64(int64(v)) || v <= -1<<53 || v >= 1<<53 {
		return 0, false
	}
	return int64(v), true
}

// pad returns the column this many rows.
func (c *collectionColumn) pad(rows int) {
	switch {
	case c.text:
		c.Texts = append(c.Texts, make([]string, rows-len(c.Texts))...)
	case c.real:
		for len(c.Numbers) < rows {
			c.Numbers = append(c.Numbers, belfry.AbsentNumber())
		}
	default:
		for len(c.Ints) < rows {
			c.Ints = append(c.Ints, belfry.AbsentInt)
		}
	}
}

// drop removes the values of a row that was refused, the last one.
func (r *collectionRows) drop(row int) {
	for _, c := range r.columns {
		if c != nil {
			c.Texts, c.Numbers, c.Ints = c.Texts[:min(row, len(c.Texts))], c.Numbers[:min(row, len(c.Numbers))], c.Ints[:min(row, len(c.Ints))]
		}
	}
}

// memory is about what the rows take without their texts.
func (r *collectionRows) memory() int { return (24 + 16*len(r.columns)) * len(r.times) }

// batch returns the rows to keep; nil if there are none. Rows without their own time get that of their arrival.
func (r *collectionRows) batch(arrival belfry.Time, kept []bool) *belfry.Batch {
	keep := make([]int, 0, len(kept))
	for i, k := range kept {
		if k {
			keep = append(keep, i)
		}
	}
	if len(keep) == 0 {
		return nil
	}
	b := &belfry.Batch{Collection: r.collection.Name, Times: times(r.times, keep, arrival)}
	if r.nodes != nil {
		items := make([]int64, len(keep))
		for i, at := range keep {
			items[i] = int64(r.nodes[at].ID)
		}
		b.Columns = append(b.Columns, belfry.Column{Name: belfry.ItemColumn, Ints: items})
	}
	for _, c := range r.columns {
		if c == nil {
			continue
		}
		c.pad(len(r.times))
		out := belfry.Column{Name: c.Name}
		switch {
		case c.text:
			out.Texts = compact(c.Texts, keep)
		case c.real:
			out.Numbers = compact(c.Numbers, keep)
		default:
			out.Ints = compact(c.Ints, keep)
		}
		b.Columns = append(b.Columns, out)
	}
	return b
}
