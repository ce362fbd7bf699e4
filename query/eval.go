package query

import (
	"cmp"
	"container/heap"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"belfry"
	"belfry/catalog"
)

// Row is one input row of Eval.
type Row interface {
	// Value returns a field by its canonical name. For an indicator iN it is a number or a text.
	Value(field string) belfry.Value
}

// Eval runs the plan over rows, which must all be of the plan's customer and collection. It reads each row while it is
// yielded and keeps no more of them than answer and offset need, so rows may be reused by the caller.
func (e *Evaluator) Eval(p *Plan, rows iter.Seq[Row]) (Rows, error) {
	rows = p.Within.mask(p.latestOfKey(rows))
	if p.Period != "" {
		rows = Summaries(p.Period, rows)
	}
	if p.Grouping != nil {
		return e.groups(p, rows)
	}
	if p.Latest > 0 {
		return e.latestRows(p, rows)
	}
	t := newTop(p, p.Offset+p.Limit+1)
	for r := range rows {
		if e.matches(p, r) {
			e.countWork(t.offer(r))
		}
		if e.err != nil {
			return nil, e.err
		}
	}
	return t.rows(), nil
}

// Matches reports whether the row meets the conditions of the plan.
func (p *Plan) Matches(r Row) bool {
	var e Evaluator
	return e.matches(p, r)
}

// inSpan reports whether the row is in the time span of the plan.
func (p *Plan) inSpan(r Row) bool {
	if !p.Collection.Historical {
		return true
	}
	t := belfry.Time(r.Value(timestamp).Int)
	return t >= p.From && t <= p.To
}

// value reads the column from a row. Values that a row cannot have, an empty text or NaN, are absent.
func (c Column) value(r Row) belfry.Value {
	var v belfry.Value
	switch c.From {
	case Grouped:
		return r.(groupRow).value(c)
	case Constant:
		return periodValue(r)
	default:
		v = r.Value(c.field())
	}
	isText := v.Type == belfry.TextValue
	switch {
	case isText && v.Text == "", v.Type == belfry.NumberValue && math.IsNaN(v.Num),
		c.From == NumberOf && isText, c.From == TextOf && !isText:
		return belfry.Value{}
	}
	return v
}

// field returns the field of a row that contains the column.
func (c Column) field() string {
	if c.From == TextOf {
		return belfry.IndicatorColumn(c.N)
	}
	return c.Name
}

func (c Column) isValue() bool { return c.Type == catalog.Value }

// compareValues orders two values that are present. Numbers come before texts.
func compareValues(a, b belfry.Value) int {
	switch {
	case a.Type == belfry.TextValue && b.Type == belfry.TextValue:
		return strings.Compare(a.Text, b.Text)
	case a.Type == belfry.TextValue:
		return 1
	case b.Type == belfry.TextValue:
		return -1
	case a.Type == belfry.NumberValue || b.Type == belfry.NumberValue:
		return cmp.Compare(asFloat(a), asFloat(b))
	case a.Type == belfry.IDValue:
		return cmp.Compare(uint64(a.Int), uint64(b.Int))
	}
	return cmp.Compare(a.Int, b.Int)
}

func asFloat(v belfry.Value) float64 {
	if v.Type == belfry.NumberValue {
		return v.Num
	}
	return float64(v.Int)
}

// top keeps the first rows in the order of the plan, in a heap with the last of them on top.
type top struct {
	plan    *Plan
	limit   int
	entries []topEntry
	keys    []belfry.Value // of the row being offered

	bytes int // approximate size of the entries

	numbered [][]Output // by output, the fields of a numbered family in SELECT *
}

func newTop(p *Plan, limit int) *top {
	t := &top{plan: p, limit: limit, numbered: make([][]Output, len(p.Outputs))}
	for i, out := range p.Outputs {
		if out.Every {
			t.numbered[i] = p.numbered(out)
		}
	}
	return t
}

// topEntry is a row that may be part of the answer.
type topEntry struct {
	keys   []belfry.Value
	values []belfry.Value   // by output
	every  [][]belfry.Value // by output, for numbered fields of SELECT *: the values from 1 on
}

// bytes returns the approximate memory of the row.
func (k topEntry) bytes() int {
	n := 100 + valueBytes(k.keys) + valueBytes(k.values)
	for _, list := range k.every {
		n += valueBytes(list)
	}
	return n
}

func valueBytes(list []belfry.Value) (n int) {
	for _, v := range list {
		n += 48 + len(v.Text)
	}
	return n
}

