package intake

import (
	"cmp"
	"math"
	"slices"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// chunk is a part of a body, read and checked outside of the sequencer where possible.
//
// A row about an object that exists, with values its class takes, is ready: it is in data or logs with its object.
// Any other row keeps its slot there, without an object, and is added to undecided for the sequencer to decide: it may create
// the object, or be refused because of another request in between.
type chunk struct {
	rows          int // read so far, wrong ones included
	layout        *layout
	data          dataRows
	logs          logRows
	undecided     undecidedRows
	collected     *collectionRows // of a body for another collection, which has no data and logs
	unqualified   []unqualified   // ready rows that name no resource: their object was found by its name alone
	namesakes     int             // of the customer when the first of them was found
	rejected      rejections
	report        belfry.Report // what the sequencer says
	more          bool          // rows are left for another turn
	rowsBefore    int           // rows of the body before the chunk
	discardedRows []int32       // their numbers in the body

	tabs    bool                      // log lines are separated by tabs, whatever their class says
	created func(int, belfry.Created) // called with what an open row has created; may be nil
	// discarded is called with the numbers of discarded rows; may be nil.
	discarded func(int)
	by        []*belfry.Actor // who sent each row, when not all are of one sender
}

// separator is what separates the columns of a log line of a class.
func (c *chunk) separator(class *catalog.Class) string {
	if c.tabs {
		return "\t"
	}
	return class.Log.Separator
}

// memory is about what the chunk holds, without texts: these are no longer than the body.
func (c *chunk) memory() int {
	row := 24
	for i := range c.data.columns {
		if row += 8; c.data.columns[i].texts != nil {
			row += 16
		}
	}
	if c.collected != nil {
		return c.collected.memory()
	}
	return c.undecided.memory() + row*len(c.data.nodes) + 56*len(c.logs.nodes) + c.data.sources.memory() + c.logs.sources.memory()
}

// takeFirst takes the first data rows and the first log lines out of the chunk.
func (c *chunk) takeFirst(rows, lines int) (dataRows, logRows) {
	left := c.unqualified[:0]
	for _, u := range c.unqualified {
		if u.log {
			u.slot -= lines
		} else {
			u.slot -= rows
		}
		if u.slot >= 0 {
			left = append(left, u)
		}
	}
	c.unqualified = left
	c.undecided.shift(rows, lines)
	return c.data.takeFirst(rows), c.logs.takeFirst(lines)
}

// unqualified is the place, in data or logs, of a row that names no resource.
type unqualified struct {
	log  bool
	slot int
}

type rowKind uint8

const (
	dataRow rowKind = iota
	logRow
	viewRow
	noResponseRow
)

// origin remembers where a row came from, for the report.
type origin struct{ row, line int32 }

// dataRows are indicator values by column.
type dataRows struct {
	nodes   []*meta.Node  // nil: open, or refused
	times   []belfry.Time // 0: arrival
	origins []origin
	columns []valueColumn // as the header has them
	sources sources
}

// valueColumn holds one indicator. Texts is nil until a text appears.
type valueColumn struct {
	n       int
	numbers []float64
	texts   []string
	present bool // numbers has a value
}

func (d *dataRows) add(n *meta.Node, at belfry.Time, o origin) int {
	d.nodes, d.times, d.origins = append(d.nodes, n), append(d.times, at), append(d.origins, o)
	for i := range d.columns {
		c := &d.columns[i]
		c.numbers = append(c.numbers, math.NaN())
		if c.texts != nil {
			c.texts = append(c.texts, "")
		}
	}
	return len(d.nodes) - 1
}

// expect allocates for rows.
func (d *dataRows) expect(rows int) {
	d.nodes, d.times, d.origins = slices.Grow(d.nodes, rows), slices.Grow(d.times, rows), slices.Grow(d.origins, rows)
	for i := range d.columns {
		d.columns[i].numbers = slices.Grow(d.columns[i].numbers, rows)
	}
}

// moveOut returns the rows in slices of just their size and leaves d empty, with all its room, for the next ones. Rows
// wait in memory until they are stored, so slices that are half full would double what waits.
func (d *dataRows) moveOut() dataRows {
	out := dataRows{
		nodes: slices.Clone(d.nodes), times: slices.Clone(d.times), origins: slices.Clone(d.origins),
		columns: make([]valueColumn, len(d.columns)), sources: d.sources.moveOut(),
	}
	for i := range d.columns {
		c := &d.columns[i]
		out.columns[i] = valueColumn{n: c.n, present: c.present, texts: c.texts, numbers: slices.Clone(c.numbers)}
	}
	d.empty()
	return out
}

// takeFirst returns the first rows, and leaves the others in d.
func (d *dataRows) takeFirst(rows int) dataRows {
	if rows == len(d.nodes) {
		first := *d
		*d = dataRows{}
		return first
	}
	first := dataRows{nodes: d.nodes[:rows:rows], times: d.times[:rows:rows], origins: d.origins[:rows:rows], columns: slices.Clone(d.columns), sources: d.sources.takeFirst(rows)}
	d.nodes, d.times, d.origins = d.nodes[rows:], d.times[rows:], d.origins[rows:]
	for i := range d.columns {
		c := &d.columns[i]
		first.columns[i].numbers, c.numbers = c.numbers[:rows:rows], c.numbers[rows:]
		if c.texts != nil {
			first.columns[i].texts, c.texts = c.texts[:rows:rows], c.texts[rows:]
		}
	}
	return first
}

// empty forgets the rows but keeps the room.
func (d *dataRows) empty() {
	clear(d.nodes) // they must not be kept alive from here
	d.nodes, d.times, d.origins, d.sources = d.nodes[:0], d.times[:0], d.origins[:0], sources{}
	for i := range d.columns {
		c := &d.columns[i]
		*c = valueColumn{n: c.n, numbers: c.numbers[:0]}
	}
}

// reshape makes d fit the indicators of another body.
func (d *dataRows) reshape(indicators []indicatorColumn) {
	for len(d.columns) < len(indicators) {
		d.columns = append(d.columns, valueColumn{})
	}
	d.columns = d.columns[:len(indicators)]
	for i, ind := range indicators {
		d.columns[i].n = ind.n
	}
	d.empty()
}

// widen returns d the columns that indicators has more; the rows so far have no value in them.
func (d *dataRows) widen(indicators []indicatorColumn) {
	for i := len(d.columns); i < len(indicators); i++ {
		if i < cap(d.columns) {
			d.columns = d.columns[:i+1] // with the room of an earlier body
		} else {
			d.columns = append(d.columns, valueColumn{})
		}
		c := &d.columns[i]
		*c = valueColumn{n: indicators[i].n, numbers: c.numbers[:0]}
		for range d.nodes {
			c.numbers = append(c.numbers, math.NaN())
		}
	}
}

func (c *valueColumn) setNumber(row int, v float64) {
	c.numbers[row] = v
	c.present = true
}

func (c *valueColumn) setText(row int, v string) {
	if c.texts == nil {
		c.texts = make([]string, len(c.numbers), cap(c.numbers))
	}
	c.texts[row] = v
}

// batch returns the rows that have an object, without indicators that have no value in them; nil when there are none. Rows without
// their own time get that of arrival.
func (d *dataRows) batch(arrival belfry.Time) *belfry.Batch {
	keep, items := keepers(d.nodes)
	if len(items) == 0 {
		return nil
	}
	b := &belfry.Batch{Collection: belfry.ObjectData, Times: times(d.times, keep, arrival)}
	b.Columns = append(make([]belfry.Column, 0, 1+len(d.columns)), belfry.Column{Name: belfry.ItemColumn, Ints: items})
	for i := range d.columns {
		c := &d.columns[i]
		if c.present {
			numbers := compact(c.numbers, keep)
			if slices.ContainsFunc(numbers, func(v float64) bool { return !math.IsNaN(v) }) {
				b.Columns = append(b.Columns, belfry.Column{Name: belfry.IndicatorColumn(c.n), Numbers: numbers})
			}
		}
		if c.texts != nil {
			texts := compact(c.texts, keep)
			if slices.ContainsFunc(texts, func(v string) bool { return v != "" }) {
				b.Columns = append(b.Columns, belfry.Column{Name: belfry.IndicatorTextColumn(c.n), Texts: texts})
			}
		}
	}
	b.Columns = append(b.Columns, d.sources.columns(keep, len(d.nodes))...)
	return b
}

// logRows are log lines.
type logRows struct {
	nodes   []*meta.Node
	times   []belfry.Time
	origins []origin
	text    []string
	sep     []string // the separator of the object's class
	sources sources
}

func (l *logRows) add(n *meta.Node, at belfry.Time, o origin, text, sep string) int {
	l.nodes, l.times, l.origins = append(l.nodes, n), append(l.times, at), append(l.origins, o)
	l.text, l.sep = append(l.text, text), append(l.sep, sep)
	return len(l.nodes) - 1
}

// takeFirst returns the first lines, and leaves the others in l.
func (l *logRows) takeFirst(lines int) logRows {
	n := lines
	first := logRows{nodes: l.nodes[:n:n], times: l.times[:n:n], origins: l.origins[:n:n], text: l.text[:n:n], sep: l.sep[:n:n], sources: l.sources.takeFirst(n)}
	*l = logRows{nodes: l.nodes[n:], times: l.times[n:], origins: l.origins[n:], text: l.text[n:], sep: l.sep[n:], sources: l.sources}
	return first
}

func (l *logRows) batch(arrival belfry.Time) *belfry.Batch {
	keep, items := keepers(l.nodes)
	if len(items) == 0 {
		return nil
	}
	columns := []belfry.Column{
		{Name: belfry.ItemColumn, Ints: items},
		{Name: "log", Texts: compact(l.text, keep)},
		{Name: "sep", Texts: compact(l.sep, keep)},
	}
	columns = append(columns, l.sources.columns(keep, len(l.nodes))...)
	return &belfry.Batch{Collection: belfry.ObjectLog, Times: times(l.times, keep, arrival), Columns: columns}
}

// keepers lists the places of rows that have an object, nil meaning all of them, and the objects' ids.
func keepers(nodes []*meta.Node) (keep []int, items []int64) {
	items = make([]int64, 0, len(nodes))
	for _, n := range nodes {
		if n != nil {
			items = append(items, int64(n.ID))
		}
	}
	if len(items) == len(nodes) {
		return nil, items
	}
	keep = make([]int, 0, len(items))
	for i, n := range nodes {
		if n != nil {
			keep = append(keep, i)
		}
	}
	return keep, items
}

func compact[T any](all []T, keep []int) []T {
	if keep == nil {
		return all
	}
	some := make([]T, len(keep))
	for i, at := range keep {
		some[i] = all[at]
	}
	return some
}

func times(given []belfry.Time, keep []int, arrival belfry.Time) []belfry.Time {
	out := compact(given, keep)
	for i, t := range out {
		if t == 0 {
			out[i] = arrival
		}
	}
	return out
}

// rejections counts refused rows and keeps the first of them.
type rejections struct {
	count int
	list  []belfry.RowError
	most  int // how many are kept; 0: as many as a report lists
}

// full reports whether further rows are only counted.
func (r *rejections) full() bool { return len(r.list) >= r.room() }

func (r *rejections) room() int { return cmp.Or(r.most, belfry.MaxReported) }

func (r *rejections) add(row, line int, e *belfry.RowError) {
	r.count++
	if !r.full() {
		e.Row, e.Line = row, line
		r.list = append(r.list, *e)
	}
}

// merge puts the rows refused while reading and by the sequencer into one list, in the order of the body.
func (r *rejections) merge(other rejections) {
	r.count += other.count
	r.list = append(r.list, other.list...)
	slices.SortStableFunc(r.list, func(a, b belfry.RowError) int { return a.Row - b.Row })
	r.list = r.list[:min(len(r.list), r.room())]
}
