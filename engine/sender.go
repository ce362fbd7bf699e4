package engine

import (
	"context"

	"belfry"
)

// Sender is who sends: the customer and what of it the sender may touch, the hash of the key that was shown, and the name of the key, or of the user whose
// session was.
type Sender struct {
	belfry.Scope
	Key   string
	Name  string
	IsKey bool // it is a key, and Name is that of the key
	// Wait runs f, which may wait for long, without what the request holds that others need. It gives the error of f, or says why
	// the sender may not go on. Nil for one that holds nothing and always may.
	Wait func(f func(context.Context) error) error
}

// Pause runs f, which may wait for long, before a turn is given to the sequencer.
func (w Sender) Pause(ctx context.Context, f func(context.Context) error) error {
	if w.Wait == nil {
		return f(ctx)
	}
	return w.Wait(f)
}
