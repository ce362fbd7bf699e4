package intake

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"belfry"
)

// pace keeps customers to their rows per second. A request is let in while its customer owes nothing, and pays for its
// rows as they come. One that cannot pay is refused before anything of it is applied; a body that is under way is not cut
// short in its middle but waits. So over time the rate holds, however many bodies come at once.
type pace struct {
	burst  time.Duration // for how long a customer that was quiet may have its rate at once
	mu     sync.Mutex
	rows   map[belfry.CustomerID]*rate.Limiter
	scanAt int // how many of rows there may be before those of quiet customers are removed
}

// firstScan is the smallest value of scanAt.
const firstScan = 64

// enter reports whether the customer may send now; perSecond is its rate, 0 for any number.
func (p *pace) enter(c belfry.CustomerID, perSecond int, now time.Time) error {
	return tooFast(perSecond, p.reserve(c, 0, perSecond, now))
}

// tooFast refuses who would have to wait.
func tooFast(perSecond int, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	err := belfry.Errorf(belfry.RateLimited, "this customer may send %d rows per second and has sent more; send again in a moment", perSecond)
	err.Retry = int((wait + time.Second - 1) / time.Second)
	return err
}

// reserve counts rows against the rate of a customer, or returns how long the customer must wait.
func (p *pace) reserve(c belfry.CustomerID, rows, perSecond int, now time.Time) (wait time.Duration) {
	if perSecond <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	burst := int(float64(perSecond) * p.burst.Seconds())
	l := p.rows[c]
	if l == nil {
		if p.rows == nil {
			p.rows = map[belfry.CustomerID]*rate.Limiter{}
		}
		p.removeQuiet(now)
		l = rate.NewLimiter(rate.Limit(perSecond), burst)
		p.rows[c] = l
	}
	l.SetLimitAt(now, rate.Limit(perSecond)) // it may have changed, and so may the clock
	l.SetBurstAt(now, burst)
	if owes := -l.TokensAt(now); owes > 0 {
		return max(1, time.Duration(owes/float64(perSecond)*float64(time.Second)))
	}
	charge(l, rows, now)
	return 0
}

// removeQuiet removes customers that may use their whole burst, as those without an entry may, when many have been added since the
// last time. So customers that send no more, or are removed, take no memory. The mutex is held.
func (p *pace) removeQuiet(now time.Time) {
	if len(p.rows) < max(p.scanAt, firstScan) {
		return
	}
	maps.DeleteFunc(p.rows, func(_ belfry.CustomerID, l *rate.Limiter) bool { return l.TokensAt(now) >= float64(l.Burst()) })
	p.scanAt = 2 * len(p.rows)
}

// refund takes rows off what a customer owes.
func (p *pace) refund(c belfry.CustomerID, rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.rows[c]; l != nil {
		charge(l, -rows, time.Now())
	}
}

// charge takes rows from a limiter, however many: the rows of a body are charged whole and become a debt. A limiter reserves no
// more than its burst at once, so that is raised until the next reserve.
func charge(l *rate.Limiter, rows int, now time.Time) {
	if rows > l.Burst() {
		l.SetBurstAt(now, rows)
	}
	l.ReserveN(now, rows)
}
