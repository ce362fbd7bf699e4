package api

import (
	"context"
	"io"
	"sync"
	"time"
)

// stopwatch is the context of a query: it ends when the client goes away, or when the query has worked for as long as
// one may. While the client takes rows the watch stands still: a long answer over a slow line is not a slow query.
type stopwatch struct {
	context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	timer *time.Timer
	since time.Time
	left  time.Duration
	over  bool
}

func newStopwatch(ctx context.Context, limit time.Duration) (*stopwatch, context.CancelFunc) {
	c := &stopwatch{left: limit, since: time.Now()}
	c.Context, c.cancel = context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.end)
	return c, func() {
		c.timer.Stop()
		c.cancel()
	}
}

func (c *stopwatch) end() {
	c.mu.Lock()
	c.over = c.Context.Err() == nil
	c.mu.Unlock()
	c.cancel()
}

// Err implements context.Context.
func (c *stopwatch) Err() error {
	err := c.Context.Err()
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return context.DeadlineExceeded
	}
	return err
}

// pause stops the watch. One that ran out at that moment stays so.
func (c *stopwatch) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

func (c *stopwatch) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.since = time.Now()
	c.timer.Reset(max(c.left, 0))
}

// outside writes to a client, in a time that is not the query's.
type outside struct {
	w       io.Writer
	clock   *stopwatch
	request *request // its place is lost while the client reads nothing
}

func (o outside) Write(b []byte) (n int, err error) {
	o.clock.pause()
	defer o.clock.resume()
	if o.request == nil {
		return o.w.Write(b)
	}
	if err := o.request.stillMay(); err != nil {
		return 0, err
	}
	if lost := o.request.place.Wait(func() { n, err = o.w.Write(b) }); lost != nil && err == nil {
		err = lost
	}
	return n, err
}
