package query

import (
	"iter"

	"belfry"
)

// Evaluator runs plans over rows, in the goroutine of its caller. A query may have thousands of conditions, so that even
// one row can take long: Pause is called after a bounded amount of work, also in the middle of a row. There the caller
// can let others run; an error ends the evaluation and becomes its result. Pause may be nil.
type Evaluator struct {
	Pause func() error

	work int // since the last pause
	err  error
}

// pauseAfter is the work between two pauses, in conditions tested or values read. It takes about 0.1 ms.
const pauseAfter = 1024

// Eval runs the plan over rows, see Evaluator.Eval.
func Eval(p *Plan, rows iter.Seq[Row]) (Rows, error) {
	var e Evaluator
	return e.Eval(p, rows)
}

// spend counts work. It tells whether the evaluation goes on.
func (e *Evaluator) spend(work int) bool {
	if e.work += work; e.work < pauseAfter {
		return e.err == nil
	}
	e.work = 0
	if e.err == nil && e.Pause != nil {
		e.err = e.Pause()
	}
	return e.err == nil
}

// matches tells whether the row is one that the plan asks for. After an error none is.
func (e *Evaluator) matches(p *Plan, r Row) bool {
	if !e.spend(1) || !p.inSpan(r) {
		return false
	}
	matches := p.Where == nil || e.holds(p.Where, r)
	return matches && e.err == nil
}

// matching gives the rows that the plan asks for. It ends at an error.
func (e *Evaluator) matching(p *Plan, rows iter.Seq[Row]) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for r := range rows {
			if matches := e.matches(p, r); e.err != nil || matches && !yield(r) {
				return
			}
		}
	}
}

// holds tells whether a condition is true of a row. After an error its answer means nothing.
func (e *Evaluator) holds(p Pred, r Row) bool {
	switch p := p.(type) {
	case And:
		for _, c := range p {
			if !e.holds(c, r) || e.err != nil {
				return false
			}
		}
		return true
	case Or:
		for _, c := range p {
			if e.holds(c, r) || e.err != nil {
				return true
			}
		}
		return false
	case Not:
		return !e.holds(p.Of, r)
	case Compare:
		e.spend(1)
		v := p.Column.of(r)
		return v.Type != belfry.AbsentValue && p.Op.holds(compareValues(v, p.Value))
	case Like:
		v := p.Column.of(r)
		e.spend(1 + len(v.Text)/textPerWork)
		return v.Type == belfry.TextValue && matchPattern(p.Pattern, v.Text)
	case Match:
		v := p.Column.of(r)
		e.spend(1 + len(v.Text)/textPerWork)
		return v.Type == belfry.TextValue && p.Matches(v.Text)
	case Null:
		e.spend(1)
		return (p.Column.of(r).Type == belfry.AbsentValue) != p.Not
	case Inside:
		e.spend(1)
		return p.holds(r)
	}
	return bool(p.(Always))
}

// textPerWork is how many bytes of a text are searched in about the time of one condition.
const textPerWork = 64

// holds tells whether a condition is true of a row.
func holds(p Pred, r Row) bool {
	var e Evaluator
	return e.holds(p, r)
}
