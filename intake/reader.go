package intake

import (
	"bytes"
	"cmp"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
	"belfry/engine"
	"belfry/intake/rowfmt"
	"belfry/meta"
)

// reader turns a send body into chunks.
type reader struct {
	rowBody
	layout  *layout  // of CSV from the header, else what the objects so far have named
	objects *growing // nil for CSV
	tree    *meta.Tree
	who     belfry.Scope
	rooms   *sync.Pool
	opens   *sync.Pool

	only       string // the type of all rows, which then need no column for it; empty: each row has its own
	data, logs timeBounds
	last       *meta.Node      // the resource of the row before
	details    *belfry.Details // of the object that find has found
}

func (in *Intake) newReader(who belfry.Scope, body io.Reader, o Options) (*reader, error) {
	lim := in.engine.Limits()
	r := &reader{tree: in.tree, who: who, rooms: &in.rooms, opens: &in.opens}
	if c := o.Collection; c != nil {
		r.only = map[string]string{belfry.ObjectData: "data", belfry.ObjectLog: "log"}[c.Name]
	}
	if err := r.open(body, o.Format, lim); err != nil {
		return nil, err
	}
	r.data, r.logs = in.bounds(belfry.ObjectData, lim), in.bounds(belfry.ObjectLog, lim)
	return r, nil
}

func (r *reader) open(body io.Reader, f belfry.Format, lim engine.Limits) error {
	if f != belfry.CSV {
		r.objects = &growing{layout: newLayout(), indicators: lim.Indicators}
		r.layout, r.rowBody = r.objects.layout, rowBody{source: rowfmt.NewJSON(body, f, r.objects, lim.Row, lim.Columns)}
		return nil
	}
	b := newCSVBody(body, lim)
	header, err := b.header("type,object,i1")
	if err != nil {
		return err
	}
	r.layout, err = readLayout(header, lim, r.only == "")
	r.rowBody = b.rowBody
	return err
}

func (r *reader) apply(t decision, c *chunk) { t.send(c, c.layout) }

func (r *reader) read(p portion) (*chunk, error) {
	c := &chunk{}
	room := r.rooms.Get().(*dataRows)
	room.reshape(r.layout.indicators)
	c.data = *room
	if !p.whole() { // of a body read whole, the room may be huge
		c.open = *r.opens.Get().(*openRows)
	}
	err := r.rowBody.read(c, p, r.readRow)
	c.layout = r.layout
	if cap(c.data.nodes) > 2*chunkRows { // of a body read whole: to copy it, or to keep its room, would be dear
		return c, err
	}
	*room = c.data
	c.data = room.moveOut()
	r.rooms.Put(room)
	return c, err
}

// readRow adds one row to the chunk, or says what is wrong with it.
func (r *reader) readRow(c *chunk, fields [][]byte, line int) *belfry.RowError {
	if r.objects != nil && r.layout != r.objects.layout { // an object has named a new column
		r.layout = r.objects.layout
		c.data.widen(r.layout.indicators)
	}
	clearBlanks(fields, r.layout.loose)
	kind := cell(fields, r.layout.kind)
	if bad := r.readKind(c, string(kind), fields, line); bad != unknownKind {
		return bad
	}
	plain := strings.ToLower(strings.TrimSpace(string(kind)))
	if plain == "" && r.only == "" {
		return belfry.Rejectf("type", belfry.MissingValue, "type is empty; it must be data, log or createview")
	}
	if bad := r.readKind(c, cmp.Or(plain, r.only), fields, line); bad != unknownKind {
		return bad
	}
	if r.only != "" {
		return belfry.Rejectf("type", belfry.BadValue, "type is %q in a body of %s rows; leave it empty, or send the row without collection", belfry.Clip(kind), r.only)
	}
	return belfry.Rejectf("type", belfry.UnknownType, "type must be data, log or createview, got %q", belfry.Clip(kind))
}

// unknownKind is for a row whose type is not one of ours.
var unknownKind = new(belfry.RowError)

func (r *reader) readKind(c *chunk, kind string, fields [][]byte, line int) *belfry.RowError {
	if r.only != "" && kind != r.only {
		return unknownKind
	}
	switch kind {
	case "data":
		return r.readData(c, fields, line)
	case "log":
		return r.readLog(c, fields, line)
	case "createview":
		if bad := r.unused(fields, "createview", r.layout.notOfViews); bad != nil {
			return bad
		}
		c.open.add(r.row, line, viewRow, -1, fields)
		return nil
	}
	return unknownKind
}

// unused refuses a row that fills a column which rows of its type do not have: whoever wrote it meant something that would not
// happen.
func (r *reader) unused(fields [][]byte, kind string, columns []int) *belfry.RowError {
	clearBlanks(fields, columns)
	for _, at := range columns {
		if len(cell(fields, at)) > 0 {
			name := r.layout.names[at]
			return belfry.Rejectf(name, belfry.BadValue, "%s is %q, but a row of type %s has no %[1]s; leave the column empty, or send a row of another type", name, belfry.Clip(fields[at]), kind)
		}
	}
	return nil
}

