package query

import (
	"fmt"
	"iter"
	"slices"

	"belfry"
	"belfry/catalog"
)

// A query of a historical collection with a number of rows and without a time span reads that many rows: the most recent
// ones that meet its conditions. Groups, order and limit then apply to these as usual. In pages the number is the size of a
// page, so all rows are read.

// latest sets the number of rows to read, from the parameter rows or else from LIMIT. If the rows come newest first
// anyway, the limit is enough.
func (k *checker) latest() error {
	if !k.noSpan || k.options.Pages || k.plan.newestFirst() {
		return nil
	}
	k.plan.Latest = k.Limit.N
	if k.options.Rows > 0 {
		k.plan.Latest = k.options.Rows
	}
	if k.plan.Latest == 0 { // LIMIT 0
		k.plan.Where = conjunction(k.plan.Where, Always(false))
	}
	return nil
}

var (
	timeColumn = Column{Name: timestamp, Type: catalog.Time}
	idColumn   = Column{Name: "id", Type: catalog.ID}
)

// newestFirst returns the order from the most recent row on.
func newestFirst() []Order { return []Order{{timeColumn, true}, {idColumn, true}} }

func (p *Plan) newestFirst() bool { return p.Grouping == nil && slices.Equal(p.Order, newestFirst()) }

// Recent reports whether the most recent rows must be found before the plan can be answered. This is false for the plan
// that finds them.
func (p *Plan) Recent() bool { return p.Latest > 0 && !p.newestFirst() }

// Newest returns the plan for the timestamps and ids of the rows that a plan with Latest reads, newest first. An engine
// learns from it how far back it has to read. It keeps Latest, which means that all its rows come in one answer.
func (p *Plan) Newest() *Plan {
	q := *p
	q.Outputs, q.Star = []Output{{Name: timestamp, Column: timeColumn}, {Name: "id", Column: idColumn}}, false
	q.Grouping, q.Having, q.TopGroups = nil, nil, nil
	q.Order, q.Offset = newestFirst(), 0
	q.Limit = p.Latest - 1 // engines deliver one more
	return &q
}

// Among returns the plan that reads the rows found by Newest: they are not before the oldest of them, and their ids are
// at most newest. Rows stored later have greater ids.
func (p *Plan) Among(oldest Cursor, newest belfry.RowID) *Plan {
	q := *p
	q.Latest, q.From = 0, max(p.From, oldest.Time)
	id := func(op Op, id belfry.RowID) Pred {
		return Compare{idColumn, op, belfry.Value{Type: belfry.IDValue, Int: int64(id)}}
	}
	q.Where = conjunction(p.Where, id(LessEqual, newest), Or{
		Compare{timeColumn, Greater, belfry.Value{Type: belfry.TimeValue, Int: int64(oldest.Time)}},
		id(GreaterEqual, oldest.ID),
	})
	return &q
}

// latestOf selects the most recent rows.
func (w *writer) latestOf(rows string) string {
	return fmt.Sprintf("(SELECT * FROM %s\nORDER BY %s DESC, %s DESC\nLIMIT %d) AS q", rows, w.qualified("q", timestamp), w.qualified("q", "id"), w.plan.Latest)
}

func (p *Plan) explainLatest(line func(what, format string, args ...any)) {
	if p.Latest > 0 {
		line("reads", "the %d most recent rows that meet the conditions, as no time span is given", p.Latest)
	}
}

// latestRows answers a plan without groups. It keeps the order keys of the rows to read beside their outputs.
func (e *Evaluator) latestRows(p *Plan, rows iter.Seq[Row]) (Rows, error) {
	q := p.Marked()
	q.Order = newestFirst()
	t := newTop(q, p.Latest)
	for r := range e.matching(p, rows) {
		e.countWork(t.offer(r))
	}
	if e.err != nil {
		return nil, e.err
	}
	for i, k := range t.entries {
		t.entries[i].values, t.entries[i].keys = k.values[:len(p.Outputs)], k.values[len(p.Outputs):]
	}
	t.plan = p
	return t.rows(), nil
}

// latest returns the most recent of the rows, which all match, for grouping.
func (e *Evaluator) latest(p *Plan, rows iter.Seq[Row]) (iter.Seq[Row], error) {
	fields := p.Grouping.rowFields()
	q := &Plan{Order: newestFirst(), Limit: p.Latest - 1}
	for _, name := range fields {
		q.Outputs = append(q.Outputs, Output{Name: name, Column: Column{Name: name}})
	}
	t := &top{plan: q, limit: p.Latest}
	for r := range rows {
		e.countWork(t.offer(r))
		if e.err != nil {
			return nil, e.err
		}
		if t.bytes > maxGroupMemory {
			return nil, errGroupMemory
		}
	}
	return func(yield func(Row) bool) {
		for _, k := range t.entries {
			if !yield(fieldsRow{fields, k.values}) {
				return
			}
		}
	}, e.err
}

// rowFields lists the fields of rows that the groups need.
func (g *Grouping) rowFields() []string {
	fields := []string{timestamp, "id"} // for FIRST and LAST
	for i := range g.width() {
		if name := g.call(i).Column.field(); name != "" && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

// fieldsRow holds the values of some fields of a row.
type fieldsRow struct {
	fields []string
	values []belfry.Value
}

// Value implements Row.
func (r fieldsRow) Value(field string) belfry.Value {
	if i := slices.Index(r.fields, field); i >= 0 {
		return r.values[i]
	}
	return belfry.Value{}
}
