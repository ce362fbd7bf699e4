package query

import (
	"iter"

	"belfry"
)

// Evaluator runs plans over rows, in the goroutine of its caller. A query may have thousands of conditions, so even one
// row can take long: Pause is called after a bounded amount of work, also in the middle of a row. The caller can let
// others run there; an error from Pause ends the evaluation and becomes its result. Pause may be nil.
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

// countWork adds to the work and calls Pause when due. It reports whether the evaluation continues.
func (e *Evaluator) countWork(work int) bool {
	if e.work += work; e.work < pauseAfter {
		return e.err == nil
	}
	e.work = 0
	if e.err == nil && e.Pause != nil {
		e.err = e.Pause()
	}
	return e.err == nil
}

// matches reports whether the row meets the conditions of the plan. After an error it is false.
func (e *Evaluator) matches(p *Plan, r Row) bool {
	if !e.countWork(1) || !p.inSpan(r) {
		return false
	}
	matches := p.Where == nil || e.holds(p.Where, r)
	return matches && e.err == nil
}

// matching iterates over the rows that meet the conditions of the plan. It stops at an error.
func (e *Evaluator) matching(p *Plan, rows iter.Seq[Row]) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for r := range rows {
			if matches := e.matches(p, r); e.err != nil || matches && !yield(r) {
				return
			}
		}
	}
}

// holds reports whether a condition is true of a row. After an error the result is meaningless.
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
		e.countWork(1)
		v := p.Column.value(r)
		return v.Type != belfry.AbsentValue && p.Op.Holds(compareValues(v, p.Value))
	case Like:
		v := p.Column.value(r)
		e.countWork(1 + len(v.Text)/textPerWork)
		return v.Type == belfry.TextValue && matchPattern(p.Pattern, v.Text)
	case Match:
		v := p.Column.value(r)
		e.countWork(1 + len(v.Text)/textPerWork)
		return v.Type == belfry.TextValue && p.Matches(v.Text)
	case Null:
		e.countWork(1)
		return (p.Column.value(r).Type == belfry.AbsentValue) != p.Not
	case Inside:
		e.countWork(1)
		return p.holds(r)
	}
	return bool(p.(Always))
}

// textPerWork is how many bytes of a text are searched in about the time of one condition.
const textPerWork = 64

// holds reports whether a condition is true of a row.
func holds(p Pred, r Row) bool {
	var e Evaluator
	return e.holds(p, r)
}