func (r *reader) readData(c *chunk, fields [][]byte, line int) *belfry.RowError {
	if bad := r.unused(fields, "data", r.layout.notOfData); bad != nil {
		return bad
	}
	at, bad := r.data.read(cell(fields, r.layout.timestamp))
	if bad != nil {
		return bad
	}
	if bad := r.checkDetails(fields); bad != nil {
		return bad
	}
	n, def, sure := r.find(c, fields)
	slot := c.data.add(nil, at, origin{int32(r.row), int32(line)})
	if r.layout.details {
		c.data.sources.note(slot, r.layout, fields, r.details)
	}
	if sure {
		known, bad := setValues(&c.data, slot, r.layout, fields, def)
		if bad != nil {
			return bad // the slot stays empty
		}
		if known {
			c.data.nodes[slot] = n
			r.noteUnnamed(c, fields, unnamed{slot: slot})
			return nil
		}
	}
	c.open.add(r.row, line, dataRow, slot, fields)
	return nil
}

func (r *reader) readLog(c *chunk, fields [][]byte, line int) *belfry.RowError {
	if bad := r.unused(fields, "log", r.layout.notOfLogs); bad != nil {
		return bad
	}
	at, bad := r.logs.read(cell(fields, r.layout.timestamp))
	if bad != nil {
		return bad
	}
	if bad := r.checkDetails(fields); bad != nil {
		return bad
	}
	text := cell(fields, r.layout.log)
	if len(text) == 0 {
		return belfry.Rejectf("log", belfry.MissingValue, "log is empty; a log row needs a text")
	}
	n, def, sure := r.find(c, fields)
	if r.layout.details {
		c.logs.sources.note(len(c.logs.nodes), r.layout, fields, r.details)
	}
	if sure {
		slot := c.logs.add(n, at, origin{int32(r.row), int32(line)}, string(text), c.separator(def))
		r.noteUnnamed(c, fields, unnamed{log: true, slot: slot})
		return nil
	}
	slot := c.logs.add(nil, at, origin{int32(r.row), int32(line)}, string(text), "")
	c.open.add(r.row, line, logRow, slot, fields)
	return nil
}

// noteUnnamed remembers a row that names no resource: until the sequencer has it, another may make a second object of
// that name.
func (r *reader) noteUnnamed(c *chunk, fields [][]byte, u unnamed) {
	if len(cell(fields, r.layout.resname)) == 0 {
		c.unnamed = append(c.unnamed, u)
	}
}

// find looks for the object of a row. It is sure when the object exists, is the only one meant, and the row says
// nothing about it that differs from what is known; else the sequencer decides. That is so, too, when an open row
// before it may make another object of the name.
func (r *reader) find(c *chunk, fields [][]byte) (n *meta.Node, def *catalog.Class, sure bool) {
	l := r.layout
	r.details = nil
	r.tree.Read(r.who.Customer, func(e *meta.Tenant) {
		if e == nil {
			return // the sequencer will say so
		}
		name, resname := cell(fields, l.object), cell(fields, l.resname)
		if len(resname) == 0 {
			var twins bool
			if n, twins = e.Object(string(name)); n == nil || twins || c.open.len() > 0 || !r.inside(e, n) {
				return
			}
			if len(c.unnamed) == 0 {
				c.twins = e.Namesakes
			}
		} else {
			if r.last == nil || r.last.Name != string(resname) || r.last.Removed != 0 {
				if r.last = e.Resource(string(resname)); r.last == nil || !r.inside(e, r.last) {
					r.last = nil
					return
				}
			}
			if n = r.last.Object(string(name)); n == nil {
				return
			}
		}
		def, r.details = n.Class.Def, n.Details
		class := cell(fields, l.class)
		sure = def != nil && (len(class) == 0 || string(class) == n.Class.Name) && (!l.details || !l.differs(fields, n.Details))
	})
	return n, def, sure
}

// inside reports whether an item is in the scope of the sender.
func (r *reader) inside(e *meta.Tenant, n *meta.Node) bool {
	if !r.who.Limited() {
		return true
	}
	w := e.Visibility(r.who)
	return w.Has(n)
}

// differs reports whether the row has details that are not known yet.
func (l *layout) differs(fields [][]byte, d *belfry.Details) bool {
	if d == nil {
		d = &belfry.Details{}
	}
	other := func(at int, have string) bool {
		v := cell(fields, at)
		return len(v) > 0 && string(v) != have
	}
	if other(l.ip, d.IP) || other(l.host, d.Host) {
		return true
	}
	for i, at := range l.constants {
		if other(at, d.Constants[i]) {
			return true
		}
	}
	return false
}

