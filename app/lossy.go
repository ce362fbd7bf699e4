package app

import (
	"context"
	"time"

	"belfry"
	"belfry/folder"
	"belfry/query"
	"belfry/store"
)

// lossy queries the row store, but refuses times in which journal records were lost.
type lossy struct {
	*store.Mover
	lost []folder.Loss
}

// Select refuses a plan whose span touches a loss. A plan that reports missing days gets the days of the loss instead.
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
		if err := p.MissingRows(days(max(first, from).Std(), min(last, to).Std()), s.Span()); err != nil {
			return err
		}
	}
	return nil
}

// mostDays limits the listed days of a loss.
const mostDays = 400

// days lists the days in UTC from one time to another.
func days(from, to time.Time) (list []string) {
	for day := from.UTC().Truncate(24 * time.Hour); !day.After(to) && len(list) < mostDays; day = day.AddDate(0, 0, 1) {
		list = append(list, day.Format(time.DateOnly))
	}
	return list
}

// reportLosses begins the fault if a loss is not confirmed.
func (s *service) reportLosses() {
	open, message := s.OpenLosses()
	s.lost.Store(&open)
	if len(open) > 0 {
		s.faults.begin(folder.FaultLoss, false, message)
	}
}

// confirmFault ends a fault that an administrator has confirmed, and reports whether it was open.
func (s *service) confirmFault(id, by string) (open bool, err error) {
	open = s.faults.isOpen(id)
	switch id {
	case folder.FaultClock:
		return open, s.confirmClock(by)
	case folder.FaultLoss:
		if err := s.ConfirmLosses(); err != nil {
			return open, err
		}
		s.lost.Store(&[]folder.Loss{})
		if open {
			s.faults.report("the loss of records of the journal was confirmed by " + by)
			s.faults.end(folder.FaultLoss)
		}
		return open, nil
	}
	return false, unconfirmable(id)
}

func unconfirmable(id string) error {
	return belfry.Errorf(belfry.UnknownItem, "the fault %q cannot be confirmed; only %s and %s can, other faults end with their cause", id, folder.FaultLoss, folder.FaultClock)
}
