package store

import (
	"time"

	"belfry"
	"belfry/query"
)

// Loss is a time of which rows may be missing, both ends included: records of the journal were lost before their rows
// were moved.
type Loss struct {
	From, To time.Time
	Text     string // the time as errors give it
}

// SetLosses replaces the losses that are reported to queries.
func (m *Mover) SetLosses(list []Loss) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.losses = list
}

// checkLosses refuses a plan whose span touches a loss, or adds the incomplete days to it.
func (m *Mover) checkLosses(p *query.Plan) error {
	m.mu.Lock()
	losses := m.losses
	m.mu.Unlock()
	from, to := p.From, p.To
	if p.Period != "" { // a summary is of the span in which it begins
		length := query.PeriodLength(p.Period)
		from -= from % length
		if to < query.Forever-length {
			to += length - 1
		}
	}
	for _, l := range losses {
		first, last := belfry.At(l.From), belfry.At(l.To)
		if from > last || to < first {
			continue
		}
		if err := p.MissingRows(days(max(first, from).Std(), min(last, to).Std()), l.Text); err != nil {
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
