package query

import (
	"fmt"
	"iter"
	"slices"

	"belfry"
	"belfry/catalog"
)

// A query of the past that gives a number of rows and no span of time reads that many rows: the most recent ones that
// meet its conditions. Groups, order and limit then apply to these as they always do. In pages the number is how many rows a
// page has, so all rows are read.

// latest takes the number of rows to read from the parameter rows or, without it, from LIMIT. Where the rows come newest
// first anyhow, the limit says it all.
func (k *checker) latest() error {
	if !k.spanless || k.options.Pages || k.plan.newestFirst() {
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

// newestFirst is the order in which rows are recent.
func newestFirst() []Order { return []Order{{timeColumn, true}, {idColumn, true}} }

func (p *Plan) newestFirst() bool { return p.Grouping == nil && slices.Equal(p.Order, newestFirst()) }

// Recent tells whether the most recent rows have to be found before the plan can be answered. The plan that finds them does
// not need that.
func (p *Plan) Recent() bool { return p.Latest > 0 && !p.newestFirst() }

// Newest is the plan for the places of the rows that a plan with Latest reads, timestamp and id, the newest first. From it an
// engine learns how far back it has to read. It keeps Latest, which says that all its rows come in one answer.
func (p *Plan) Newest() *Plan {
	q := *p
	q.Outputs, q.Star = []Output{{Name: timestamp, Column: timeColumn}, {Name: "id", Column: idColumn}}, false
	q.Grouping, q.Having, q.TopGroups = nil, nil, nil
	q.Order, q.Offset = newestFirst(), 0
	q.Limit = p.Latest - 1 // engines deliver one more
	return &q
}

// Among is a plan with Latest that finds the rows to read by their places: they are not before the oldest of them, and
// their ids go up to newest. Rows that were stored later have greater ids.
func (p *Plan) Among(oldest Place, newest belfry.RowID) *Plan {
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

// latestOf writes which of the rows are read.
func (w *writer) latestOf(rows string) string {
	return fmt.Sprintf("(SELECT * FROM %s\nORDER BY %s DESC, %s DESC\nLIMIT %d) AS q", rows, w.of("q", timestamp), w.of("q", "id"), w.plan.Latest)
}

func (p *Plan) explainLatest(line func(what, format string, args ...any)) {
	if p.Latest > 0 {
		line("reads", "the %d most recent rows that meet the conditions, as no time span is given", p.Latest)
	}
}

// latestRows is the answer to a plan without groups. Of the rows to read it keeps what they are ordered by beside the outputs.
func (e *Evaluator) latestRows(p *Plan, rows iter.Seq[Row]) (Rows, error) {
	q := p.Marked()
	q.Order = newestFirst()
	t := newTop(q, p.Latest)
	for r := range e.matching(p, rows) {
		e.spend(t.offer(r))
	}
	if e.err != nil {
		return nil, e.err
	}
	for i, k := range t.kept {
		t.kept[i].values, t.kept[i].keys = k.values[:len(p.Outputs)], k.values[len(p.Outputs):]
	}
	t.plan = p
	return t.rows(), nil
}

// latest keeps of the rows, which all match, those of which the groups are made.
func (e *Evaluator) latest(p *Plan, rows iter.Seq[Row]) (iter.Seq[Row], error) {
	fields := p.Grouping.read()
	q := &Plan{Order: newestFirst(), Limit: p.Latest - 1}
	for _, name := range fields {
		q.Outputs = append(q.Outputs, Output{Name: name, Column: Column{Name: name}})
	}
	t := &top{plan: q, limit: p.Latest}
	for r := range rows {
		e.spend(t.offer(r))
		if e.err != nil {
			return nil, e.err
		}
		if t.bytes > maxGroupMemory {
			return nil, errGroupMemory
		}
	}
	return func(yield func(Row) bool) {
		for _, k := range t.kept {
			if !yield(keptRow{fields, k.values}) {
				return
			}
		}
	}, e.err
}

// read lists the fields of rows that the groups are made of.
func (g *Grouping) read() []string {
	fields := []string{timestamp, "id"} // by which FIRST and LAST go
	for i := range g.width() {
		if name := g.call(i).Column.field(); name != "" && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

// keptRow is what is kept of a row: the values of some fields.
type keptRow struct {
	fields []string
	values []belfry.Value
}

// Value implements Row.
func (r keptRow) Value(field string) belfry.Value {
	if i := slices.Index(r.fields, field); i >= 0 {
		return r.values[i]
	}
	return belfry.Value{}
}
