package ingest

import (
	"sync"
	"time"

	"belfry"
)

// pace keeps customers to their rows per second. A request is let in while its customer owes nothing, and pays for its
// rows as they come: so a body is never cut short in its middle, and over time the rate holds.
type pace struct {
	mu   sync.Mutex
	owes map[belfry.CustomerID]debt
}

// debt is what a customer has had beyond its rate; it falls with time.
type debt struct {
	rows float64
	at   time.Time
}

// burst is for how long a customer that was quiet may have its rate at once.
const burst = time.Second

// enter tells whether the customer may send now; rate is in rows per second, 0 for any number.
func (p *pace) enter(c belfry.CustomerID, rate int, now time.Time) error {
	if rate <= 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.owes[c].after(now, rate); left > float64(rate)*burst.Seconds() {
		return belfry.Errorf(belfry.RateLimited, "this customer may send %d rows per second and has sent more; send again in a moment", rate)
	}
	return nil
}

// pay counts rows that were taken in.
func (p *pace) pay(c belfry.CustomerID, rows, rate int, now time.Time) {
	if rate <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owes == nil {
		p.owes = map[belfry.CustomerID]debt{}
	}
	p.owes[c] = debt{rows: p.owes[c].after(now, rate) + float64(rows), at: now}
}

func (d debt) after(now time.Time, rate int) float64 {
	return max(0, d.rows-now.Sub(d.at).Seconds()*float64(rate))
}
