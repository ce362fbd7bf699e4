package damage

import "time"

// Waits between attempts.
const (
	FirstRetry = 2 * time.Second
	lastRetry  = time.Minute
)

// Retry is the schedule for retrying a file that could not be read.
type Retry struct {
	Ready bool // it can be read again

	next time.Time
	wait time.Duration
}

// NewRetry returns a schedule that begins after a time.
func NewRetry(now time.Time, after time.Duration) *Retry {
	return &Retry{next: now.Add(after), wait: FirstRetry}
}

// Due reports whether the file is to be tried now.
func (r *Retry) Due(now time.Time) bool { return !r.Ready && !now.Before(r.next) }

// Again postpones the next attempt after one that failed.
func (r *Retry) Again(now time.Time) {
	r.Ready, r.wait = false, min(2*r.wait, lastRetry)
	r.next = now.Add(r.wait)
}
