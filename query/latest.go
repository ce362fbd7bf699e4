package query

import (
	"fmt"
	"iter"
	"slices"

	"belfry"
	"belfry/catalog"
)

// A query with groups that gives a number of rows and no span of time makes its groups of that many rows: the most recent
// ones that meet its conditions. HAVING, order and limit then apply to the groups as they always do.

// latest takes the number of rows to read from the parameter rows or, without it, from LIMIT.
func (k *checker) latest() {
	k.plan.Latest = k.Limit.N
	if k.options.Rows > 0 {
		k.plan.Latest = k.options.Rows
	}
	if k.plan.Latest == 0 { // LIMIT 0
		k.plan.Where = conjunction(k.plan.Where, Always(false))
	}
}

var (
	timeColumn = Column{Name: timestamp, Type: catalog.Time}
	idColumn   = Column{Name: "id", Type: catalog.ID}
)

// newestFirst is the order in which rows are recent.
func newestFirst() []Order { return []Order{{timeColumn, true}, {idColumn, true}} }

// Newest is the plan for the timestamps of the rows of which a plan with Latest makes its groups, the newest first. From
// it an engine learns how far back it has to read. It keeps Latest, which says that all its rows come in one answer.
func (p *Plan) Newest() *Plan {
	q := *p
	q.Outputs, q.Star = []Output{{Name: timestamp, Column: timeColumn}}, false
	q.Grouping, q.Having, q.Foremost = nil, nil, nil
	q.Order, q.Offset = newestFirst(), 0
	q.Limit = p.Latest - 1 // engines deliver one more
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

// latest keeps of the rows, which all match, those of which the groups are made.
func (e *Evaluator) latest(p *Plan, rows iter.Seq[Row]) (iter.Seq[Row], error) {
	fields := p.Grouping.read()
	q := &Plan{Order: newestFirst(), Limit: p.Latest - 1}
	for _, name := range fields {
		q.Outputs = append(q.Outputs, Output{Name: name, Column: Column{Name: name}})
	}
	t := &top{plan: q, most: p.Latest}
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
