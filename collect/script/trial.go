package script

import (
	"context"
	"time"

	"belfry"
)

// BeginTrial limits each customer to one trial at a time. It waits for the customer's other trial, or fails if its scripts were
// slow lately.
func (s *Workers) BeginTrial(ctx context.Context, c belfry.CustomerID) (done func(), err error) {
	for {
		s.mu.Lock()
		before := s.trials[c]
		if before == nil {
			if s.trials == nil {
				s.trials = map[belfry.CustomerID]chan struct{}{}
			}
			mine := make(chan struct{})
			s.trials[c] = mine
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.trials, c)
				close(mine)
			}, nil
		}
		s.mu.Unlock()
		if wait, offends := s.penalty(c); offends {
			err := belfry.Errorf(belfry.RateLimited, "a script is being tried, and scripts of this customer took too long or had to be ended lately; try one at a time until a minute has passed without")
			err.Retry = int((wait + time.Second - 1) / time.Second)
			return nil, err
		}
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
