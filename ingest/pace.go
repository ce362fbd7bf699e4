package ingest

import (
	"sync"
	"time"

	"belfry"
)

// pace keeps customers to their rows per second. A request is let in while its customer owes nothing, and pays for its
// rows as they come. One that cannot pay is refused before anything of it is applied; a body that is under way is not cut
// short in its middle but waits. So over time the rate holds, however many bodies come at once.
type pace struct {
	burst time.Duration // for how long a customer that was quiet may have its rate at once
	mu    sync.Mutex
	owes  map[belfry.CustomerID]debt
}

// debt is what a customer has had beyond its rate; it falls with time.
type debt struct {
	rows float64
	at   time.Time
}

// enter tells whether the customer may send now; rate is in rows per second, 0 for any number.
func (p *pace) enter(c belfry.CustomerID, rate int, now time.Time) error {
	return tooFast(rate, p.take(c, 0, rate, now))
}

// tooFast refuses who would have to wait.
func tooFast(rate int, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	err := belfry.Errorf(belfry.RateLimited, "this customer may send %d rows per second and has sent more; send again in a moment", rate)
	err.Retry = int((wait + time.Second - 1) / time.Second)
	return err
}

// take books rows to a customer, or says how long it must wait before it may have any.
func (p *pace) take(c belfry.CustomerID, rows, rate int, now time.Time) (wait time.Duration) {
	if rate <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	owes := p.owes[c].after(now, rate)
	if over := owes - float64(rate)*p.burst.Seconds(); over > 0 {
		return max(1, time.Duration(over/float64(rate)*float64(time.Second)))
	}
	if p.owes == nil {
		p.owes = map[belfry.CustomerID]debt{}
	}
	p.owes[c] = debt{rows: owes + float64(rows), at: now}
	return 0
}

// giveBack takes rows off what a customer owes.
func (p *pace) giveBack(c belfry.CustomerID, rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d, ok := p.owes[c]; ok {
		d.rows = max(0, d.rows-float64(rows))
		p.owes[c] = d
	}
}

// after is what is left of a debt. A moment that seems to come yet is over, too: the clock was put right since.
func (d debt) after(now time.Time, rate int) float64 {
	return max(0, d.rows-now.Sub(d.at).Abs().Seconds()*float64(rate))
}