// setDetails takes the details a row carries.
func (l *layout) setDetails(fields [][]byte, d *belfry.Details) {
	set := func(at int, to *string) {
		if v := cell(fields, at); len(v) > 0 {
			*to = string(v)
		}
	}
	set(l.ip, &d.IP)
	set(l.host, &d.Host)
	for i, at := range l.constants {
		set(at, &d.Constants[i])
	}
}

func (r *reader) checkDetails(fields [][]byte) *belfry.RowError {
	if !r.layout.details {
		return nil
	}
	if bad := checkText("host", cell(fields, r.layout.host)); bad != nil {
		return bad
	}
	for i, at := range r.layout.constants {
		if v := cell(fields, at); len(v) > maxText {
			if bad := checkText("object_"+strconv.Itoa(i+1), v); bad != nil {
				return bad
			}
		}
	}
	ip := cell(fields, r.layout.ip)
	if len(ip) == 0 {
		return nil
	}
	if _, err := netip.ParseAddr(string(ip)); err != nil {
		return belfry.Rejectf("ip", belfry.BadValue, "ip must be an IP address such as 192.0.2.7 or 2001:db8::7, got %q", belfry.Clip(ip))
	}
	return nil
}

// maxText is how long a detail of an object may be, here as in the package object: what rows describe is exported, and
// must be taken back.
const maxText = 65536

func checkText(column string, v []byte) *belfry.RowError {
	if len(v) <= maxText || utf8.RuneCount(v) <= maxText {
		return nil
	}
	return belfry.Rejectf(column, belfry.BadValue, "%s must be at most %d characters, got %q", column, maxText, belfry.Clip(v))
}

// setValues reads the indicators of a row as its class says. known is false when the class does not say yet what an
// indicator is, which is for the sequencer to settle.
func setValues(d *dataRows, slot int, l *layout, fields [][]byte, def *catalog.Class) (known bool, bad *belfry.RowError) {
	values := 0
	for i := range l.indicators {
		col := &l.indicators[i]
		raw := cell(fields, col.at)
		if len(raw) == 0 {
			continue
		}
		ind := def.Indicator(col.n)
		if noValue(raw, ind) {
			continue
		}
		if ind == nil {
			if def.Inferred {
				return false, nil
			}
			return false, noIndicator(col.n, def)
		}
		if bad := d.columns[i].set(slot, raw, ind, def); bad != nil {
			return false, bad
		}
		values++
	}
	if values == 0 {
		return false, noValues()
	}
	return true, nil
}

func (c *valueColumn) set(slot int, raw []byte, ind *catalog.Indicator, def *catalog.Class) *belfry.RowError {
	if ind.Text {
		c.setText(slot, string(raw))
		return nil
	}
	v, bad := readNumber(c.n, raw, def)
	if bad == nil {
		c.setNumber(slot, v)
	}
	return bad
}

// readNumber parses the value of a numeric indicator.
func readNumber(n int, raw []byte, def *catalog.Class) (float64, *belfry.RowError) {
	v, ok := rowfmt.ParseNumber(raw)
	if !ok {
		return 0, belfry.Rejectf(belfry.IndicatorColumn(n), belfry.BadValue, "indicator i%d of class %q takes a number, got %q", n, def.Name, belfry.Clip(raw))
	}
	if rowfmt.Rounded(raw, v) {
		return 0, beyondWhole(belfry.IndicatorColumn(n), raw, v)
	}
	return v, nil
}

func noIndicator(n int, def *catalog.Class) *belfry.RowError {
	return belfry.Rejectf(belfry.IndicatorColumn(n), belfry.BadValue, "class %q has no indicator i%d; leave the column empty for its objects", def.Name, n)
}

func noValues() *belfry.RowError {
	return belfry.Rejectf("i1", belfry.MissingValue, "the row has no indicator value; a data row needs at least one")
}

// beyondWhole is for a whole number that would be rounded.
func beyondWhole(column string, raw []byte, v float64) *belfry.RowError {
	return belfry.Rejectf(column, belfry.BadValue, "%s is %s, a whole number beyond 9007199254740992, of which not every digit can be kept (%.0f would be); "+
		"write it with a point if it may be rounded, or give the class a text indicator", column, belfry.Clip(raw), v)
}

// merge puts the rows refused while reading and by the sequencer into one list, in the order of the body.
func (r *rejections) merge(other rejections) {
	r.count += other.count
	r.list = append(r.list, other.list...)
	slices.SortStableFunc(r.list, func(a, b belfry.RowError) int { return a.Row - b.Row })
	r.list = r.list[:min(len(r.list), r.room())]
}

// undecided reports whether a value says nothing about the type of its indicator.
func undecided(raw []byte) bool {
	s := bytes.ToLower(bytes.TrimSpace(raw))
	s = bytes.TrimLeft(s, "+-")
	switch string(s) {
	case "", "nan", "inf", "infinity", "n/a":
		return true
	}
	return false
}
