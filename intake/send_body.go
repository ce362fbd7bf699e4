package intake

import (
	"bytes"
	"cmp"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"belfry"
	"belfry/catalog"
	"belfry/intake/rowfmt"
	"belfry/meta"
)

// sendBody turns a body of data, log and createview rows into chunks.
type sendBody struct {
	rowReader
	layout     *layout // of CSV from the header, else what the objects so far have named; replaced, never changed
	indicators int     // the highest number
	tree       *meta.Tree
	who        belfry.Scope

	dataPool, undecidedPool *sync.Pool

	only     string                 // the type of all rows, which then need no column for it; empty: each row has its own
	times    [logRow + 1]timeBounds // by kind of row
	resource *meta.Node             // of the row before
	details  *belfry.Details        // of the object that find has found
}

func (in *Intake) newSendBody(who belfry.Scope, body io.Reader, o Options) (*sendBody, error) {
	lim := in.engine.Limits()
	b := &sendBody{tree: in.tree, who: who, indicators: lim.Indicators, dataPool: &in.dataPool, undecidedPool: &in.undecidedPool}
	if c := o.Collection; c != nil {
		b.only = map[string]string{belfry.ObjectData: "data", belfry.ObjectLog: "log"}[c.Name]
	}
	if o.Format != belfry.CSV {
		b.layout = newLayout()
		b.rowReader = newJSONReader(body, o.Format, lim, b.addColumn)
	} else {
		b.rowReader = newCSVReader(body, lim)
		header, err := b.header("type,object,i1")
		if err != nil {
			return nil, err
		}
		if b.layout, err = in.layouts.read(header, lim, b.only == ""); err != nil {
			return nil, err
		}
	}
	b.times = [...]timeBounds{dataRow: in.bounds(belfry.ObjectData, lim), logRow: in.bounds(belfry.ObjectLog, lim)}
	return b, nil
}

// addColumn adds a column that an object names first. Chunks that were read before keep the layout without it.
func (b *sendBody) addColumn(name string) error {
	more := b.layout.with(name, b.indicators)
	if more == nil {
		return noSendColumn{name, b.indicators}
	}
	b.layout = more
	return nil
}

func (b *sendBody) read(p readLimits) (*chunk, error) {
	c := &chunk{}
	room := b.dataPool.Get().(*dataRows)
	room.reshape(b.layout.indicators)
	c.data = *room
	if !p.whole() { // of a body read whole, the room may be huge
		c.undecided = *b.undecidedPool.Get().(*undecidedRows)
	}
	err := b.fill(c, p, b)
	c.layout = b.layout
	if cap(c.data.nodes) > 2*chunkRows { // of a body read whole: too expensive to copy or keep
		return c, err
	}
	*room = c.data
	c.data = room.moveOut()
	b.dataPool.Put(room)
	return c, err
}

// addRow adds a row to the ready ones if its object exists and takes its values, else to those that the sequencer decides.
func (b *sendBody) addRow(c *chunk, fields [][]byte, line int) *belfry.RowError {
	l := b.layout
	if len(c.data.columns) < len(l.indicators) { // an object has named a new one
		c.data.widen(l.indicators)
	}
	clearBlanks(fields, l.loose)
	kind, bad := b.kindOf(cell(fields, l.kind))
	if bad != nil {
		return bad
	}
	if bad := l.checkUnused(kind, fields); bad != nil {
		return bad
	}
	if kind == viewRow {
		c.undecided.add(b.row, line, viewRow, -1, fields)
		return nil
	}
	at, bad := b.times[kind].read(cell(fields, l.timestamp))
	if bad != nil {
		return bad
	}
	if bad := l.checkDetails(fields); bad != nil {
		return bad
	}
	if kind == logRow {
		return b.addLog(c, fields, at, line)
	}
	return b.addData(c, fields, at, line)
}

// kindOf reads the type of a row.
func (b *sendBody) kindOf(text []byte) (rowKind, *belfry.RowError) {
	kind, known := parseKind(string(text))
	if !known {
		plain := strings.ToLower(strings.TrimSpace(string(text)))
		if plain == "" && b.only == "" {
			return 0, belfry.Rejectf("type", belfry.MissingValue, "type is empty; it must be data, log or createview")
		}
		kind, known = parseKind(cmp.Or(plain, b.only))
	}
	switch {
	case b.only != "" && (!known || kindNames[kind] != b.only):
		return 0, belfry.Rejectf("type", belfry.BadValue, "type is %q in a body of %s rows; leave it empty, or send the row without collection", belfry.Clip(text), b.only)
	case !known:
		return 0, belfry.Rejectf("type", belfry.UnknownType, "type must be data, log or createview, got %q", belfry.Clip(text))
	}
	return kind, nil
}

