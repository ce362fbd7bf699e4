package slots

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Await runs f in a goroutine and returns its result, or when ctx ends before: the engine checks for interrupts every few
// thousand rows only. A panic of f ends the caller, and so only its request.
func Await[T any](ctx context.Context, f func() (T, error)) (result T, err error) {
	fault := ""
	done := make(chan struct{})
	var got T
	var failed error
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				fault = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}()
		got, failed = f()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return result, ctx.Err()
	}
	if fault != "" {
		panic(fault)
	}
	return got, failed
}
