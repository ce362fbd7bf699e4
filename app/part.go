package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// part runs beside the others until it is ended.
type part struct {
	name string
	stop context.CancelFunc
	done chan error
}

// start runs a part. If it ends by itself, that is sent to failed: the service cannot go on without it.
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

// behind runs a part at a lower priority than what serves requests.
func behind(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		atLowPriority(func() { err = run(ctx) })
		return err
	}
}

// end stops the part and waits until it has stopped.
func (p *part) end() error {
	p.stop()
	if err := <-p.done; err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	return nil
}

// endWithin is end for a part that may hang; then it is left behind.
func (p *part) endWithin(ctx context.Context) error {
	p.stop()
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", p.name, ctx.Err())
	}
}

// parts are parts in the order of their start.
type parts []*part

// start starts a part and adds it.
func (p *parts) start(name string, run func(context.Context) error, failed chan<- error) *part {
	started := start(name, run, failed)
	*p = append(*p, started)
	return started
}

// end ends the parts one after the other, the last one first.
func (p parts) end(ctx context.Context) error {
	var errs []error
	for _, part := range slices.Backward(p) {
		errs = append(errs, part.endWithin(ctx))
	}
	return errors.Join(errs...)
}

// endAndDrain ends a mover and then moves what is left; it is left behind when that takes longer than most.
func (p *part) endAndDrain(ctx context.Context, most time.Duration, drain func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if err := p.endWithin(ctx); err != nil {
		return err
	}
	return within(ctx, func() error { return drain(ctx) })
}

// within runs f, which cannot be cancelled, and leaves it behind when ctx ends first.
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
