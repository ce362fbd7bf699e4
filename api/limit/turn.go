package limit

import (
	"context"
	"runtime"

	"belfry"
)

// Turn takes a turn to compute, and reports whether it had to wait for one: the request may have lost its rights by then. Leave
// gives it back.
func (l *Limiter) Turn(ctx context.Context, c belfry.CustomerID) (waited bool, err error) {
	if l.Try(c, ProcessorShare()) {
		return false, nil
	}
	if !l.Enter(ctx, c, ProcessorShare()) {
		if err := context.Cause(ctx); err != nil {
			return true, err
		}
		return true, belfry.Errorf(belfry.Overloaded, "too many requests of this customer wait for a processor; try again shortly")
	}
	return true, nil
}

// ProcessorShare is how many processors the requests of a customer compute on at a time: the sequencer has one, other customers
// share the rest.
func ProcessorShare() int { return max(1, runtime.GOMAXPROCS(0)/2) }
