package api

import (
	"context"
	"runtime"

	"belfry"
)

// compute runs f, which takes a processor for a while: it decodes or checks a body, plans a query, or hashes a password. The
// requests of a customer do that on as many processors as processorShare at a time, so that others find one; more of them
// wait in the order of arrival, and their rights are looked up again afterwards. f must neither wait for the client, the
// sequencer or an engine, nor call compute: a request that waits for a second turn while it has one may wait for itself.
func compute[T any](r *request, f func() (T, error)) (result T, err error) {
	turns := &r.server.computing
	if err := turns.begin(r.ctx(), r.customer, r.stillMay); err != nil {
		return result, err
	}
	defer turns.leave(r.customer)
	return f()
}

// begin waits for a turn to compute. Whoever had to wait is asked afterwards whether it is still valid.
func (l *limiter) begin(ctx context.Context, c belfry.CustomerID, valid func() error) error {
	if l.try(c, processorShare()) {
		return nil
	}
	if !l.enter(ctx, c, processorShare()) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return belfry.Errorf(belfry.Overloaded, "too many requests of this customer wait for a processor; try again shortly")
	}
	err := valid()
	if err != nil {
		l.leave(c)
	}
	return err
}

// processorShare is how many processors the requests of a customer compute on at a time: the sequencer has one, others share the
// rest.
func processorShare() int { return max(1, runtime.GOMAXPROCS(0)/2) }
