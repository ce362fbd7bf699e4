package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// part is a goroutine of the service that runs until it is ended.
type part struct {
	name string
	stop context.CancelFunc
	done chan error
}

// start runs a part. If it returns before its end was requested, an error is sent to failed, because the service needs it.
func start(name string, run func(context.Context) error, failed chan<- error) *part {
	ctx, stop := context.WithCancel(context.Background())
	p := &part{name: name, stop: stop, done: make(chan error, 1)}
	go func() {
		err := run(ctx)
		if ctx.Err() == nil && failed != nil {
			failed <- fmt.Errorf("%s ended: %w", name, err)
		}
		p.done <- err
	}()
	return p
}

// end stops the part and waits until it has stopped.
func (p *part) end() error {
	p.stop()
	if err := <-p.done; err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	return nil
}

// endWithin is end with a deadline, for a part that may hang.
func (p *part) endWithin(ctx context.Context) error {
	p.stop()
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", p.name, ctx.Err())
	}
}

// parts are in the order of their start.
type parts []*part

// start starts a part and adds it.
func (p *parts) start(name string, run func(context.Context) error, failed chan<- error) *part {
	started := start(name, run, failed)
	*p = append(*p, started)
	return started
}

// end ends the parts in reverse order.
func (p parts) end(ctx context.Context) error {
	var errs []error
	for _, part := range slices.Backward(p) {
		errs = append(errs, part.endWithin(ctx))
	}
	return errors.Join(errs...)
}

// endAndDrain ends a mover and then calls drain, both within limit.
func (p *part) endAndDrain(ctx context.Context, limit time.Duration, drain func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.endWithin(ctx); err != nil {
		return err
	}
	return within(ctx, func() error { return drain(ctx) })
}

// within runs f, which cannot be cancelled, but does not wait for it longer than ctx.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
