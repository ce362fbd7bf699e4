package query

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry"
	"belfry/catalog"
)

// Options are the parameters of a query beside its text.
type Options struct {
	Customer belfry.CustomerID
	Views    []string // sub-trees the query is limited to; none: the whole customer
	Now      belfry.Time
	Location *time.Location // of times without a zone and of rounding to days; nil is UTC
	Rows     int            // number of rows wanted; 0 if not given
	Filter   string         // Lucene query that rows must match in addition to WHERE, the parameter fq; empty if not given
	From, To belfry.Time    // span given as parameters, both ends inclusive; 0 if not given

	// Pages is set if the answer is read in pages of Rows rows. A span without an end then ends at Now.
	Pages bool
}

// ParseRows reads the parameter rows.
func ParseRows(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxRows {
		return 0, belfry.Errorf(belfry.BadParameter, "rows must be a number from 1 to %d, got %q", MaxRows, shorten(text))
	}
	return n, nil
}

// Check resolves the names of a query against the catalog, converts its values to their types and applies the rules
// about spans, order and limits. Its result needs no further checking.
func Check(s *Select, c *catalog.Catalog, o Options) (*Plan, error) {
	if o.Customer == 0 {
		return nil, errors.New("check query: a plan needs a customer")
	}
	if o.Rows < 0 || o.Rows > MaxRows {
		return nil, belfry.Errorf(belfry.BadParameter, "rows must be a number from 1 to %d, got %d", MaxRows, o.Rows)
	}
	col := c.Collection(s.From.Text)
	if col == nil {
		var names []string
		for _, known := range c.Collections() {
			names = append(names, known.Name)
		}
		return nil, badQuery(s.text, int(s.From.Pos), "there is no collection %s%s; known are %s", shorten(s.From.String()),
			didYouMean(s.From.Text, names), strings.Join(names, ", "))
	}
	k := &checker{
		Select: s, clock: newClock(o), options: o,
		plan: &Plan{Customer: o.Customer, Collection: col, To: Forever, Offset: s.Offset.N},
	}
	for _, step := range []func() error{k.asOf, k.outputs, k.where, k.period, k.span, k.having, k.scope, k.order, k.latest, k.limit} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return k.plan, nil
}

// checker builds the plan of one query.
type checker struct {
	*Select
	clock   clock
	options Options
	plan    *Plan
	matches int            // number of word searches so far
	source  string         // name of the text, if it is not the query itself
	byAs    map[string]int // items by their names after AS, case-folded; built by itemNamed

	groups    bool // conditions are on groups: those of HAVING
	periodPos Pos  // position of the condition on period
	noSpan    bool // a number of rows is given, but no span
}

func (k *checker) errorf(pos Pos, format string, args ...any) error {
	return badQueryIn(k.source, k.text, int(pos), format, args...)
}

func (k *checker) note(text string) {
	if !slices.Contains(k.plan.Notes, text) {
		k.plan.Notes = append(k.plan.Notes, text)
	}
}

// column resolves the name of a field.
func (k *checker) column(n Name) (Column, error) {
	ref, ok := k.plan.Collection.Field(n.Text)
	if !ok {
		hint := ""
		if k.source != "" {
			hint = `; a colon that is part of a term is written \:`
		}
		return Column{}, k.errorf(n.Pos, "the collection %s has no field %s%s; it has %s%s", k.plan.Collection.Name,
			shorten(n.String()), didYouMean(n.Text, k.plan.Collection.Names()), k.plan.Collection.Known(), hint)
	}
	return columnOf(k.plan.Collection, ref.Field, ref.N, ref.Canonical), nil
}

// columnOf returns the column of a field; n is its number in a numbered family.
func columnOf(c *catalog.Collection, f catalog.Field, n int, name string) Column {
	col := Column{Name: name, Type: f.Type, N: n}
	switch {
	case f.Own:
		col.From, col.Of = RowOrItem, f.Of
	case f.Of != "":
		col.From, col.Of = FromItem, f.Of
	case f.Split != "":
		col.From, col.Of = FromSplit, f.Split
	case f.Name == "period" && c.Name == "objectdata":
		col.From = Constant
	case n > 0 && f.Type == catalog.Text && name == belfry.IndicatorTextColumn(n):
		col.From = TextOf
	}
	return col
}

