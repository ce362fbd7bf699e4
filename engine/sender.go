package engine

import (
	"context"

	"belfry"
)

// Sender identifies who sends a request: the customer and scope, the hash of the API key or session, and the name of the key or
// user.
type Sender struct {
	belfry.Scope
	Key   string
	Name  string
	IsKey bool // Name is that of an API key
	// How the request came, for the audit trail, as in belfry.Actor.
	Via, Address, Request string
	// Wait runs f, which may wait long, and meanwhile frees the resources that the request holds. It returns the error of f, or
	// why the sender may not continue. Nil: the request holds nothing.
	Wait func(f func(context.Context) error) error
}

// Actor returns the sender as the audit trail names it.
func (w Sender) Actor() *belfry.Actor {
	return &belfry.Actor{Name: w.Name, Via: w.Via, Address: w.Address, Request: w.Request}
}

// Pause runs f, which may wait long, through Wait if there is one.
func (w Sender) Pause(ctx context.Context, f func(context.Context) error) error {
	if w.Wait == nil {
		return f(ctx)
	}
	return w.Wait(f)
}