func (t *top) Len() int { return len(t.entries) }
func (t *top) Less(i, j int) bool {
	return t.plan.compareKeys(t.entries[i].keys, t.entries[j].keys) > 0
}
func (t *top) Swap(i, j int) { t.entries[i], t.entries[j] = t.entries[j], t.entries[i] }
func (t *top) Push(x any)    { t.entries = append(t.entries, x.(topEntry)) }
func (t *top) Pop() any      { panic("query: rows are replaced, never removed") }

// compareKeys orders rows by the columns of p.Order; absent values come last in both directions.
func (p *Plan) compareKeys(a, b []belfry.Value) int {
	for i, o := range p.Order {
		if c := o.compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

func (o Order) compare(a, b belfry.Value) int {
	noA, noB := a.Type == belfry.AbsentValue, b.Type == belfry.AbsentValue
	switch {
	case noA && noB:
		return 0
	case noA:
		return 1
	case noB:
		return -1
	}
	c := compareValues(a, b)
	if o.Desc {
		return -c
	}
	return c
}

// excludes reports whether a row with this first key cannot be kept, whatever its other keys are.
func (t *top) excludes(first belfry.Value) bool {
	return len(t.entries) == t.limit && t.plan.Order[0].compare(first, t.entries[0].keys[0]) > 0
}

// offer keeps the row if it is among the first. It returns how many values it has read.
func (t *top) offer(r Row) (work int) {
	t.keys = t.keys[:0]
	for _, o := range t.plan.Order {
		t.keys = append(t.keys, o.Column.value(r))
	}
	switch {
	case len(t.entries) < t.limit:
		k := t.read(r)
		t.bytes += k.bytes()
		heap.Push(t, k)
	case t.plan.compareKeys(t.keys, t.entries[0].keys) < 0:
		t.bytes -= t.entries[0].bytes()
		t.entries[0] = t.read(r)
		t.bytes += t.entries[0].bytes()
		heap.Fix(t, 0)
	default:
		return len(t.keys)
	}
	work = len(t.keys) + len(t.plan.Outputs)
	for _, list := range t.numbered {
		work += len(list)
	}
	return work
}

func (t *top) read(r Row) topEntry {
	outs := t.plan.Outputs
	k := topEntry{keys: slices.Clone(t.keys), values: make([]belfry.Value, len(outs))}
	for i, out := range outs {
		if !out.Every {
			k.values[i] = out.Column.value(r)
			continue
		}
		if k.every == nil {
			k.every = make([][]belfry.Value, len(outs))
		}
		for n, one := range t.numbered[i] {
			v := one.Column.value(r)
			if v.Type == belfry.AbsentValue {
				continue
			}
			for len(k.every[i]) <= n {
				k.every[i] = append(k.every[i], belfry.Value{})
			}
			k.every[i][n] = v
		}
	}
	return k
}

// rows sorts the entries and removes the offset and the rows beyond the limit.
func (t *top) rows() Rows {
	slices.SortFunc(t.entries, func(a, b topEntry) int { return t.plan.compareKeys(a.keys, b.keys) })
	n := len(t.entries)
	answer := t.entries[min(t.plan.Offset, n):min(t.plan.Offset+t.plan.Limit+1, n)]
	m := &memoryRows{}
	for i, out := range t.plan.Outputs {
		if !out.Every {
			m.add(answer, out, func(k topEntry) belfry.Value { return k.values[i] })
			continue
		}
		for n, one := range t.numbered[i] {
			nth := func(k topEntry) belfry.Value {
				if n < len(k.every[i]) {
					return k.every[i][n]
				}
				return belfry.Value{}
			}
			if slices.ContainsFunc(answer, func(k topEntry) bool { return nth(k).Type != belfry.AbsentValue }) {
				m.add(answer, one, nth)
			}
		}
	}
	return m
}

// memoryRows is an answer in memory.
type memoryRows struct {
	columns []Output
	data    [][]belfry.Value
	next    int
}

// add appends a column.
func (m *memoryRows) add(answer []topEntry, out Output, value func(topEntry) belfry.Value) {
	if m.data == nil {
		m.data = make([][]belfry.Value, len(answer))
	}
	m.columns = append(m.columns, out)
	for i, k := range answer {
		m.data[i] = append(m.data[i], value(k))
	}
}

func (m *memoryRows) Columns() []Output { return m.columns }

func (m *memoryRows) Next() ([]belfry.Value, error) {
	if m.next == len(m.data) {
		return nil, io.EOF
	}
	m.next++
	return m.data[m.next-1], nil
}

func (m *memoryRows) Close() error { return nil }