func (k *checker) outputs() error {
	if k.grouped() {
		if err := k.keys(); err != nil {
			return err
		}
	}
	if k.Star {
		k.plan.Star, k.plan.Outputs = true, starOutputs(k.plan.Collection)
		return nil
	}
	seen := map[string]bool{}
	for _, item := range k.Items {
		out := Output{Name: k.label(item)}
		var err error
		if k.plan.Grouping != nil {
			out.Column, err = k.groupColumn(item.Term)
		} else {
			out.Column, err = k.column(item.Field)
		}
		if err != nil {
			return err
		}
		if seen[out.Name] {
			return k.errorf(item.pos(), "%s is selected twice under the same name; give one of them another with AS", shorten(out.Name))
		}
		seen[out.Name] = true
		k.plan.Outputs = append(k.plan.Outputs, out)
	}
	return nil
}

// starOutputs returns the outputs of SELECT *: all fields, except parts of a text that is itself among them.
func starOutputs(c *catalog.Collection) []Output {
	var outs []Output
	for _, f := range c.Fields {
		if f.Split != "" {
			continue
		}
		outs = append(outs, Output{Name: f.Name, Column: columnOf(c, f, 0, f.Name), Every: f.Numbered > 0})
		if f.Numbered > 0 {
			outs[len(outs)-1].Name = familyName(f)
		}
	}
	return outs
}

func (k *checker) where() (err error) {
	if k.Where != nil {
		p, err := k.pred(k.Where)
		if err != nil {
			return err
		}
		k.plan.Where = conjunction(p)
	}
	filter, err := k.filter()
	k.plan.Where = conjunction(k.plan.Where, filter)
	return err
}

// pred converts a written condition into one on columns.
func (k *checker) pred(e Expr) (Pred, error) {
	switch e := e.(type) {
	case *AndExpr:
		of, err := k.preds(e.Of)
		if err != nil {
			return nil, err
		}
		return allOf(of...), nil
	case *OrExpr:
		of, err := k.preds(e.Of)
		return disjunction(of), err
	case *NotExpr:
		p, err := k.pred(e.Of)
		if a, ok := p.(Always); ok {
			return !a, err
		}
		return Not{p}, err
	case *CompareExpr:
		return k.compare(e.Term, e.Op, e.Value)
	case *NullExpr:
		return k.null(e)
	case *InExpr:
		return k.in(e)
	case *LikeExpr:
		return k.like(e.Term, e.Not, e.Pattern)
	case *LuceneExpr:
		return k.lucene(e)
	}
	return k.between(e.(*BetweenExpr))
}

func (k *checker) preds(es []Expr) ([]Pred, error) {
	of := make([]Pred, len(es))
	for i, e := range es {
		var err error
		if of[i], err = k.pred(e); err != nil {
			return nil, err
		}
	}
	return of, nil
}

func (k *checker) null(e *NullExpr) (Pred, error) {
	col, err := k.operand(e.Term)
	switch {
	case err != nil:
		return nil, err
	case col.From == Constant:
		return Always(e.Not), nil
	case col.Type != catalog.Value:
		return Null{col, e.Not}, nil
	}
	number, text := parts(col)
	if e.Not {
		return Or{Null{number, true}, Null{text, true}}, nil
	}
	return And{Null{number, false}, Null{text, false}}, nil
}

// in tests equality with one of the values. NOT IN is a comparison too, and so false for an absent value.
func (k *checker) in(e *InExpr) (Pred, error) {
	op := Equal
	if e.Not {
		op = NotEqual
	}
	of := make([]Pred, len(e.Values))
	for i, v := range e.Values {
		var err error
		if of[i], err = k.compare(e.Term, op, v); err != nil {
			return nil, err
		}
	}
	if e.Not {
		return allOf(of...), nil
	}
	return disjunction(of), nil
}

func (k *checker) between(e *BetweenExpr) (Pred, error) {
	lowOp, highOp := GreaterEqual, LessEqual
	if e.Not {
		lowOp, highOp = Less, Greater
	}
	low, err := k.compare(e.Term, lowOp, e.Low)
	if err != nil {
		return nil, err
	}
	high, err := k.compare(e.Term, highOp, e.High)
	if err != nil {
		return nil, err
	}
	if e.Not {
		return disjunction([]Pred{low, high}), nil
	}
	return allOf(low, high), nil
}
