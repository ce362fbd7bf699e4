package intake

import (
	"context"
	"errors"

	"belfry"
	"belfry/engine"
)

// A body that is under way when the service stops may continue for a while. Before the connections are closed its context ends, with ErrStopped
// as the cause: then no more of it is given to the sequencer, what the sequencer has is waited for, and the client learns what became of it.

// ErrStopped is engine.ErrStopping for a body of which nothing was stored, see withPart for the others.
var ErrStopped error = &partialError{shown: belfry.Errorf(belfry.Overloaded, "%s%s", engine.NothingStored, engine.ErrStopping.Message), cause: engine.ErrStopping}

// mustEnd says that the service has ended a request; nil: the service does not require it to end.
func mustEnd(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, engine.ErrStopping) {
		return err
	}
	return nil
}

// Stopped returns the error of a body that ended because the service stops: whatever was waited for when the context ended says something else.
func Stopped(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrStopping):
		return ErrStopped
	case mustEnd(ctx) != nil && (errors.Is(err, context.Canceled) || belfry.CodeOf(err) == belfry.Overloaded):
		return ErrStopped
	}
	return err
}
