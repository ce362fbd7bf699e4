package limit

import (
	"context"
	"sync"
	"time"
)

// Stopwatch is the context of a query: it ends when the client disconnects, or when the query has worked for as long as
// one may. It is paused while the client reads rows: a long answer over a slow line is not a slow query.
type Stopwatch struct {
	context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	timer *time.Timer
	since time.Time
	left  time.Duration
	over  bool
}

// NewStopwatch starts a stopwatch.
func NewStopwatch(ctx context.Context, limit time.Duration) (*Stopwatch, context.CancelFunc) {
	c := &Stopwatch{left: limit, since: time.Now()}
	c.Context, c.cancel = context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.end)
	return c, func() {
		c.timer.Stop()
		c.cancel()
	}
}

func (c *Stopwatch) end() {
	c.mu.Lock()
	c.over = c.Context.Err() == nil
	c.mu.Unlock()
	c.cancel()
}

// Err implements context.Context.
func (c *Stopwatch) Err() error {
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

// Pause stops the watch. One that has just run out stays so.
func (c *Stopwatch) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

// Resume lets the watch continue.
func (c *Stopwatch) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.since = time.Now()
	c.timer.Reset(max(c.left, 0))
}