// kindNames are the types of rows that clients send.
var kindNames = [...]string{dataRow: "data", logRow: "log", viewRow: "createview"}

func parseKind(name string) (kind rowKind, known bool) {
	switch name {
	case "data":
		return dataRow, true
	case "log":
		return logRow, true
	case "createview":
		return viewRow, true
	}
	return 0, false
}

// checkUnused refuses a row that fills a column which rows of its type do not have: whoever wrote it meant something that would not
// happen.
func (l *layout) checkUnused(kind rowKind, fields [][]byte) *belfry.RowError {
	clearBlanks(fields, l.unused[kind])
	for _, at := range l.unused[kind] {
		if len(cell(fields, at)) > 0 {
			name := l.names[at]
			return belfry.Rejectf(name, belfry.BadValue, "%s is %q, but a row of type %s has no %[1]s; leave the column empty, or send a row of another type", name, belfry.Clip(fields[at]), kindNames[kind])
		}
	}
	return nil
}

func (b *sendBody) addData(c *chunk, fields [][]byte, at belfry.Time, line int) *belfry.RowError {
	n, def, sure := b.find(c, fields)
	slot := c.data.add(nil, at, origin{int32(b.row), int32(line)})
	if b.layout.details {
		c.data.sources.note(slot, b.layout, fields, b.details)
	}
	if sure {
		known, bad := b.layout.readValues(fields, def, &c.data, slot)
		if bad != nil {
			return bad // the slot stays empty
		}
		if known {
			c.data.nodes[slot] = n
			b.noteUnqualified(c, fields, unqualified{slot: slot})
			return nil
		}
	}
	c.undecided.add(b.row, line, dataRow, slot, fields)
	return nil
}

func (b *sendBody) addLog(c *chunk, fields [][]byte, at belfry.Time, line int) *belfry.RowError {
	text := cell(fields, b.layout.log)
	if len(text) == 0 {
		return belfry.Rejectf("log", belfry.MissingValue, "log is empty; a log row needs a text")
	}
	n, def, sure := b.find(c, fields)
	if b.layout.details {
		c.logs.sources.note(len(c.logs.nodes), b.layout, fields, b.details)
	}
	if sure {
		slot := c.logs.add(n, at, origin{int32(b.row), int32(line)}, string(text), c.separator(def))
		b.noteUnqualified(c, fields, unqualified{log: true, slot: slot})
		return nil
	}
	slot := c.logs.add(nil, at, origin{int32(b.row), int32(line)}, string(text), "")
	c.undecided.add(b.row, line, logRow, slot, fields)
	return nil
}

// noteUnqualified remembers a row that names no resource: until the sequencer has it, another may make a second object of
// that name.
func (b *sendBody) noteUnqualified(c *chunk, fields [][]byte, u unqualified) {
	if len(cell(fields, b.layout.resname)) == 0 {
		c.unqualified = append(c.unqualified, u)
	}
}

// find looks for the object of a row. It is sure when the object exists, is the only one meant, and the row says
// nothing about it that differs from what is known; else the sequencer decides. That is so, too, when an open row
// before it may make another object of the name.
func (b *sendBody) find(c *chunk, fields [][]byte) (n *meta.Node, def *catalog.Class, sure bool) {
	l := b.layout
	b.details = nil
	b.tree.Read(b.who.Customer, func(e *meta.Tenant) {
		if e == nil {
			return // the sequencer will say so
		}
		name, resname := cell(fields, l.object), cell(fields, l.resname)
		if len(resname) == 0 {
			var twice bool
			if n, twice = e.Object(string(name)); n == nil || twice || c.undecided.len() > 0 || !b.inside(e, n) {
				return
			}
			if len(c.unqualified) == 0 {
				c.namesakes = e.Namesakes
			}
		} else {
			if b.resource == nil || b.resource.Name != string(resname) || b.resource.Removed != 0 {
				if b.resource = e.Resource(string(resname)); b.resource == nil || !b.inside(e, b.resource) {
					b.resource = nil
					return
				}
			}
			if n = b.resource.Object(string(name)); n == nil {
				return
			}
		}
		def, b.details = n.Class.Def, n.Details
		class := cell(fields, l.class)
		sure = def != nil && (len(class) == 0 || string(class) == n.Class.Name) && (!l.details || !l.differs(fields, n.Details))
	})
	return n, def, sure
}

