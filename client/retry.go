package client

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// retryTiming is the clock for retries, replaced in tests.
type retryTiming struct {
	now    func() time.Time
	wait   func(context.Context, time.Duration) error
	jitter func() float64 // from 0 to 1
}

func realTime() retryTiming {
	return retryTiming{now: time.Now, jitter: rand.Float64, wait: func(ctx context.Context, d time.Duration) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 15 * time.Second

	// notSoon is a Retry-After that means that waiting does not help, for example if a day cannot be read.
	notSoon = time.Hour
)

// pause returns the wait after a failed attempt. It doubles each time, is spread randomly so that clients do not return together,
// and is never shorter than the server's Retry-After.
func (p retryTiming) pause(attempt int, hint time.Duration) time.Duration {
	d := min(longestPause, firstPause<<min(attempt, 10))
	d = d/2 + time.Duration(p.jitter()*float64(d/2))
	if hint > 0 {
		d = hint + time.Duration(p.jitter()*float64(min(hint/4, time.Second)))
	}
	return d
}

// retryAfter parses the header Retry-After: seconds, or a date.
func retryAfter(res *http.Response, now time.Time) time.Duration {
	text := res.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(min(n, 3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), time.Hour))
	}
	return 0
}
