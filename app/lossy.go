package app

import (
	"context"
	"time"

	"belfry"
	"belfry/query"
	"belfry/store"
)

// lossy answers from the row store, but for the times in which records of the journal were lost.
type lossy struct {
	*store.Mover
	lost []loss
}

// Select refuses a plan whose span touches a loss, or tells it which days are incomplete.
func (l lossy) Select(ctx context.Context, p *query.Plan) (query.Rows, error) {
	if err := l.check(p); err != nil {
		return nil, err
	}
	return l.Mover.Select(ctx, p)
}

// Explain does the same.
func (l lossy) Explain(ctx context.Context, p *query.Plan) ([]query.Line, error) {
	if err := l.check(p); err != nil {
		return nil, err
	}
	return l.Mover.Explain(ctx, p)
}

func (l lossy) check(p *query.Plan) error {
	from, to := p.From, p.To
	if p.Period != "" { // a summary is of the span in which it begins
		length := query.PeriodLength(p.Period)
		from -= from % length
		if to < query.Forever-length {
			to += length - 1
		}
	}
	for _, s := range l.lost {
		first, last := belfry.At(s.From), belfry.At(s.To)
		if from > last || to < first {
			continue
		}
		if err := p.MissingRows(days(max(first, from).Std(), min(last, to).Std()), s.span()); err != nil {
			return err
		}
	}
	return nil
}

// mostDays is how many days of a loss are listed.
const mostDays = 400

// days are the days in UTC from one moment to another.
func days(from, to time.Time) (list []string) {
	for day := from.UTC().Truncate(24 * time.Hour); !day.After(to) && len(list) < mostDays; day = day.AddDate(0, 0, 1) {
		list = append(list, day.Format(time.DateOnly))
	}
	return list
}