// inside reports whether an item is in the scope of the sender.
func (b *sendBody) inside(e *meta.Tenant, n *meta.Node) bool {
	if !b.who.Limited() {
		return true
	}
	w := e.Visibility(b.who)
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

func (l *layout) checkDetails(fields [][]byte) *belfry.RowError {
	if !l.details {
		return nil
	}
	if bad := checkText("host", cell(fields, l.host)); bad != nil {
		return bad
	}
	for i, at := range l.constants {
		if v := cell(fields, at); len(v) > maxText {
			if bad := checkText("object_"+strconv.Itoa(i+1), v); bad != nil {
				return bad
			}
		}
	}
	ip := cell(fields, l.ip)
	if len(ip) == 0 {
		return nil
	}
	if _, err := netip.ParseAddr(string(ip)); err != nil {
		return belfry.Rejectf("ip", belfry.BadValue, "ip must be an IP address such as 192.0.2.7 or 2001:db8::7, got %q", belfry.Clip(ip))
	}
	return nil
}

// maxText is how long a detail of an object may be, here as in the package object: what rows describe is exported, and
// must be rolled back.
const maxText = 65536

func checkText(column string, v []byte) *belfry.RowError {
	if len(v) <= maxText || utf8.RuneCount(v) <= maxText {
		return nil
	}
	return belfry.Rejectf(column, belfry.BadValue, "%s must be at most %d characters, got %q", column, maxText, belfry.Clip(v))
}

// readValues reads the indicators of a row as its class says, into a slot of d. Known is false when an inferred class does not say
// yet what one of them is, which is for the sequencer to decide. It calls readValues without d first, to check the values before the
// row leaves any trace; cells that count as empty are empty from then on.
func (l *layout) readValues(fields [][]byte, def *catalog.Class, d *dataRows, slot int) (known bool, bad *belfry.RowError) {
	values := 0
	for i := range l.indicators {
		col := &l.indicators[i]
		raw := cell(fields, col.at)
		if len(raw) == 0 {
			continue
		}
		ind := def.Indicator(col.n)
		if noValue(raw, ind) {
			if d == nil {
				fields[col.at] = nil
			}
			continue
		}
		switch {
		case ind == nil && !def.Inferred:
			bad = noIndicator(col.n, def)
		case ind == nil && d != nil:
			return false, nil
		case ind == nil:
			bad = checkFirst(col.n, raw, def)
		case d != nil:
			bad = d.columns[i].set(slot, raw, ind, def)
		case !ind.Text:
			_, bad = readNumber(col.n, raw, def)
		}
		if bad != nil {
			return false, bad
		}
		values++
	}
	if values == 0 {
		return false, noValues()
	}
	return true, nil
}

// checkFirst checks the first value of an indicator of an inferred class, which decides its type.
func checkFirst(n int, raw []byte, def *catalog.Class) *belfry.RowError {
	column := belfry.IndicatorColumn(n)
	if typeUnknown(raw) {
		return belfry.Rejectf(column, belfry.BadValue, "indicator i%d of class %q has had no value yet, and %q does not show whether it is a number; leave the column empty until there is a value",
			n, def.Name, belfry.Clip(raw))
	}
	if v, number := rowfmt.ParseNumber(raw); number && rowfmt.Rounded(raw, v) {
		return inexactInteger(column, raw, v)
	}
	return nil
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
		return 0, inexactInteger(belfry.IndicatorColumn(n), raw, v)
	}
	return v, nil
}

func noIndicator(n int, def *catalog.Class) *belfry.RowError {
	return belfry.Rejectf(belfry.IndicatorColumn(n), belfry.BadValue, "class %q has no indicator i%d; leave the column empty for its objects", def.Name, n)
}

func noValues() *belfry.RowError {
	return belfry.Rejectf("i1", belfry.MissingValue, "the row has no indicator value; a data row needs at least one")
}

// inexactInteger is for a whole number that would be rounded.
func inexactInteger(column string, raw []byte, v float64) *belfry.RowError {
	return belfry.Rejectf(column, belfry.BadValue, "%s is %s, a whole number beyond 9007199254740992, of which not every digit can be kept (%.0f would be); "+
		"write it with a point if it may be rounded, or give the class a text indicator", column, belfry.Clip(raw), v)
}

// typeUnknown reports whether a value says nothing about the type of its indicator.
func typeUnknown(raw []byte) bool {
	s := bytes.ToLower(bytes.TrimSpace(raw))
	s = bytes.TrimLeft(s, "+-")
	switch string(s) {
	case "", "nan", "inf", "infinity", "n/a":
		return true
	}
	return false
}
