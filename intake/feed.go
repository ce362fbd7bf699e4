package intake

import (
	"context"
	"errors"
	"net/http"

	"belfry"
	"belfry/engine"
	"belfry/intake/rowfmt"
	"belfry/meta"
)

// Feed stores rows of a collector, or those that a script made of one message, within a scope.
// All of them are stored, or none if one is wrong, which is a belfry.Refused. In a dry run nothing is stored.
func (in *Intake) Feed(ctx context.Context, scope belfry.Scope, rows []*belfry.Row, dryRun bool) error {
	for _, row := range rows {
		in.mayRound(scope.Customer, row)
	}
	if len(rows) > 1 || dryRun {
		return in.feedWhole(ctx, scope, rows, dryRun)
	}
	for _, row := range rows { // one by itself shares a round with others
		g, n, err := in.sendWithin(ctx, scope, row)
		if err != nil {
			return err
		}
		code, _, err := in.outcome(g, n)
		if err == nil && code != http.StatusOK {
			err = g.refused(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mayRound writes whole numbers that would be rounded with a point, so that they are. Devices count in 64 bits and cannot send a counter in another form. A
// text keeps its digits.
func (in *Intake) mayRound(c belfry.CustomerID, row *belfry.Row) {
	for i := range row.Indicators {
		cell := &row.Indicators[i]
		if v, ok := rowfmt.ParseNumber([]byte(cell.Text)); ok && rowfmt.Rounded([]byte(cell.Text), v) && !in.isText(c, row, cell.N) {
			cell.Text = string(rowfmt.TrimBlanks([]byte(cell.Text))) + ".0"
		}
	}
}

// isText reports whether an indicator of the object of a row is known to be a text.
func (in *Intake) isText(c belfry.CustomerID, row *belfry.Row, n int) (text bool) {
	in.tree.Read(c, func(e *meta.Tenant) {
		if e == nil {
			return
		}
		object, _ := e.Object(row.Object)
		if r := e.Resource(row.Resource); r != nil {
			object = r.Object(row.Object)
		}
		class := e.Class(row.Class)
		if object != nil {
			class = object.Class
		}
		if class != nil && class.Def != nil {
			ind := class.Def.Indicator(n)
			text = ind != nil && ind.Text
		}
	})
	return text
}

// feedWhole decides rows in one record, and rolls it back if one of them is refused.
func (in *Intake) feedWhole(ctx context.Context, scope belfry.Scope, rows []*belfry.Row, dryRun bool) error {
	c := scope.Customer
	if err := in.admitRows(ctx, c, len(rows)); err != nil {
		return err
	}
	g := in.gatherWithin(scope, rows)
	err := in.engine.Do(&engine.Command{Customer: c, Views: scope.Views, Rows: g.chunk.cost(), Alone: true, Decide: func(t *engine.Tx) error {
		t.Turn().LimitEvents(engine.WholeEvents)
		g.chunk.layout = g.layout
		g.sendBody.decide(decision{t, in}, g.chunk)
		switch {
		case g.chunk.more:
			return tooMuch()
		case dryRun || g.chunk.rejected.count > 0:
			return engine.ErrRolledBack
		}
		return nil
	}})
	if !errors.Is(err, engine.ErrRolledBack) {
		in.countChunk(c, g.chunk, err)
		return err
	}
	in.counters.addTried(g.chunk)
	for n := range rows {
		if err := g.refused(n + 1); err != nil {
			return err
		}
	}
	return nil
}

// gatherWithin makes a chunk of rows that no others join.
func (in *Intake) gatherWithin(scope belfry.Scope, rows []*belfry.Row) *gathering {
	in.singles.mu.Lock()
	defer in.singles.mu.Unlock()
	g := in.newGathering(scope.Customer)
	g.who = scope
	for _, row := range rows {
		g.add(row)
	}
	return g
}

// refused says why a row was refused; nil if it was not.
func (g *gathering) refused(row int) error {
	for _, e := range g.chunk.rejected.list {
		if e.Row == row {
			return belfry.Refused{RowError: e}
		}
	}
	return nil
}
